; Lists as relations: membership, concatenation, naive reverse, permutations, removal.
;
; Source: Friedman, Byrd, Kiselyov, "The Reasoned Schemer" (2005), chapters 2 to 5, with one fresh and one conde a relation.

; x is an element of l
(defrel (membero ?x ?l)
  (fresh (?a ?d)
    (== (?a ..?d) ?l)
    (conde
      ((== ?x ?a))
      ((membero ?x ?d)))))

; l ++ s = out
(defrel (appendo ?l ?s ?out)
  (conde
    ((== () ?l) (== ?s ?out))
    ((fresh (?a ?d ?res)
       (== (?a ..?d) ?l)
       (== (?a ..?res) ?out)
       (appendo ?d ?s ?res)))))

; out is l backwards: the recursive call comes first
(defrel (reverso ?l ?out)
  (conde
    ((== () ?l) (== () ?out))
    ((fresh (?a ?d ?res)
       (== (?a ..?d) ?l)
       (reverso ?d ?res)
       (appendo ?res (?a) ?out)))))

; l with one x taken out is rest
(defrel (selecto ?x ?l ?rest)
  (conde
    ((== (?x ..?rest) ?l))
    ((fresh (?a ?d ?res)
       (== (?a ..?d) ?l)
       (== (?a ..?res) ?rest)
       (selecto ?x ?d ?res)))))

; p is a permutation of l
(defrel (permo ?l ?p)
  (conde
    ((== () ?l) (== () ?p))
    ((fresh (?a ?d ?r)
       (== (?a ..?d) ?p)
       (selecto ?a ?l ?r)
       (permo ?r ?d)))))

; l without the first x, if it has one, is out
(defrel (rembo ?x ?l ?out)
  (conde
    ((== () ?l) (== () ?out))
    ((fresh (?d)
       (== (?x ..?d) ?l)
       (== ?d ?out)))
    ((fresh (?a ?d ?res)
       (== (?a ..?d) ?l)
       (=/= ?a ?x)
       (== (?a ..?res) ?out)
       (rembo ?x ?d ?res)))))
