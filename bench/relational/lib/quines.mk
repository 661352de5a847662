; An interpreter for a small Lisp as a relation: (eval-expo EXP ENV VAL), EXP evaluates to VAL in ENV.
;
; Expressions: (quote D), (list E …), a symbol, (E E), (lambda (X) E). An environment is a list of pairs (X .. VALUE); a function
; value is (closure X BODY ENV), and `absento` keeps that word out of what a program may quote. A name that ENV binds is no longer
; a special form (not-in-envo).
;
; Source: Byrd, Holk, Friedman, "miniKanren, Live and Untagged: Quine Generation via Relational Interpreters" (Scheme 2012), in the
; clause order of faster-miniKanren's test-quines.scm.

(defrel (eval-expo ?exp ?env ?val)
  (conde
    ((fresh (?v)
       (== (quote ?v) ?exp)
       (not-in-envo quote ?env)
       (absento closure ?v)
       (== ?v ?val)))
    ((fresh (?a*)
       (== (list ..?a*) ?exp)
       (not-in-envo list ?env)
       (absento closure ?a*)
       (proper-listo ?a* ?env ?val)))
    ((symbolo ?exp) (lookupo ?exp ?env ?val))
    ((fresh (?rator ?rand ?x ?body ?env^ ?a)
       (== (?rator ?rand) ?exp)
       (eval-expo ?rator ?env (closure ?x ?body ?env^))
       (eval-expo ?rand ?env ?a)
       (eval-expo ?body ((?x ..?a) ..?env^) ?val)))
    ((fresh (?x ?body)
       (== (lambda (?x) ?body) ?exp)
       (symbolo ?x)
       (not-in-envo lambda ?env)
       (== (closure ?x ?body ?env) ?val)))))

(defrel (not-in-envo ?x ?env)
  (conde
    ((fresh (?y ?v ?rest)
       (== ((?y ..?v) ..?rest) ?env)
       (=/= ?y ?x)
       (not-in-envo ?x ?rest)))
    ((== () ?env))))

(defrel (proper-listo ?exp ?env ?val)
  (conde
    ((== () ?exp) (== () ?val))
    ((fresh (?a ?d ?t-a ?t-d)
       (== (?a ..?d) ?exp)
       (== (?t-a ..?t-d) ?val)
       (eval-expo ?a ?env ?t-a)
       (proper-listo ?d ?env ?t-d)))))

(defrel (lookupo ?x ?env ?t)
  (fresh (?rest ?y ?v)
    (== ((?y ..?v) ..?rest) ?env)
    (conde
      ((== ?y ?x) (== ?v ?t))
      ((=/= ?y ?x) (lookupo ?x ?rest ?t)))))
