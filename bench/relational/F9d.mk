; Products, nothing known.
(include "lib/numbers.mk")
(run 34 (?x ?y ?p) (*o ?x ?y ?p))
