"""Fixes of findings in Python: libcst finds the expression at a finding's place, and what to write instead."""
