; 7^2.
(include "lib/numbers.mk")
(run 1 (?n) (expo (1 1 1) (0 1) ?n))
