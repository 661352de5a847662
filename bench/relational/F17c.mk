; Programs of the larger interpreter that evaluate to (I love you).
(include "lib/full.mk")
(run 99 (?q) (evalo ?q (I love you)))
