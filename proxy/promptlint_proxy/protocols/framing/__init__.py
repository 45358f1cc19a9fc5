"""How streams are cut into events: server-sent events, JSON lines, AWS event stream. Bytes may be cut anywhere."""
