; Factors of 24.
(include "lib/numbers.mk")
(run* (?x ?y) (*o ?x ?y (0 0 0 1 1)))
