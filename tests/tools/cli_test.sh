#!/usr/bin/env bash
# The command on bad input: a clear error, exit 1 (2 for wrong usage), and no output file left behind.
set -uo pipefail
retuple=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
suite=/usr/share/libonnx-testdata/data
model=$suite/pytorch-operator/test_operator_conv/model.onnx
failed=0

# expect STATUS PATTERN command…: exit status, and a pattern in what it says
expect() {
  local status=$1 pattern=$2 rc=0
  shift 2
  timeout 60 "$@" >"$work/log" 2>&1 || rc=$?
  if [ "$rc" -ne "$status" ] || ! grep -qE -- "$pattern" "$work/log"; then
    echo "FAILED ($rc, wanted $status and \"$pattern\"): $*"
    head -c 600 "$work/log"
    failed=1
  fi
}

expect 2 "usage: retuple COMMAND" "$retuple"
expect 0 "optimize" "$retuple" --help
expect 2 "unknown command" "$retuple" frobnicate
for c in optimize run compare etuplize reify normalize check complete explain conformance query repl; do expect 0 "usage: retuple $c" "$retuple" "$c" --help; done
expect 2 "has no option --foo" "$retuple" run "$model" --foo
expect 2 "needs -o" "$retuple" optimize "$model"
expect 2 "needs a value" "$retuple" run "$model" --repeat
expect 2 "takes an integer" "$retuple" run "$model" --repeat none
expect 2 "exclude each other" "$retuple" optimize "$model" -o "$work/o" --strict --fast-math

expect 1 "cannot open" "$retuple" optimize "$work/none.onnx" -o "$work/out.onnx"
head -c 100 "$model" >"$work/cut.onnx"
expect 1 "not a valid protobuf" "$retuple" optimize "$work/cut.onnx" -o "$work/out.onnx"
expect 1 "cannot write" "$retuple" optimize "$model" -o "$work/no/such/out.onnx"
expect 1 "has no input" "$retuple" run "$model" --input nothing=1
printf 'garbage' >"$work/x.npy"
expect 1 "npy file" "$retuple" run "$model" --input "0=$work/x.npy"
expect 1 "cannot open" "$retuple" run "$model" --input "0=$work/y.npy"
expect 1 "i64" "$retuple" run "$model" --input "0=3"

expect 1 "2:1: unbalanced|never closed" "$retuple" normalize --free '(f
'
expect 1 "not a number" "$retuple" normalize --free '(f 1x)'
printf '(rewrite r (Relu ?x) ?y)\n' >"$work/unbound.rules"
expect 1 "unbound.rules:1:1: rule r: variable .y" "$retuple" check "$work/unbound.rules"
printf '(rewrite r (Rleu ?x) ?x)\n' >"$work/unknown.rules"
expect 1 "unknown operator Rleu" "$retuple" optimize "$model" -o "$work/out.onnx" --rules "$work/unknown.rules"
printf '(rewrite wrong (Relu ?x) (Neg ?x))\n' >"$work/wrong.rules"
expect 1 "rule wrong: the sides differ" "$retuple" check "$work/wrong.rules"
expect 1 "FAILED|differ" "$retuple" optimize "$suite/node/test_relu/model.onnx" -o "$work/out.onnx" --rules "$work/wrong.rules" --verify
printf '(rewrite a (f ?x) (g ?x))\n(rewrite b (g ?x) (f ?x))\n' >"$work/loop.rules"
expect 1 "stopped by cycle.*a b" "$retuple" normalize --free --rules "$work/loop.rules" '(f 1)'
printf '(rewrite grow (f ?x) (f (s ?x)))\n' >"$work/grow.rules"
expect 1 "stopped by fuel.*grow" "$retuple" normalize --free --fuel 1000 --rules "$work/grow.rules" '(f 1)'
expect 1 "stopped by cycle" "$retuple" normalize --free --rules "$work/loop.rules" --strategy '(innermost any)' '(f 1)'
expect 1 "there is no strategy nope" "$retuple" normalize --free --rules "$work/loop.rules" --strategy nope '(f 1)'
expect 1 "the strategy fails" "$retuple" normalize --free --rules "$work/loop.rules" --strategy '(rule b)' '(f 1)'
expect 1 "never closed" "$retuple" normalize --free --rules "$work/loop.rules" --strategy '(rule b' '(f 1)'
expect 1 "termination: not shown" "$retuple" check --free "$work/loop.rules"
printf '(rewrite a (f (g ?x)) b)\n(rewrite c (g ?x) (h ?x))\n' >"$work/fork.rules"
expect 1 "becomes b" "$retuple" check --free "$work/fork.rules"
expect 0 "10 rules by i > . > e" "$retuple" complete "$(dirname "$0")/../../examples/completion/groups.eq"
printf '(equation (+ ?x ?y) (+ ?y ?x))\n' >"$work/comm.eq"
expect 1 "comm.eq: not complete: .* cannot be oriented" "$retuple" complete "$work/comm.eq"
printf '(equation (f ?x) ?x)\n  (equate 1 2)\n' >"$work/form.eq"
expect 1 "form.eq:2:3: a file of equations" "$retuple" complete "$work/form.eq"
printf '(equation (f ..?x) e)\n' >"$work/rest.eq"
expect 1 "first-order" "$retuple" complete "$work/rest.eq"
expect 1 "cannot open" "$retuple" complete "$work/none.eq"
python3 -c "n = 100000; print('(equation', '(f ' * n + '?x' + ')' * n, '?x)')" >"$work/deep.eq"
expect 1 "too large to look for all overlaps" "$retuple" complete "$work/deep.eq"
expect 1 "there is no rule" "$retuple" explain --rule nothing "$model"
expect 0 "pattern wants|no match|it applies" "$retuple" explain --rule conv-zero-bias "$model"
head -c 1000000 /dev/zero | tr '\0' '(' >"$work/deep.etuple"
expect 1 "never closed" "$retuple" reify "$work/deep.etuple" -o "$work/out.onnx"
printf '(graph "g" :ir 8 :opsets (("" 17)) :inputs () :outputs (("y" (Relu (Relu 3)))))' >"$work/bad.etuple"
expect 1 "no value of the IR" "$retuple" reify "$work/bad.etuple" -o "$work/out.onnx"
expect 1 "holds no test|no test|not found|NotFound" "$retuple" conformance "$work"
expect 1 "different|called|inputs and" "$retuple" compare "$suite/node/test_relu/model.onnx" "$model"

if [ -e "$work/out.onnx" ] || ls "$work"/*.tmp.* >/dev/null 2>&1; then
  echo "FAILED: an output file was left behind"
  failed=1
fi
[ $failed -eq 0 ] && echo "all as expected"
exit $failed
