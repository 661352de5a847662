; Quines: programs that evaluate to themselves.
(include "lib/quines.mk")
(run 10 (?q) (eval-expo ?q () ?q))
