; Permutations of (0 … 5).
(include "lib/lists.mk")
(run* (?p) (permo (0 1 2 3 4 5) ?p))
