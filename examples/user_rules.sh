#!/usr/bin/env bash
# Rules from a text file for operators of one's own domain, on a term and on a model file.
set -euo pipefail
retuple=$1 here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
x='(input "x" f32 (1 3 8 8))' y='(input "y" f32 (1 3 8 8))'
m() { echo "((acme::Mirror :axis 2) $1)"; }

[ "$("$retuple" normalize --rules "$here/user.rules" "$(m "$(m "$x")")")" = "$x" ]
[ "$("$retuple" normalize --rules "$here/user.rules" "(acme::Blend $(m "$y") $(m "$x"))")" = "$(m "(acme::Blend $y $x)")" ]

cat >"$work/model.etuple" <<TEXT
(graph "mirrors" :ir 8 :opsets (("" 15) ("acme" 1)) :inputs ($x $y)
  :outputs (("z" (acme::Blend $(m "$(m "(Identity $x)")") $(m "$(m "$y")")) f32 (1 3 8 8))))
TEXT
"$retuple" reify "$work/model.etuple" -o "$work/model.onnx"
"$retuple" optimize "$work/model.onnx" -o "$work/out.onnx" --rules "$here/user.rules" --stats | tee "$work/log"
grep -q "6 → 1 nodes" "$work/log"
"$retuple" etuplize "$work/out.onnx" --brief >"$work/text"
grep -q "acme::Blend" "$work/text" && ! grep -q "acme::Mirror" "$work/text"
echo "the rules fired"
