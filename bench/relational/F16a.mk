; Thrines: three programs that evaluate to one another in a circle.
(include "lib/quines.mk")
(run 1 (?p ?q ?r)
  (=/= ?p ?q)
  (=/= ?q ?r)
  (=/= ?r ?p)
  (eval-expo ?p () ?q)
  (eval-expo ?q () ?r)
  (eval-expo ?r () ?p))
