; 255 * 255.
(include "lib/numbers.mk")
(run* (?p) (*o (1 1 1 1 1 1 1 1) (1 1 1 1 1 1 1 1) ?p))
