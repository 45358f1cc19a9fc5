"""Order: volatile text ahead of stable text."""
