; 68 = b^q + r, q > 1.
(include "lib/numbers.mk")
(run 9 (?b ?q ?r) (logo (0 0 1 0 0 0 1) ?b ?q ?r) (>1o ?q))
