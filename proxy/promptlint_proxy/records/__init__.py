"""Where the proxy's measurements are kept: a live SQLite store per process, sealed into Parquet files.

Layout of a store folder, which any number of processes may share:

    hash.key                                            the key of all keyed hashes, mode 0600
    live/STEM.sqlite                                    written by one process, read by any
    exchanges/date=2026-11-29/hour=15/STEM.parquet      sealed, never changed; likewise findings/ and groups/

A stem names one live store of one process; its sealed files carry the same stem, so that a reader can tell rows that
are in both for a moment (see `read`).
"""
