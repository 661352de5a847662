; Quines: programs that evaluate to themselves.
(include "lib/quines.mk")
(run 1 (?q) (eval-expo ?q () ?q))
