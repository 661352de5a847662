; Quines: programs that evaluate to themselves.
(include "lib/quines.mk")
(run 3 (?q) (eval-expo ?q () ?q))
