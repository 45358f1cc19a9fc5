"""One writer per format: an outcome in, text out."""
