"""The analysis as a process of its own, at lower priority: it can neither slow the hot path nor take it down.

The proxy writes messages to its standard input; the end of that pipe, however the proxy ends, is the order to write
everything down and leave. Pulses have a pipe of their own: a proxy whose analysis lags behind is no sick proxy.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, cast

from promptlint_core.errors import PromptlintError
from promptlint_proxy.capture import Message, Pulse

if TYPE_CHECKING:
    from promptlint_proxy.analyst import Analyst
    from promptlint_proxy.settings import ProxySettings

logger = logging.getLogger(__name__)

NICENESS = 10
READY = "ready "
QUICK_DEATH_S = 30.0
LONGEST_WAIT_S = 60.0
EXPORT_ERRORS_S = 60.0
START_TIMEOUT_S = 60.0


class SeldomExportErrors(logging.Filter):
    """Says once a minute, without its address, that a collector takes nothing; the libraries say it for every batch."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._not_before_s = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.name.startswith(("opentelemetry", "urllib3", "requests")):
            return True
        now_s = self._clock()
        if now_s < self._not_before_s:
            return False
        self._not_before_s = now_s + EXPORT_ERRORS_S
        record.msg = "spans or metrics could not be exported: does the collector of OTEL_EXPORTER_OTLP_ENDPOINT answer?"
        record.args, record.exc_info, record.exc_text = (), None, None
        return True


class AnalystProcess:
    """The proxy's end of the pipe. Starts the process again when it died."""

    def __init__(self, settings: ProxySettings) -> None:
        self.metrics_address = ""
        """Where the metrics are served, once started; empty when they are off."""
        self.restarts = 0
        self.on_end: Callable[[], None] | None = None
        """Called, from a thread, each time the process ends."""
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at_s = 0.0
        self._quick_deaths = 0
        self._not_before_s = 0.0
        self._pulses: int | None = None
        self._last_pulse: Pulse | None = None

    def start(self) -> None:
        """Start and wait until it can take messages. Raises PromptlintError with its reason when it cannot."""
        self._started_at_s = time.monotonic()
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        command = [sys.executable, "-m", "promptlint_proxy.analyst_process", str(reading)]
        self._process = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[reading]
        )
        os.close(reading)
        self._close_pulses()
        self._pulses = writing
        settings = self._settings
        with contextlib.suppress(BrokenPipeError):
            self._write(settings)
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode().strip()
        if not line.startswith(READY.strip()):
            self._process.wait(5)
            raise PromptlintError(line or "the analysis process did not start")
        self.metrics_address = line.removeprefix(READY.strip()).strip()
        if self.metrics_address:
            # A scraper must find it again after a restart, whatever port was free at first.
            self._settings = replace(settings, metrics_listen=self.metrics_address)
        if self._last_pulse is not None:
            self.beat(self._last_pulse)  # a new process knows nothing of the proxy, which is well
        threading.Thread(target=self._wait_for_end, args=(self._process,), daemon=True).start()

    def send(self, messages: Sequence[Message]) -> None:
        """Hand over messages; called by the worker's thread alone. Raises when the process is gone."""
        if not self.is_alive:
            self._restart()
        self._write(list(messages))

    @property
    def is_alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def beat(self, pulse: Pulse) -> None:
        """Hand over a pulse past all that waits; never blocks, and a lost one is made up for by the next."""
        self._last_pulse = pulse
        if self._pulses is not None:
            with contextlib.suppress(OSError):
                os.write(self._pulses, pickle.dumps(pulse, protocol=5))

    def close(self, timeout_s: float = 15.0) -> None:
        """Let it write everything down and leave."""
        self.on_end = None
        self._close_pulses()
        if self._process is None:
            return
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._close_pipes()

    def _wait_for_end(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        if self.on_end is not None:
            self.on_end()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout) if self._process is not None else ():
            # Closing flushes, and there may be nobody left to read.
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _close_pulses(self) -> None:
        if self._pulses is not None:
            os.close(self._pulses)
            self._pulses = None

    def _write(self, document: object) -> None:
        assert self._process is not None
        pipe = cast("IO[bytes]", self._process.stdin)
        pickle.dump(document, pipe, protocol=5)
        pipe.flush()

    def _restart(self) -> None:
        now_s = time.monotonic()
        if now_s < self._not_before_s:
            raise BrokenPipeError
        self._quick_deaths = self._quick_deaths + 1 if now_s - self._started_at_s < QUICK_DEATH_S else 0
        self._not_before_s = now_s + restart_wait_s(self._quick_deaths)
        self.restarts += 1
        self._close_pipes()
        logger.error("the analysis process ended; starting it again")
        try:
            self.start()
        except PromptlintError as error:
            logger.error("the analysis process cannot start: %s", error)  # noqa: TRY400 the sentence is enough
            raise


def restart_wait_s(quick_deaths: int) -> float:
    """Seconds until the next try may follow this one: short, and longer each time it dies soon after its start.

    >>> [restart_wait_s(deaths) for deaths in (0, 1, 2, 5, 50)]
    [1.0, 1.0, 2.0, 16.0, 60.0]
    """
    return min(LONGEST_WAIT_S, 2.0 ** min(max(0, quick_deaths - 1), 10))


def main() -> int:
    """The process itself."""
    # The terminal's Ctrl-C and the container's stop go to the proxy; the end of the pipe is what counts here.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    from promptlint_proxy.analyst import Analyst  # noqa: PLC0415 - the parent imports this module for its own end alone

    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(SeldomExportErrors())
    logging.basicConfig(format="promptlint: %(message)s", handlers=[handler])
    pipe = sys.stdin.buffer
    try:
        settings = pickle.load(pipe)  # noqa: S301 our own parent process writes it
        analyst = Analyst(settings)
        address = analyst.start()
    except PromptlintError as error:
        _say(str(error))
        return 2
    except ImportError as error:
        _say(f"a part is not installed ({error.name}): pip install 'promptlint-prefix[all]'")
        return 2
    except EOFError:
        return 0
    _say(f"{READY}{address}")
    # Only now: at low priority the imports alone take many seconds of a busy machine.
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    ticking = threading.Event()
    ticker = threading.Thread(target=_tick, args=(analyst, ticking), daemon=True)
    ticker.start()
    threading.Thread(target=_hear, args=(analyst, int(sys.argv[1])), daemon=True).start()
    try:
        while True:
            for message in pickle.load(pipe):  # noqa: S301
                analyst.take(message)
    except (EOFError, pickle.UnpicklingError):
        pass
    finally:
        ticking.set()
        ticker.join(2)
        analyst.close()
    return 0


def _hear(analyst: Analyst, descriptor: int) -> None:
    with os.fdopen(descriptor, "rb") as pipe, contextlib.suppress(EOFError, pickle.UnpicklingError):
        while True:
            analyst.hear(pickle.load(pipe))  # noqa: S301


def _tick(analyst: Analyst, stopped: threading.Event) -> None:
    while not stopped.wait(0.5):
        analyst.tick()


def _say(line: str) -> None:
    sys.stdout.write(line.replace("\n", " ") + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
