; append interpreted backwards: all ways to split five elements.
(include "lib/full.mk")
(run* (?x ?y)
  (evalo (letrec ((append (lambda (l s) (if (null? l) s (cons (car l) (append (cdr l) s))))))
           (append (quote ?x) (quote ?y)))
         (0 1 2 3 4)))
