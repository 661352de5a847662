; A group by its left unit and left inverses. What follows from these three equations is decided by the ten rules of
;
;   retuple complete examples/completion/groups.eq
(precedence i * e)
(equation (* e ?x) ?x)
(equation (* (i ?x) ?x) e)
(equation (* (* ?x ?y) ?z) (* ?x (* ?y ?z)))
