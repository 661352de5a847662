; An interpreter with relational arithmetic: functions of one argument, conditionals, and sub1, zero?, * on numbers that are bit
; lists, (intexp BITS) as an expression and (intval BITS) as a value. Wants numbers.mk included first.
;
; Source: Byrd, "Relational Programming in miniKanren" (2009), chapter on interpreters, in the clause order of faster-miniKanren's
; test-numbers.scm.

(defrel (number-primo ?exp ?env ?val)
  (fresh (?n)
    (== (intexp ?n) ?exp)
    (== (intval ?n) ?val)
    (not-in-envo numo ?env)))

(defrel (sub1-primo ?exp ?env ?val)
  (fresh (?e ?n ?n-1)
    (== (sub1 ?e) ?exp)
    (== (intval ?n-1) ?val)
    (not-in-envo sub1 ?env)
    (eval-expo ?e ?env (intval ?n))
    (minuso ?n (1) ?n-1)))

(defrel (zero?-primo ?exp ?env ?val)
  (fresh (?e ?n)
    (== (zero? ?e) ?exp)
    (conde
      ((zeroo ?n) (== #t ?val))
      ((poso ?n) (== #f ?val)))
    (not-in-envo zero? ?env)
    (eval-expo ?e ?env (intval ?n))))

(defrel (*-primo ?exp ?env ?val)
  (fresh (?e1 ?e2 ?n1 ?n2 ?n3)
    (== (* ?e1 ?e2) ?exp)
    (== (intval ?n3) ?val)
    (not-in-envo * ?env)
    (eval-expo ?e1 ?env (intval ?n1))
    (eval-expo ?e2 ?env (intval ?n2))
    (*o ?n1 ?n2 ?n3)))

(defrel (if-primo ?exp ?env ?val)
  (fresh (?e1 ?e2 ?e3 ?t)
    (== (if ?e1 ?e2 ?e3) ?exp)
    (not-in-envo if ?env)
    (eval-expo ?e1 ?env ?t)
    (conde
      ((== #t ?t) (eval-expo ?e2 ?env ?val))
      ((== #f ?t) (eval-expo ?e3 ?env ?val)))))

(defrel (boolean-primo ?exp ?env ?val)
  (conde
    ((== #t ?exp) (== #t ?val))
    ((== #f ?exp) (== #f ?val))))

(defrel (eval-expo ?exp ?env ?val)
  (conde
    ((boolean-primo ?exp ?env ?val))
    ((number-primo ?exp ?env ?val))
    ((sub1-primo ?exp ?env ?val))
    ((zero?-primo ?exp ?env ?val))
    ((*-primo ?exp ?env ?val))
    ((if-primo ?exp ?env ?val))
    ((symbolo ?exp) (lookupo ?exp ?env ?val))
    ((fresh (?rator ?rand ?x ?body ?env^ ?a)
       (== (?rator ?rand) ?exp)
       (eval-expo ?rator ?env (closure ?x ?body ?env^))
       (eval-expo ?rand ?env ?a)
       (eval-expo ?body ((?x ..?a) ..?env^) ?val)))
    ((fresh (?x ?body)
       (== (lambda (?x) ?body) ?exp)
       (symbolo ?x)
       (== (closure ?x ?body ?env) ?val)
       (not-in-envo lambda ?env)))))

(defrel (not-in-envo ?x ?env)
  (conde
    ((fresh (?y ?v ?rest)
       (== ((?y ..?v) ..?rest) ?env)
       (=/= ?y ?x)
       (not-in-envo ?x ?rest)))
    ((== () ?env))))

(defrel (lookupo ?x ?env ?t)
  (fresh (?rest ?y ?v)
    (== ((?y ..?v) ..?rest) ?env)
    (conde
      ((== ?y ?x) (== ?v ?t))
      ((=/= ?y ?x) (lookupo ?x ?rest ?t)))))
