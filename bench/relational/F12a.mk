; 3^5.
(include "lib/numbers.mk")
(run* (?n) (expo (1 1) (1 0 1) ?n))
