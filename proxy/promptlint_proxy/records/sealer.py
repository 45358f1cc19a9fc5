"""Seals closed live stores in a thread of its own: writing Parquet must not hold up the analysis."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

logger = logging.getLogger(__name__)

RETRY_S = 60.0


class Sealer:
    """One store after the other. What cannot be sealed now is read as it is, and tried again later."""

    def __init__(self, store: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, "promptlint-sealer")
        self._failed: dict[Path, float] = {}
        """With the time of the last try."""
        self._told: set[Path] = set()

    def seal(self, path: Path) -> None:
        """Have a closed store sealed soon."""
        self._thread.submit(self._seal, path)

    def seal_abandoned(self, own: Path) -> None:
        """Have the stores sealed whose process is gone."""
        self._thread.submit(self._seal_abandoned, own)

    def retry_if_due(self) -> None:
        """Try again what failed a while ago."""
        now_s = self._clock()
        for path in [path for path, tried_at_s in self._failed.items() if now_s - tried_at_s >= RETRY_S]:
            del self._failed[path]
            self.seal(path)

    def close(self) -> None:
        """Finish what was asked for."""
        self._thread.shutdown()

    def _seal(self, path: Path) -> None:
        from promptlint_proxy.records.seal import seal  # noqa: PLC0415 - pyarrow takes 60 MiB that a young store needs not

        try:
            seal(self._store, path)
        except Exception as error:
            if not path.exists():
                return  # another sidecar of the folder was faster
            self._failed[path] = self._clock()
            if path not in self._told:
                self._told.add(path)
                logger.error(  # noqa: TRY400 one line is enough
                    "%s could not be sealed (%s); it is read as it is and sealed later", path.name, type(error).__name__
                )

    def _seal_abandoned(self, own: Path) -> None:
        from promptlint_proxy.records.seal import abandoned  # noqa: PLC0415

        try:
            for path in abandoned(self._store):
                if path != own:
                    self._seal(path)
        except Exception as error:
            logger.error("the stores of ended processes could not be looked for (%s)", type(error).__name__)  # noqa: TRY400
