;;; emacs.el --- a session of eglot with the language server  -*- lexical-binding: t -*-
;; Run by Emacs in batch mode: opens a file of a rule set, and prints what the language server does. TRYCK is the program,
;; FILE the file.

(require 'eglot)
(require 'flymake)

(define-derived-mode yaml-mode text-mode "YAML")
(add-to-list 'auto-mode-alist '("\\.yaml\\'" . yaml-mode))
(add-to-list 'eglot-server-programs `(yaml-mode . (,(getenv "TRYCK") "language-server")))

(defun say (&rest words) (princ (concat (mapconcat (lambda (word) (format "%s" word)) words " ") "\n")))

(defun wait-until (condition)
  "Lets the connection work until CONDITION is true."
  (let ((end (time-add nil 30)))
    (while (and (not (funcall condition)) (time-less-p nil end))
      (accept-process-output nil 0.05)
      (flymake-start))
    (funcall condition)))

(defun triggers ()
  (save-excursion
    (goto-char (point-min))
    (search-forward "triggers")
    (string-trim (thing-at-point 'line t))))

(setq eglot-sync-connect 30
      make-backup-files nil)
(find-file (getenv "FILE"))
(apply #'eglot (eglot--guess-contact))
(wait-until (lambda () (flymake-diagnostics)))
(dolist (diagnostic (flymake-diagnostics))
  (say "diagnostic" (line-number-at-pos (flymake-diagnostic-beg diagnostic))
       (replace-regexp-in-string
        ".*\\(unknown [a-z]+ \"[a-z]+\"\\)\\(.\\|\n\\)*" "\\1" (flymake-diagnostic-text diagnostic))))

(goto-char (point-min))
(search-forward "kitchn")
(delete-char -1)
(completion-at-point)
(say "completed" (triggers))
(wait-until (lambda () (null (flymake-diagnostics))))
(say "diagnostics" (length (flymake-diagnostics)))

;; Eglot asks before it edits a file that is not open.
(fset 'y-or-n-p (lambda (&rest _) t))
(goto-char (point-min))
(search-forward "kitc")
(eglot-rename "cook")
(say "renamed" (triggers))
(save-some-buffers t)
(eglot-shutdown (eglot-current-server))
