"""`promptlint top`: a live view of a running proxy, read from its metrics port."""
