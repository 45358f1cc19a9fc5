"""A simulated upstream: an inference server without a model, for tests, the demonstration and tuning of dashboards.

`engine` decides what an answer holds and when each byte of it is due; it needs no clock and no socket. `server` plays
that over HTTP. `python -m promptlint_proxy.simulated --help` runs one.
"""
