; The types of the simply typed lambda calculus: inferred, and then inhabited.
;
;   retuple query examples/relational/types.mk
(include "../../bench/relational/lib/types.mk")
(run 1 ?t (!- (lambda (f) (lambda (x) (f (f x)))) () ?t))
(run 1 ?exp (!- ?exp () (-> a (-> b a))))
