; Two arithmetics. The library's works on numbers and waits until one is unknown; that of The Reasoned Schemer works on lists of bits, the
; lowest first, and enumerates.
;
;   retuple query examples/relational/arithmetic.mk
(include "../../bench/relational/lib/numbers.mk")
(run* ?x (fresh (?y) (addo ?x ?y 12) (mulo ?y 3 15)))       ; x + y = 12, 3 y = 15
(run* (?x ?y) (addo ?x ?y 5) (membero ?x (1 2)))
(run* ?p (*o (1 1) (1 0 1) ?p))                              ; 3 · 5
(run* (?x ?y) (*o ?x ?y (0 1 1)))                            ; x · y = 6
