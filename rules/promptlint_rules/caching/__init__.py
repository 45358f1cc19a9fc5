"""KV4xx: cache controls: markers, parameters, routing."""
