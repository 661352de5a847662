; Quines: programs that evaluate to themselves.
(include "lib/quines.mk")
(run 40 (?q) (eval-expo ?q () ?q))
