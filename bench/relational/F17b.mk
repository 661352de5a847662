; Programs that evaluate to (I love you).
(include "lib/quines.mk")
(run 1000 (?q) (eval-expo ?q () (I love you)))
