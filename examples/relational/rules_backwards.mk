; Rules as relations, in both directions: `retuple query examples/relational/rules_backwards.mk`.
(rules "algebra.rules" algebra)

; Forwards: every term that one step makes of this one.
(run* (?u) (algebra (Mul (Add a a) (Log (Exp b))) ?u))

; Backwards: what becomes (Mul 2 a) by one rule at the root.
(run* (?t) (algebra/root ?t (Mul 2 a)))
