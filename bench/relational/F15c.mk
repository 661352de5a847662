; Twines: two programs, each of which evaluates to the other.
(include "lib/quines.mk")
(run 15 (?p ?q)
  (=/= ?p ?q)
  (eval-expo ?p () ?q)
  (eval-expo ?q () ?p))
