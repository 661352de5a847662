; Expressions and their types.
(include "lib/types.mk")
(run 100 (?t ?exp) (!- ?exp () ?t))
