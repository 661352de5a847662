; 243 = 3^q.
(include "lib/numbers.mk")
(run* (?q) (logo (1 1 0 0 1 1 1 1) (1 1) ?q ()))
