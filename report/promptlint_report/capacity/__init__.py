"""What a model's KV cache takes and what fits on a GPU: one question in, numbers, a table, JSON or a chart out."""
