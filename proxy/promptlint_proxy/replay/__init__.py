"""Recorded traffic read back: one reader a format, then the same analysis as over live traffic."""
