"""What the proxy remembers of each exchange: a live SQLite store per process, sealed into Parquet."""
