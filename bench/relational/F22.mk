; The zebra puzzle.
(include "lib/houses.mk")
(run* (?h) (zebrao ?h))
