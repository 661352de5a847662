; 1000 = 33 * q + r.
(include "lib/numbers.mk")
(run* (?q ?r) (/o (0 0 0 1 0 1 1 1 1 1) (1 0 0 0 0 1) ?q ?r))
