"""What can be wrong with a prompt. One rule, one file, one page; `promptlint_rules.registry` is the table of contents."""
