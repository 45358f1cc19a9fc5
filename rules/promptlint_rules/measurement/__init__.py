"""KV6xx: what nobody can see."""
