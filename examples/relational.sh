#!/usr/bin/env bash
# The relational examples give what they say.   examples/relational.sh RETUPLE
set -euo pipefail
retuple=$1
here=$(cd "$(dirname "$0")" && pwd)/relational
expect() {
  local got
  got=$("$retuple" query "$here/$1")
  if [ "$got" != "$2" ]; then
    printf '%s gave\n%s\nnot\n%s\n' "$1" "$got" "$2" >&2
    exit 1
  fi
}
expect family.mk $'Abe\n(Abe Homer)\n(Homer Lisa)\nb\nc\na'
expect rules_backwards.mk $'(Mul (Mul 2 a) (Log (Exp b)))\n(Mul (Add a a) b)\n(Add a a)\n(Log (Exp (Mul 2 a)))'
expect quine.mk '((lambda (?_0) (list ?_0 (list (quote quote) ?_0))) (quote (lambda (?_0) (list ?_0 (list (quote quote) ?_0))))) :where (=/= ?_0 closure) (=/= ?_0 list) (=/= ?_0 quote) (symbolo ?_0)'
solved='((5 3 4 6 7 8 9 1 2) (6 7 2 1 9 5 3 4 8) (1 9 8 3 4 2 5 6 7) (8 5 9 7 6 1 4 2 3) (4 2 6 8 5 3 7 9 1) (7 1 3 9 2 4 8 5 6) (9 6 1 5 3 7 2 8 4) (2 8 7 4 1 9 6 3 5) (3 4 5 2 8 6 1 7 9))'
expect sudoku.mk "$solved"$'\n'"$solved"$'\n'"$solved"$'\n''((9 3 8 2 5 6 4 1 7) (2 1 4 3 7 9 8 6 5) (5 7 6 8 1 4 3 2 9) (4 5 2 1 3 7 9 8 6) (1 6 7 5 9 8 2 4 3) (8 9 3 4 6 2 5 7 1) (3 2 1 7 4 5 6 9 8) (7 8 9 6 2 3 1 5 4) (6 4 5 9 8 1 7 3 2))'
expect synthesis.mk '(car l)'
expect arithmetic.mk $'7\n(1 4)\n(2 3)\n(1 1 1 1)\n((1) (0 1 1))\n((0 1 1) (1))\n((0 1) (1 1))\n((1 1) (0 1))'
expect types.mk $'(-> (-> ?_0 ?_0) (-> ?_0 ?_0))\n(lambda (?_0) (lambda (?_1) ?_0)) :where (=/= ?_0 ?_1) (=/= ?_0 lambda) (symbolo ?_0) (symbolo ?_1)'
echo ok
