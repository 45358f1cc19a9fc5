"""The wire shapes of the APIs: one file each, with the whole answer and the events of a stream."""
