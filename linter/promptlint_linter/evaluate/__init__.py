"""An abstract interpreter over Python: what text do the expressions of a program give, and how often does it change."""
