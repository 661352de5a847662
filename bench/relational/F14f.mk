; Quines: programs that evaluate to themselves.
(include "lib/quines.mk")
(run 100 (?q) (eval-expo ?q () ?q))
