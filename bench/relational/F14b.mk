; Quines: programs that evaluate to themselves.
(include "lib/quines.mk")
(run 2 (?q) (eval-expo ?q () ?q))
