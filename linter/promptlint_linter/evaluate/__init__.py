"""An abstract interpreter over libcst: what text do the expressions of a program give, and how often does it change."""
