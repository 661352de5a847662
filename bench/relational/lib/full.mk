; A larger interpreter as a relation: (evalo EXPR VAL) in an environment that binds list, not, equal?, symbol?, cons, null?, car, cdr.
;
; Expressions: (quote D), numbers, symbols, #t and #f, (lambda X E) with X one name for all arguments or a list of names,
; applications, (match E (PATTERN E) …), (letrec ((F (lambda X E))) E), (and E …), (or E …), (if E E E). An environment is a list of
; (X val .. VALUE) and (X rec .. LAMBDA); a function value is (closure LAMBDA ENV) or (prim .. NAME), two words that no program may
; quote. Patterns of match: #t, #f, numbers, names, (? symbol? X), (? number? X), and quasiquoted lists with unquoted patterns.
;
; Source: Byrd, Ballantyne, Rosenblatt, Might, "A Unified Approach to Solving Seven Programming Problems (Functional Pearl)"
; (ICFP 2017), in the clause order of faster-miniKanren's full-interp.scm; letrec by Reynolds's half closures.

(defrel (evalo ?expr ?val)
  (eval-expo ?expr
             ((list val closure (lambda x x) ())
              (not val prim .. not)
              (equal? val prim .. equal?)
              (symbol? val prim .. symbol?)
              (cons val prim .. cons)
              (null? val prim .. null?)
              (car val prim .. car)
              (cdr val prim .. cdr))
             ?val))

(defrel (eval-expo ?expr ?env ?val)
  (conde
    ((== (quote ?val) ?expr)
     (absent-tago ?val)
     (not-in-envo quote ?env))
    ((numbero ?expr) (== ?expr ?val))
    ((symbolo ?expr) (lookupo ?expr ?env ?val))
    ((fresh (?x ?body)
       (== (lambda ?x ?body) ?expr)
       (== (closure (lambda ?x ?body) ?env) ?val)
       (conde
         ((symbolo ?x))
         ((list-of-symbolso ?x)))
       (not-in-envo lambda ?env)))
    ((fresh (?rator ?x ?rands ?body ?env^ ?a* ?res)
       (== (?rator ..?rands) ?expr)
       (symbolo ?x)
       (== ((?x val ..?a*) ..?env^) ?res)
       (eval-expo ?rator ?env (closure (lambda ?x ?body) ?env^))
       (eval-expo ?body ?res ?val)
       (eval-listo ?rands ?env ?a*)))
    ((fresh (?rator ?x* ?rands ?body ?env^ ?a* ?res)
       (== (?rator ..?rands) ?expr)
       (eval-expo ?rator ?env (closure (lambda ?x* ?body) ?env^))
       (eval-listo ?rands ?env ?a*)
       (ext-env*o ?x* ?a* ?env^ ?res)
       (eval-expo ?body ?res ?val)))
    ((fresh (?rator ?x* ?rands ?a* ?prim-id)
       (== (?rator ..?rands) ?expr)
       (eval-expo ?rator ?env (prim ..?prim-id))
       (eval-primo ?prim-id ?a* ?val)
       (eval-listo ?rands ?env ?a*)))
    ((handle-matcho ?expr ?env ?val))
    ((fresh (?p-name ?x ?body ?letrec-body)
       (== (letrec ((?p-name (lambda ?x ?body))) ?letrec-body) ?expr)
       (conde
         ((symbolo ?x))
         ((list-of-symbolso ?x)))
       (not-in-envo letrec ?env)
       (eval-expo ?letrec-body ((?p-name rec lambda ?x ?body) ..?env) ?val)))
    ((prim-expo ?expr ?env ?val))))

; Environments

(defrel (lookupo ?x ?env ?t)
  (fresh (?y ?b ?rest)
    (== ((?y ..?b) ..?rest) ?env)
    (conde
      ((== ?x ?y)
       (conde
         ((== (val ..?t) ?b))
         ((fresh (?lam-expr)
            (== (rec ..?lam-expr) ?b)
            (== (closure ?lam-expr ?env) ?t)))))
      ((=/= ?x ?y)
       (lookupo ?x ?rest ?t)))))

(defrel (not-in-envo ?x ?env)
  (conde
    ((== () ?env))
    ((fresh (?y ?b ?rest)
       (== ((?y ..?b) ..?rest) ?env)
       (=/= ?y ?x)
       (not-in-envo ?x ?rest)))))

(defrel (ext-env*o ?x* ?a* ?env ?out)
  (conde
    ((== () ?x*) (== () ?a*) (== ?env ?out))
    ((fresh (?x ?a ?dx* ?da* ?env2)
       (== (?x ..?dx*) ?x*)
       (== (?a ..?da*) ?a*)
       (== ((?x val ..?a) ..?env) ?env2)
       (symbolo ?x)
       (ext-env*o ?dx* ?da* ?env2 ?out)))))

(defrel (regular-env-appendo ?env1 ?env2 ?env-out)
  (conde
    ((== () ?env1) (== ?env2 ?env-out))
    ((fresh (?y ?v ?rest ?res)
       (== ((?y val ..?v) ..?rest) ?env1)
       (== ((?y val ..?v) ..?res) ?env-out)
       (regular-env-appendo ?rest ?env2 ?res)))))

; Lists of expressions and of names

(defrel (eval-listo ?expr ?env ?val)
  (conde
    ((== () ?expr)
     (== () ?val))
    ((fresh (?a ?d ?v-a ?v-d)
       (== (?a ..?d) ?expr)
       (== (?v-a ..?v-d) ?val)
       (eval-expo ?a ?env ?v-a)
       (eval-listo ?d ?env ?v-d)))))

(defrel (list-of-symbolso ?los)
  (conde
    ((== () ?los))
    ((fresh (?a ?d)
       (== (?a ..?d) ?los)
       (symbolo ?a)
       (list-of-symbolso ?d)))))

; Primitive functions

(defrel (eval-primo ?prim-id ?a* ?val)
  (conde
    ((== ?prim-id cons)
     (fresh (?a ?d)
       (== (?a ?d) ?a*)
       (== (?a ..?d) ?val)))
    ((== ?prim-id car)
     (fresh (?d)
       (== ((?val ..?d)) ?a*)
       (not-tago ?val)))
    ((== ?prim-id cdr)
     (fresh (?a)
       (== ((?a ..?val)) ?a*)
       (not-tago ?a)))
    ((== ?prim-id not)
     (fresh (?b)
       (== (?b) ?a*)
       (conde
         ((=/= #f ?b) (== #f ?val))
         ((== #f ?b) (== #t ?val)))))
    ((== ?prim-id equal?)
     (fresh (?v1 ?v2)
       (== (?v1 ?v2) ?a*)
       (conde
         ((== ?v1 ?v2) (== #t ?val))
         ((=/= ?v1 ?v2) (== #f ?val)))))
    ((== ?prim-id symbol?)
     (fresh (?v)
       (== (?v) ?a*)
       (conde
         ((symbolo ?v) (== #t ?val))
         ((numbero ?v) (== #f ?val))
         ((booleano ?v) (== #f ?val))
         ((fresh (?a ?d)
            (== (?a ..?d) ?v)
            (== #f ?val))))))
    ((== ?prim-id null?)
     (fresh (?v)
       (== (?v) ?a*)
       (conde
         ((== () ?v) (== #t ?val))
         ((=/= () ?v) (== #f ?val)))))))

; Primitive forms

(defrel (prim-expo ?expr ?env ?val)
  (conde
    ((boolean-primo ?expr ?env ?val))
    ((and-primo ?expr ?env ?val))
    ((or-primo ?expr ?env ?val))
    ((if-primo ?expr ?env ?val))))

(defrel (boolean-primo ?expr ?env ?val)
  (conde
    ((== #t ?expr) (== #t ?val))
    ((== #f ?expr) (== #f ?val))))

(defrel (and-primo ?expr ?env ?val)
  (fresh (?e*)
    (== (and ..?e*) ?expr)
    (not-in-envo and ?env)
    (ando ?e* ?env ?val)))

(defrel (ando ?e* ?env ?val)
  (conde
    ((== () ?e*) (== #t ?val))
    ((fresh (?e)
       (== (?e) ?e*)
       (eval-expo ?e ?env ?val)))
    ((fresh (?e1 ?e2 ?e-rest ?v)
       (== (?e1 ?e2 ..?e-rest) ?e*)
       (conde
         ((== #f ?v)
          (== #f ?val)
          (eval-expo ?e1 ?env ?v))
         ((=/= #f ?v)
          (eval-expo ?e1 ?env ?v)
          (ando (?e2 ..?e-rest) ?env ?val)))))))

(defrel (or-primo ?expr ?env ?val)
  (fresh (?e*)
    (== (or ..?e*) ?expr)
    (not-in-envo or ?env)
    (oro ?e* ?env ?val)))

(defrel (oro ?e* ?env ?val)
  (conde
    ((== () ?e*) (== #f ?val))
    ((fresh (?e)
       (== (?e) ?e*)
       (eval-expo ?e ?env ?val)))
    ((fresh (?e1 ?e2 ?e-rest ?v)
       (== (?e1 ?e2 ..?e-rest) ?e*)
       (conde
         ((=/= #f ?v)
          (== ?v ?val)
          (eval-expo ?e1 ?env ?v))
         ((== #f ?v)
          (eval-expo ?e1 ?env ?v)
          (oro (?e2 ..?e-rest) ?env ?val)))))))

(defrel (if-primo ?expr ?env ?val)
  (fresh (?e1 ?e2 ?e3 ?t)
    (== (if ?e1 ?e2 ?e3) ?expr)
    (not-in-envo if ?env)
    (eval-expo ?e1 ?env ?t)
    (conde
      ((=/= #f ?t) (eval-expo ?e2 ?env ?val))
      ((== #f ?t) (eval-expo ?e3 ?env ?val)))))

; Kinds of data

(defrel (not-tago ?val)
  (fresh ()
    (=/= closure ?val)
    (=/= prim ?val)))

(defrel (absent-tago ?val)
  (fresh ()
    (absento closure ?val)
    (absento prim ?val)))

(defrel (booleano ?t)
  (conde
    ((== #f ?t))
    ((== #t ?t))))

(defrel (not-symbolo ?t)
  (conde
    ((== () ?t))
    ((booleano ?t))
    ((numbero ?t))
    ((fresh (?a ?d)
       (== (?a ..?d) ?t)))))

(defrel (not-numbero ?t)
  (conde
    ((== () ?t))
    ((booleano ?t))
    ((symbolo ?t))
    ((fresh (?a ?d)
       (== (?a ..?d) ?t)))))

(defrel (self-eval-literalo ?t)
  (conde
    ((numbero ?t))
    ((booleano ?t))))

(defrel (literalo ?t)
  (conde
    ((== () ?t))
    ((numbero ?t))
    ((symbolo ?t) (not-tago ?t))
    ((booleano ?t))))

; match: (p-match P V IN OUT) when pattern P takes V and bindings grow from IN to OUT, (p-no-match …) when it does not.

(defrel (handle-matcho ?expr ?env ?val)
  (fresh (?against-expr ?mval ?clause ?clauses)
    (== (match ?against-expr ?clause ..?clauses) ?expr)
    (not-in-envo match ?env)
    (eval-expo ?against-expr ?env ?mval)
    (match-clauses ?mval (?clause ..?clauses) ?env ?val)))

(defrel (match-clauses ?mval ?clauses ?env ?val)
  (fresh (?p ?result-expr ?d ?penv)
    (== ((?p ?result-expr) ..?d) ?clauses)
    (conde
      ((fresh (?env^)
         (p-match ?p ?mval () ?penv)
         (regular-env-appendo ?penv ?env ?env^)
         (eval-expo ?result-expr ?env^ ?val)))
      ((p-no-match ?p ?mval () ?penv)
       (match-clauses ?mval ?d ?env ?val)))))

(defrel (var-p-match ?var ?mval ?penv ?penv-out)
  (fresh (?val)
    (symbolo ?var)
    (not-tago ?mval)
    (conde
      ((== ?mval ?val)
       (== ?penv ?penv-out)
       (lookupo ?var ?penv ?val))
      ((== ((?var val ..?mval) ..?penv) ?penv-out)
       (not-in-envo ?var ?penv)))))

(defrel (var-p-no-match ?var ?mval ?penv ?penv-out)
  (fresh (?val)
    (symbolo ?var)
    (=/= ?mval ?val)
    (== ?penv ?penv-out)
    (lookupo ?var ?penv ?val)))

(defrel (p-match ?p ?mval ?penv ?penv-out)
  (conde
    ((self-eval-literalo ?p)
     (== ?p ?mval)
     (== ?penv ?penv-out))
    ((var-p-match ?p ?mval ?penv ?penv-out))
    ((fresh (?var ?pred ?val)
       (== (|?| ?pred ?var) ?p)
       (conde
         ((== symbol? ?pred)
          (symbolo ?mval))
         ((== number? ?pred)
          (numbero ?mval)))
       (var-p-match ?var ?mval ?penv ?penv-out)))
    ((fresh (?quasi-p)
       (== (quasiquote ?quasi-p) ?p)
       (quasi-p-match ?quasi-p ?mval ?penv ?penv-out)))))

(defrel (p-no-match ?p ?mval ?penv ?penv-out)
  (conde
    ((self-eval-literalo ?p)
     (=/= ?p ?mval)
     (== ?penv ?penv-out))
    ((var-p-no-match ?p ?mval ?penv ?penv-out))
    ((fresh (?var ?pred ?val)
       (== (|?| ?pred ?var) ?p)
       (== ?penv ?penv-out)
       (symbolo ?var)
       (conde
         ((== symbol? ?pred)
          (conde
            ((not-symbolo ?mval))
            ((symbolo ?mval)
             (var-p-no-match ?var ?mval ?penv ?penv-out))))
         ((== number? ?pred)
          (conde
            ((not-numbero ?mval))
            ((numbero ?mval)
             (var-p-no-match ?var ?mval ?penv ?penv-out)))))))
    ((fresh (?quasi-p)
       (== (quasiquote ?quasi-p) ?p)
       (quasi-p-no-match ?quasi-p ?mval ?penv ?penv-out)))))

(defrel (quasi-p-match ?quasi-p ?mval ?penv ?penv-out)
  (conde
    ((== ?quasi-p ?mval)
     (== ?penv ?penv-out)
     (literalo ?quasi-p))
    ((fresh (?p)
       (== (unquote ?p) ?quasi-p)
       (p-match ?p ?mval ?penv ?penv-out)))
    ((fresh (?a ?d ?v1 ?v2 ?penv^)
       (== (?a ..?d) ?quasi-p)
       (== (?v1 ..?v2) ?mval)
       (=/= unquote ?a)
       (quasi-p-match ?a ?v1 ?penv ?penv^)
       (quasi-p-match ?d ?v2 ?penv^ ?penv-out)))))

(defrel (quasi-p-no-match ?quasi-p ?mval ?penv ?penv-out)
  (conde
    ((=/= ?quasi-p ?mval)
     (== ?penv ?penv-out)
     (literalo ?quasi-p))
    ((fresh (?p)
       (== (unquote ?p) ?quasi-p)
       (not-tago ?mval)
       (p-no-match ?p ?mval ?penv ?penv-out)))
    ((fresh (?a ?d)
       (== (?a ..?d) ?quasi-p)
       (=/= unquote ?a)
       (== ?penv ?penv-out)
       (literalo ?mval)))
    ((fresh (?a ?d ?v1 ?v2 ?penv^)
       (== (?a ..?d) ?quasi-p)
       (=/= unquote ?a)
       (== (?v1 ..?v2) ?mval)
       (conde
         ((quasi-p-no-match ?a ?v1 ?penv ?penv^))
         ((quasi-p-match ?a ?v1 ?penv ?penv^)
          (quasi-p-no-match ?d ?v2 ?penv^ ?penv-out)))))))
