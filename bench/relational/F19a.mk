; append of a list of 20 and one of 5, interpreted.
(include "lib/full.mk")
(run* (?q)
  (evalo (letrec ((append (lambda (l s) (if (null? l) s (cons (car l) (append (cdr l) s))))))
           (append (quote (0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19))
                   (quote (20 21 22 23 24))))
         ?q))
