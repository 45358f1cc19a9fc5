"""Source in, findings out: files → gate → sources → evaluate → rules → output."""
