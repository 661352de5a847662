; Sums, nothing known.
(include "lib/numbers.mk")
(run 100 (?x ?y ?z) (pluso ?x ?y ?z))
