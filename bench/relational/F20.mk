; What stands in the hole of append, by three examples: the head of the list.
(include "lib/full.mk")
(run 1 (?q)
  (evalo (letrec ((append (lambda (l s) (if (null? l) s (cons ?q (append (cdr l) s))))))
           (list (append (quote ()) (quote ()))
                 (append (quote (a)) (quote (b)))
                 (append (quote (c d)) (quote (e f)))))
         (() (a b) (c d e f))))
