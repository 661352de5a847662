; 3 * 5.
(include "lib/numbers.mk")
(run* (?p) (*o (1 1) (1 0 1) ?p))
