"""The addon for a stock mitmproxy: `mitmdump -s …/script/promptlint_script.py --mode reverse:http://127.0.0.1:8000`.

The script has a folder of its own because mitmproxy leaves a script's folder on the import path. Settings come from the
file that PROMPTLINT_CONFIG names, else from the one in the working directory.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

from promptlint_proxy.addon import PromptlintAddon
from promptlint_proxy.analyst_process import AnalystProcess
from promptlint_proxy.heartbeat import beat
from promptlint_proxy.records.keys import hash_key
from promptlint_proxy.routes import Routes
from promptlint_proxy.settings import ProxySettings, read_settings
from promptlint_proxy.worker import Worker

CONFIG_VARIABLE = "PROMPTLINT_CONFIG"


class StandaloneAddon(PromptlintAddon):
    """Starts and ends the analysis with the mitmproxy that it is loaded into, which chooses the upstream itself."""

    def __init__(self, settings: ProxySettings) -> None:
        self._analyst = AnalystProcess(settings)
        worker = Worker(self._analyst.send, settings.queue_messages, settings.queue_bytes)
        super().__init__(settings, Routes(()), worker, hash_key(settings))
        self._own_worker = worker
        self._pulses: asyncio.Task[None] | None = None

    async def running(self) -> None:
        await asyncio.to_thread(self._analyst.start)
        self._own_worker.start()
        self._pulses = asyncio.create_task(beat(self, self._own_worker, self._analyst))

    async def done(self) -> None:
        if self._pulses is not None:
            self._pulses.cancel()
        await asyncio.to_thread(self._own_worker.close)
        await asyncio.to_thread(self._analyst.close)


def addon() -> StandaloneAddon:
    """The addon with the settings of the configuration file."""
    named = os.environ.get(CONFIG_VARIABLE)
    path = Path(named) if named else Path("promptlint.toml")
    settings = read_settings(path) if named or path.is_file() else ProxySettings()
    return StandaloneAddon(replace(settings, upstream=()))
