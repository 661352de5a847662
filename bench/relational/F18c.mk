; Programs whose value is 6.
(include "lib/numbers.mk")
(include "lib/calculator.mk")
(run 12 (?q) (eval-expo ?q () (intval (0 1 1))))
