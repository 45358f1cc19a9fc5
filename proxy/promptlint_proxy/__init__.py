"""Traffic in; findings, metrics and records out: bytes → protocol → exchange → compare, predict → record."""
