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
echo ok
