; Arithmetic on natural numbers as relations. A number is the list of its bits, least first, the last one 1: () is 0, (0 1) is 2,
; (1 0 1) is 5. Names end in o; n*m = p is (*o n m p), n = m*q + r is (/o n m q r), n = b^q + r is (logo n b q r).
;
; Source: Friedman, Byrd, Kiselyov, Hemann, "The Reasoned Schemer", 2nd edition (2018), chapters 4, 7 and 8; Kiselyov, Byrd,
; Friedman, Shan, "Pure, Declarative, and Constructive Arithmetic Relations" (FLOPS 2008); with the clauses of `logo` as in
; faster-miniKanren's numbers.scm, whose answers do not overlap.

(defrel (nullo ?x) (== () ?x))
(defrel (conso ?a ?d ?p) (== (?a ..?d) ?p))

; l ++ t = out
(defrel (appendo ?l ?t ?out)
  (conde
    ((nullo ?l) (== ?t ?out))
    ((fresh (?a ?d ?res)
       (conso ?a ?d ?l)
       (conso ?a ?res ?out)
       (appendo ?d ?t ?res)))))

; b + x + y = r + 2c, all bits
(defrel (full-addero ?b ?x ?y ?r ?c)
  (conde
    ((== 0 ?b) (== 0 ?x) (== 0 ?y) (== 0 ?r) (== 0 ?c))
    ((== 1 ?b) (== 0 ?x) (== 0 ?y) (== 1 ?r) (== 0 ?c))
    ((== 0 ?b) (== 1 ?x) (== 0 ?y) (== 1 ?r) (== 0 ?c))
    ((== 1 ?b) (== 1 ?x) (== 0 ?y) (== 0 ?r) (== 1 ?c))
    ((== 0 ?b) (== 0 ?x) (== 1 ?y) (== 1 ?r) (== 0 ?c))
    ((== 1 ?b) (== 0 ?x) (== 1 ?y) (== 0 ?r) (== 1 ?c))
    ((== 0 ?b) (== 1 ?x) (== 1 ?y) (== 0 ?r) (== 1 ?c))
    ((== 1 ?b) (== 1 ?x) (== 1 ?y) (== 1 ?r) (== 1 ?c))))

; n = 0
(defrel (zeroo ?n) (== () ?n))

; n > 0
(defrel (poso ?n)
  (fresh (?a ?d)
    (== (?a ..?d) ?n)))

; n > 1
(defrel (>1o ?n)
  (fresh (?a ?ad ?dd)
    (== (?a ?ad ..?dd) ?n)))

; b + n + m = r, b a bit
(defrel (addero ?b ?n ?m ?r)
  (conde
    ((== 0 ?b) (== () ?m) (== ?n ?r))
    ((== 0 ?b) (== () ?n) (== ?m ?r)
     (poso ?m))
    ((== 1 ?b) (== () ?m)
     (addero 0 ?n (1) ?r))
    ((== 1 ?b) (== () ?n) (poso ?m)
     (addero 0 (1) ?m ?r))
    ((== (1) ?n) (== (1) ?m)
     (fresh (?a ?c)
       (== (?a ?c) ?r)
       (full-addero ?b 1 1 ?a ?c)))
    ((== (1) ?n) (gen-addero ?b ?n ?m ?r))
    ((== (1) ?m) (>1o ?n) (>1o ?r)
     (addero ?b (1) ?n ?r))
    ((>1o ?n) (gen-addero ?b ?n ?m ?r))))

; the same for n > 0 and m > 1
(defrel (gen-addero ?b ?n ?m ?r)
  (fresh (?a ?c ?d ?e ?x ?y ?z)
    (== (?a ..?x) ?n)
    (== (?d ..?y) ?m) (poso ?y)
    (== (?c ..?z) ?r) (poso ?z)
    (full-addero ?b ?a ?d ?c ?e)
    (addero ?e ?x ?y ?z)))

(defrel (pluso ?n ?m ?k) (addero 0 ?n ?m ?k))
(defrel (minuso ?n ?m ?k) (pluso ?m ?k ?n))

; n * m = p
(defrel (*o ?n ?m ?p)
  (conde
    ((== () ?n) (== () ?p))
    ((poso ?n) (== () ?m) (== () ?p))
    ((== (1) ?n) (poso ?m) (== ?m ?p))
    ((>1o ?n) (== (1) ?m) (== ?n ?p))
    ((fresh (?x ?z)
       (== (0 ..?x) ?n) (poso ?x)
       (== (0 ..?z) ?p) (poso ?z)
       (>1o ?m)
       (*o ?x ?m ?z)))
    ((fresh (?x ?y)
       (== (1 ..?x) ?n) (poso ?x)
       (== (0 ..?y) ?m) (poso ?y)
       (*o ?m ?n ?p)))
    ((fresh (?x ?y)
       (== (1 ..?x) ?n) (poso ?x)
       (== (1 ..?y) ?m) (poso ?y)
       (odd-*o ?x ?n ?m ?p)))))

; n = 2x + 1 odd
(defrel (odd-*o ?x ?n ?m ?p)
  (fresh (?q)
    (bound-*o ?q ?p ?n ?m)
    (*o ?x ?m ?q)
    (pluso (0 ..?q) ?m ?p)))

; q is shorter than p, and no longer than n and m together: what makes *o end
(defrel (bound-*o ?q ?p ?n ?m)
  (conde
    ((== () ?q) (poso ?p))
    ((fresh (?a0 ?a1 ?a2 ?a3 ?x ?y ?z)
       (== (?a0 ..?x) ?q)
       (== (?a1 ..?y) ?p)
       (conde
         ((== () ?n)
          (== (?a2 ..?z) ?m)
          (bound-*o ?x ?y ?z ()))
         ((== (?a3 ..?z) ?n)
          (bound-*o ?x ?y ?z ?m)))))))

; as many bits, fewer bits, no more bits
(defrel (=lo ?n ?m)
  (conde
    ((== () ?n) (== () ?m))
    ((== (1) ?n) (== (1) ?m))
    ((fresh (?a ?x ?b ?y)
       (== (?a ..?x) ?n) (poso ?x)
       (== (?b ..?y) ?m) (poso ?y)
       (=lo ?x ?y)))))

(defrel (<lo ?n ?m)
  (conde
    ((== () ?n) (poso ?m))
    ((== (1) ?n) (>1o ?m))
    ((fresh (?a ?x ?b ?y)
       (== (?a ..?x) ?n) (poso ?x)
       (== (?b ..?y) ?m) (poso ?y)
       (<lo ?x ?y)))))

(defrel (<=lo ?n ?m)
  (conde
    ((=lo ?n ?m))
    ((<lo ?n ?m))))

; n < m, n <= m
(defrel (<o ?n ?m)
  (conde
    ((<lo ?n ?m))
    ((=lo ?n ?m)
     (fresh (?x)
       (poso ?x)
       (pluso ?n ?x ?m)))))

(defrel (<=o ?n ?m)
  (conde
    ((== ?n ?m))
    ((<o ?n ?m))))

; n = l + 2^(1 + length of r) * h
(defrel (splito ?n ?r ?l ?h)
  (conde
    ((== () ?n) (== () ?h) (== () ?l))
    ((fresh (?b ?n^)
       (== (0 ?b ..?n^) ?n) (== () ?r)
       (== (?b ..?n^) ?h) (== () ?l)))
    ((fresh (?n^)
       (== (1 ..?n^) ?n) (== () ?r)
       (== ?n^ ?h) (== (1) ?l)))
    ((fresh (?b ?n^ ?a ?r^)
       (== (0 ?b ..?n^) ?n)
       (== (?a ..?r^) ?r) (== () ?l)
       (splito (?b ..?n^) ?r^ () ?h)))
    ((fresh (?n^ ?a ?r^)
       (== (1 ..?n^) ?n)
       (== (?a ..?r^) ?r) (== (1) ?l)
       (splito ?n^ ?r^ () ?h)))
    ((fresh (?b ?n^ ?a ?r^ ?l^)
       (== (?b ..?n^) ?n)
       (== (?a ..?r^) ?r)
       (== (?b ..?l^) ?l)
       (poso ?l^)
       (splito ?n^ ?r^ ?l^ ?h)))))

; n = m * q + r, r < m
(defrel (/o ?n ?m ?q ?r)
  (conde
    ((== () ?q) (== ?r ?n) (<o ?n ?m))
    ((== (1) ?q) (=lo ?m ?n) (pluso ?r ?m ?n)
     (<o ?r ?m))
    ((poso ?q) (<lo ?m ?n) (<o ?r ?m)
     (n-wider-than-mo ?n ?m ?q ?r))))

; the same for an n of more bits than m: the high and the low halves apart
(defrel (n-wider-than-mo ?n ?m ?q ?r)
  (fresh (?nh ?nl ?qh ?ql)
    (fresh (?mql ?mrql ?rr ?rh)
      (splito ?n ?r ?nl ?nh)
      (splito ?q ?r ?ql ?qh)
      (conde
        ((== () ?nh)
         (== () ?qh)
         (minuso ?nl ?r ?mql)
         (*o ?m ?ql ?mql))
        ((poso ?nh)
         (*o ?m ?ql ?mql)
         (pluso ?r ?mql ?mrql)
         (minuso ?mrql ?nl ?rr)
         (splito ?rr ?r () ?rh)
         (/o ?nh ?m ?qh ?rh))))))

; n = b^q + r with the greatest such q
(defrel (logo ?n ?b ?q ?r)
  (conde
    ((== () ?q) (<=o ?n ?b)
     (pluso ?r (1) ?n))
    ((== (1) ?q) (>1o ?b) (=lo ?n ?b)
     (pluso ?r ?b ?n))
    ((== (1) ?b) (poso ?q)
     (pluso ?r (1) ?n))
    ((== () ?b) (poso ?q) (== ?r ?n))
    ((== (0 1) ?b)
     (fresh (?a ?ad ?dd)
       (poso ?dd)
       (== (?a ?ad ..?dd) ?n)
       (exp2o ?n () ?q)
       (fresh (?s)
         (splito ?n ?dd ?r ?s))))
    ((<=o (1 1) ?b) (<lo ?b ?n)
     (base-three-or-moreo ?n ?b ?q ?r))))

; (length of b + 1) * q + 1 <= bits of n: logarithms of base two and its powers
(defrel (exp2o ?n ?b ?q)
  (conde
    ((== (1) ?n) (== () ?q))
    ((>1o ?n) (== (1) ?q)
     (fresh (?s)
       (splito ?n ?b ?s (1))))
    ((fresh (?q1 ?b2)
       (== (0 ..?q1) ?q) (poso ?q1)
       (<lo ?b ?n)
       (appendo ?b (1 ..?b) ?b2)
       (exp2o ?n ?b2 ?q1)))
    ((fresh (?q1 ?nh ?b2 ?s)
       (== (1 ..?q1) ?q) (poso ?q1)
       (poso ?nh)
       (splito ?n ?b ?s ?nh)
       (appendo ?b (1 ..?b) ?b2)
       (exp2o ?nh ?b2 ?q1)))))

(defrel (base-three-or-moreo ?n ?b ?q ?r)
  (fresh (?bw1 ?bw ?nw ?nw1 ?ql1 ?ql ?s)
    (exp2o ?b () ?bw1)
    (pluso ?bw1 (1) ?bw)
    (<lo ?q ?n)
    (fresh (?q1 ?bwq1)
      (pluso ?q (1) ?q1)
      (*o ?bw ?q1 ?bwq1)
      (<o ?nw1 ?bwq1))
    (exp2o ?n () ?nw1)
    (pluso ?nw1 (1) ?nw)
    (/o ?nw ?bw ?ql1 ?s)
    (pluso ?ql (1) ?ql1)
    (<=lo ?ql ?q)
    (fresh (?bql ?qh ?s ?qdh ?qd)
      (repeated-mulo ?b ?ql ?bql)
      (/o ?nw ?bw1 ?qh ?s)
      (pluso ?ql ?qdh ?qh)
      (pluso ?ql ?qd ?q)
      (<=o ?qd ?qdh)
      (fresh (?bqd ?bq1 ?bq)
        (repeated-mulo ?b ?qd ?bqd)
        (*o ?bql ?bqd ?bq)
        (*o ?b ?bq ?bq1)
        (pluso ?bq ?r ?n)
        (<o ?n ?bq1)))))

; n^q = nq by multiplying
(defrel (repeated-mulo ?n ?q ?nq)
  (conde
    ((poso ?n) (== () ?q) (== (1) ?nq))
    ((== (1) ?q) (== ?n ?nq))
    ((>1o ?q)
     (fresh (?q1 ?nq1)
       (pluso ?q1 (1) ?q)
       (repeated-mulo ?n ?q1 ?nq1)
       (*o ?nq1 ?n ?nq)))))

; b^q = n
(defrel (expo ?b ?q ?n) (logo ?n ?b ?q ()))
