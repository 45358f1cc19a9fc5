"""`promptlint demo`: lint, proxy and report on one machine, in less than a minute."""
