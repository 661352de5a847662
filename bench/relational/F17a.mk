; Programs that evaluate to (I love you).
(include "lib/quines.mk")
(run 99 (?q) (eval-expo ?q () (I love you)))
