; Expressions and their types.
(include "lib/types.mk")
(run 10 (?t ?exp) (!- ?exp () ?t))
