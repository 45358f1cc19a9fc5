"""What can be wrong with a prompt: one rule, one file, one page. `registry` is the table of contents."""
