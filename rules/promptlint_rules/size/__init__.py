"""Size: output bound, prompt growth, retrieval."""
