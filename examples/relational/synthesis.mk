; An interpreter run backwards writes what is missing of a program: the first part of append's recursive case, from three examples.
;
;   retuple query examples/relational/synthesis.mk
(include "../../bench/relational/lib/full.mk")
(run 1 (?q)
  (evalo (letrec ((append (lambda (l s) (if (null? l) s (cons ?q (append (cdr l) s))))))
           (list (append (quote ()) (quote ()))
                 (append (quote (a)) (quote (b)))
                 (append (quote (c d)) (quote (e f)))))
         (() (a b) (c d e f))))
