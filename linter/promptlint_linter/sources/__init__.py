"""One reader per kind of source: text in, prompts and calls out."""
