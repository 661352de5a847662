; Type inference for the simply typed lambda calculus as a relation: (!- EXP ENV T), EXP has type T where ENV gives the types of
; names as pairs (X .. TYPE). Expressions: a symbol, (lambda (X) E), (E E); types: (-> T T) and variables. Run backwards it lists
; the expressions that have a type.
;
; Source: the rules of the simply typed lambda calculus (Pierce, "Types and Programming Languages", chapter 9), in the clause order
; of faster-miniKanren's test-infer.scm.

(defrel (!- ?exp ?env ?t)
  (conde
    ((symbolo ?exp) (lookupo ?exp ?env ?t))
    ((fresh (?x ?e ?t-x ?t-e)
       (== (lambda (?x) ?e) ?exp)
       (symbolo ?x)
       (not-in-envo lambda ?env)
       (== (-> ?t-x ?t-e) ?t)
       (!- ?e ((?x ..?t-x) ..?env) ?t-e)))
    ((fresh (?rator ?rand ?t-x)
       (== (?rator ?rand) ?exp)
       (!- ?rator ?env (-> ?t-x ?t))
       (!- ?rand ?env ?t-x)))))

(defrel (lookupo ?x ?env ?t)
  (fresh (?rest ?y ?v)
    (== ((?y ..?v) ..?rest) ?env)
    (conde
      ((== ?y ?x) (== ?v ?t))
      ((=/= ?y ?x) (lookupo ?x ?rest ?t)))))

(defrel (not-in-envo ?x ?env)
  (conde
    ((== () ?env))
    ((fresh (?y ?v ?rest)
       (== ((?y ..?v) ..?rest) ?env)
       (=/= ?y ?x)
       (not-in-envo ?x ?rest)))))
