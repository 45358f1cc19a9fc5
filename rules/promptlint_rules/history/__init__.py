"""KV3xx: the replayed part changes."""
