"""How the engine is run: prefix cache, memory share, room for the KV cache."""
