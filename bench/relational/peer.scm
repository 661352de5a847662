; The timing peer: the relational workloads on faster-miniKanren (github.com/michaelballantyne/faster-minikanren) under Chez Scheme.
;
;   scheme --script bench/relational/peer.scm F14a answers      the answers, one a line, as `run` returns them
;   scheme --script bench/relational/peer.scm F14a wrapped      the same, each as (VALUE CONSTRAINT …); to_ours.py reads these
;   scheme --script bench/relational/peer.scm F14a time 5       median thread CPU time of 5 rounds in ms, a collection before each
;   scheme --script bench/relational/peer.scm list              the names of the workloads
;
; The checkout is looked for in `--mk DIR` (anywhere among the arguments), then in RETUPLE_MK_DIR, then in
; build/peers/faster-minikanren. Nothing of it is copied here: arithmetic comes from its numbers.scm, the interpreters and the type
; rules from the files that test them, whose tests are turned off by an empty `test`. F1a.mk … beside this file are the same programs
; in our language; README.md says what each name is.

(define (option-and-rest args flag)
  (let loop ((args args) (seen '()))
    (cond
      ((null? args) (values #f (reverse seen)))
      ((and (string=? (car args) flag) (pair? (cdr args)))
       (values (cadr args) (append (reverse seen) (cddr args))))
      (else (loop (cdr args) (cons (car args) seen))))))

(define-values (mk-option arguments) (option-and-rest (command-line-arguments) "--mk"))
(define mk-dir (or mk-option (getenv "RETUPLE_MK_DIR") "build/peers/faster-minikanren"))

(define (die text)
  (display text (current-error-port))
  (newline (current-error-port))
  (exit 2))

(define (load-mk file)
  (let ((path (string-append mk-dir "/" file)))
    (unless (file-exists? path)
      (die (string-append "no " path ": give the checkout by --mk DIR or RETUPLE_MK_DIR")))
    (load path)))

(load-mk "mk-vicare.scm")
(load-mk "mk.scm")
(define-syntax test (syntax-rules () ((_ . anything) (void))))
(define-syntax time-test (syntax-rules () ((_ . anything) (void))))

; L n = (0 1 … n-1).
(define (L n) (iota n))

; The relations that a workload may ask for by name. They are kept quoted, as some define the same names.
(define libraries
  '((lists
     (defrel (membero x l)
       (fresh (a d)
         (== `(,a . ,d) l)
         (conde
           ((== x a))
           ((membero x d)))))
     (defrel (appendo l s out)
       (conde
         ((== '() l) (== s out))
         ((fresh (a d res)
            (== `(,a . ,d) l)
            (== `(,a . ,res) out)
            (appendo d s res)))))
     (defrel (reverso l out)
       (conde
         ((== '() l) (== '() out))
         ((fresh (a d res)
            (== `(,a . ,d) l)
            (reverso d res)
            (appendo res `(,a) out)))))
     (defrel (selecto x l rest)
       (conde
         ((== `(,x . ,rest) l))
         ((fresh (a d res)
            (== `(,a . ,d) l)
            (== `(,a . ,res) rest)
            (selecto x d res)))))
     (defrel (permo l p)
       (conde
         ((== '() l) (== '() p))
         ((fresh (a d r)
            (== `(,a . ,d) p)
            (selecto a l r)
            (permo r d)))))
     (defrel (rembo x l out)
       (conde
         ((== '() l) (== '() out))
         ((fresh (d)
            (== `(,x . ,d) l)
            (== d out)))
         ((fresh (a d res)
            (== `(,a . ,d) l)
            (=/= a x)
            (== `(,a . ,res) out)
            (rembo x d res))))))
    (houses
     (defrel (oneo h houses)
       (fresh (a d)
         (== `(,a . ,d) houses)
         (conde
           ((== h a))
           ((oneo h d)))))
     (defrel (lefto l r houses)
       (fresh (a b d)
         (== `(,a ,b . ,d) houses)
         (conde
           ((== l a) (== r b))
           ((lefto l r `(,b . ,d))))))
     (defrel (besideo x y houses)
       (conde
         ((lefto x y houses))
         ((lefto y x houses))))
     (defrel (zebrao h)
       (fresh (n1 n2 n3 n4 n5 n6 n7 n8 n9 n10 n11 n12 n13 n14 n15 n16 n17 n18 n19 n20 n21 n22
               n23 n24 n25 n26 n27 n28 n29 n30 n31 n32 n33 n34 n35 n36 n37 n38 n39 n40 n41 n42
               n43 n44 n45 n46 n47 n48 n49 n50 n51 n52 n53 n54 n55 n56 n57 n58 n59 n60 n61 n62
               n63 n64 n65 n66 n67)
         (== `((norwegian ,n1 ,n2 ,n3 ,n4) ,n5 (,n6 ,n7 milk ,n8 ,n9) ,n10 ,n11) h)
         (besideo `(norwegian ,n12 ,n13 ,n14 ,n15) `(,n16 ,n17 ,n18 ,n19 blue) h)
         (oneo `(englishman ,n20 ,n21 ,n22 red) h)
         (oneo `(spaniard ,n23 ,n24 dog ,n25) h)
         (oneo `(,n26 ,n27 coffee ,n28 green) h)
         (oneo `(ukrainian ,n29 tea ,n30 ,n31) h)
         (lefto `(,n32 ,n33 ,n34 ,n35 ivory) `(,n36 ,n37 ,n38 ,n39 green) h)
         (oneo `(,n40 oldgolds ,n41 snails ,n42) h)
         (oneo `(,n43 kools ,n44 ,n45 yellow) h)
         (besideo `(,n46 chesterfields ,n47 ,n48 ,n49) `(,n50 ,n51 ,n52 fox ,n53) h)
         (besideo `(,n54 kools ,n55 ,n56 ,n57) `(,n58 ,n59 ,n60 horse ,n61) h)
         (oneo `(,n62 lucky-strikes oj ,n63 ,n64) h)
         (oneo `(japanese parliaments ,n65 ,n66 ,n67) h))))
    (numbers (load-mk "numbers.scm"))
    (calculator (load-mk "test-numbers.scm"))
    (types (load-mk "test-infer.scm"))
    (quines (load-mk "test-quines.scm"))
    (full (load-mk "full-interp.scm"))))

; (name (library …) (constant …) query): the constants are bindings for let, built before the clock starts.
(define workloads
  '((F1a (lists) ((l (L 100))) (run* (x) (membero x l)))
    (F1b (lists) ((l (L 1000))) (run* (x) (membero x l)))
    (F2a (lists) ((l (L 100))) (run* (x y) (appendo x y l)))
    (F2b (lists) ((l (L 1000))) (run* (x y) (appendo x y l)))
    (F3a (lists) ((l (L 1000))) (run* (z) (appendo l '(1) z)))
    (F3b (lists) ((l (L 4000))) (run* (z) (appendo l '(1) z)))
    (F4 (lists) () (run 200 (z) (fresh (x y) (appendo x y z))))
    (F5a (lists) ((l (L 100))) (run* (q) (reverso l q)))
    (F5b (lists) ((l (L 500))) (run* (q) (reverso l q)))
    (F6 (lists) ((l (L 30))) (run 1 (q) (reverso q l)))
    (F7a (lists) ((l (L 6))) (run* (p) (permo l p)))
    (F7b (lists) ((l (L 7))) (run* (p) (permo l p)))
    (F7c (lists) ((l (L 8))) (run* (p) (permo l p)))
    (F8 (lists) ((l (L 60))) (run* (q) (rembo -1 l q)))
    (F9a (numbers) ((x (build-num 3)) (y (build-num 5))) (run* (p) (*o x y p)))
    (F9b (numbers) ((x (build-num 255))) (run* (p) (*o x x p)))
    (F9c (numbers) ((p (build-num 24))) (run* (x y) (*o x y p)))
    (F9d (numbers) () (run 34 (x y p) (*o x y p)))
    (F10a (numbers) () (run 100 (x y z) (pluso x y z)))
    (F10b (numbers) ((n (build-num 1000)) (m (build-num 33))) (run* (q r) (/o n m q r)))
    (F11a (numbers) ((n (build-num 14)) (b (build-num 2)) (q (build-num 3))) (run* (r) (logo n b q r)))
    (F11b (numbers) ((n (build-num 68))) (run 9 (b q r) (logo n b q r) (>1o q)))
    (F12a (numbers) ((b (build-num 3)) (q (build-num 5))) (run* (n) (expo b q n)))
    (F12b (numbers) ((n (build-num 243)) (b (build-num 3))) (run* (q) (logo n b q '())))
    (F12c (numbers) ((b (build-num 7)) (q (build-num 2))) (run 1 (n) (expo b q n)))
    (F13a (types) () (run 10 (t exp) (!- exp '() t)))
    (F13b (types) () (run 100 (t exp) (!- exp '() t)))
    (F14a (quines) () (run 1 (q) (eval-expo q '() q)))
    (F14b (quines) () (run 2 (q) (eval-expo q '() q)))
    (F14c (quines) () (run 3 (q) (eval-expo q '() q)))
    (F14d (quines) () (run 10 (q) (eval-expo q '() q)))
    (F14e (quines) () (run 40 (q) (eval-expo q '() q)))
    (F14f (quines) () (run 100 (q) (eval-expo q '() q)))
    (F15a (quines) () (run 1 (p q) (=/= p q) (eval-expo p '() q) (eval-expo q '() p)))
    (F15b (quines) () (run 2 (p q) (=/= p q) (eval-expo p '() q) (eval-expo q '() p)))
    (F15c (quines) () (run 15 (p q) (=/= p q) (eval-expo p '() q) (eval-expo q '() p)))
    (F16a (quines) ()
      (run 1 (p q r) (=/= p q) (=/= q r) (=/= r p) (eval-expo p '() q) (eval-expo q '() r) (eval-expo r '() p)))
    (F16b (quines) ()
      (run 2 (p q r) (=/= p q) (=/= q r) (=/= r p) (eval-expo p '() q) (eval-expo q '() r) (eval-expo r '() p)))
    (F16c (quines) ()
      (run 4 (p q r) (=/= p q) (=/= q r) (=/= r p) (eval-expo p '() q) (eval-expo q '() r) (eval-expo r '() p)))
    (F17a (quines) () (run 99 (q) (eval-expo q '() '(I love you))))
    (F17b (quines) () (run 1000 (q) (eval-expo q '() '(I love you))))
    (F17c (full) () (run 99 (q) (evalo q '(I love you))))
    (F18a (numbers calculator) () (run* (q) (eval-expo rel-fact5 '() q)))
    (F18b (numbers calculator) ((one (build-num 1)) (five (build-num 5)) (result (build-num 120)))
      (run 1 (q)
        (eval-expo
          `((lambda (f) ((f ,q) (intexp ,five)))
            (lambda (f)
              (lambda (n)
                (if (zero? n) (intexp ,one) (* n ((f f) (sub1 n)))))))
          '()
          `(intval ,result))))
    (F18c (numbers calculator) ((six (build-num 6))) (run 12 (q) (eval-expo q '() `(intval ,six))))
    (F19a (full) ()
      (run* (q)
        (evalo
          '(letrec ((append (lambda (l s) (if (null? l) s (cons (car l) (append (cdr l) s))))))
             (append '(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19) '(20 21 22 23 24)))
          q)))
    (F19b (full) ()
      (run* (x y)
        (evalo
          `(letrec ((append (lambda (l s) (if (null? l) s (cons (car l) (append (cdr l) s))))))
             (append ',x ',y))
          '(0 1 2 3 4))))
    (F20 (full) ()
      (run 1 (q)
        (evalo
          `(letrec ((append (lambda (l s) (if (null? l) s (cons ,q (append (cdr l) s))))))
             (list (append '() '()) (append '(a) '(b)) (append '(c d) '(e f))))
          '(() (a b) (c d e f)))))
    (F21 (full) ()
      (run 1 (q)
        (absento 'a q) (absento 'b q) (absento 'c q) (absento 'd q) (absento 'e q) (absento 'f q)
        (evalo
          `(letrec ((append (lambda (l s) (if (null? l) s (cons (car l) ,q)))))
             (list (append '() '()) (append '(a) '(b)) (append '(c d) '(e f))))
          '(() (a b) (c d e f)))))
    (F22 (houses) () (run* (h) (zebrao h)))))

(define (find-workload name)
  (or (assq (string->symbol name) workloads)
      (die (string-append "no workload " name "; `list` prints their names"))))

; A procedure of no argument that runs the workload, its constants built beforehand.
(define (prepare workload)
  (for-each
    (lambda (library) (for-each eval (cdr (assq library libraries))))
    (cadr workload))
  (eval `(let ,(caddr workload) (lambda () ,(cadddr workload)))))

(define (thread-milliseconds)
  (let ((t (current-time 'time-thread)))
    (+ (* 1e3 (time-second t)) (/ (time-nanosecond t) 1e6))))

(define (one-round go)
  (collect)
  (let ((start (thread-milliseconds)))
    (go)
    (- (thread-milliseconds) start)))

(define (median l)
  (let* ((sorted (list-sort < l)) (n (length l)) (middle (quotient n 2)))
    (if (odd? n)
      (list-ref sorted middle)
      (/ (+ (list-ref sorted (- middle 1)) (list-ref sorted middle)) 2))))

(define (print-lines l)
  (for-each (lambda (x) (write x) (newline)) l))

(define (main name mode rounds)
  (let ((go (prepare (find-workload name))))
    (case mode
      ((answers) (print-lines (go)))
      ((wrapped) (print-lines (parameterize ((always-wrap-reified? #t)) (go))))
      ((time)
       (let loop ((k rounds) (times '()))
         (if (zero? k)
           (printf "~,3f~%" (median times))
           (loop (- k 1) (cons (one-round go) times)))))
      (else (die "the mode is answers, wrapped or time ROUNDS")))))

(cond
  ((equal? arguments '("list")) (for-each (lambda (w) (printf "~a~%" (car w))) workloads))
  ((memv (length arguments) '(2 3))
   (main (car arguments)
         (string->symbol (cadr arguments))
         (if (null? (cddr arguments)) 1 (string->number (caddr arguments)))))
  (else (die "usage: peer.scm [--mk DIR] NAME answers|wrapped|time [ROUNDS]")))
