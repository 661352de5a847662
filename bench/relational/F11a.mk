; 14 = 2^3 + r.
(include "lib/numbers.mk")
(run* (?r) (logo (0 1 1 1) (0 1) (1 1) ?r))
