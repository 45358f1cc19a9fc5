"""KV2xx: equal content written with other bytes."""
