; A program that evaluates to itself, found by running an interpreter with the program unknown.
(include "../../bench/relational/lib/quines.mk")
(run 1 (?q) (eval-expo ?q () ?q))
