; Concatenation with nothing known: lists of growing length.
(include "lib/lists.mk")
(run 200 (?z) (fresh (?x ?y) (appendo ?x ?y ?z)))
