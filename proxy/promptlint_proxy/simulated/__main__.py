"""`python -m promptlint_proxy.simulated`: serve the simulated upstream until it is interrupted."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from dataclasses import fields

from promptlint_proxy.simulated.server import SimulatedUpstream
from promptlint_proxy.simulated.settings import SimulatedSettings

_NUMBERS: dict[str, type[int | float | str]] = {"int": int, "float": float, "str": str}


def parser() -> argparse.ArgumentParser:
    """One option a setting."""
    made = argparse.ArgumentParser(prog="python -m promptlint_proxy.simulated", description=__doc__)
    made.add_argument("--host", default="127.0.0.1")
    made.add_argument("--port", type=int, default=8000)
    for setting in fields(SimulatedSettings):
        kind = str(setting.type)
        option = f"--{setting.name.replace('_', '-')}"
        if kind == "bool":
            made.add_argument(option, action=argparse.BooleanOptionalAction, default=setting.default)
        elif kind in _NUMBERS:
            made.add_argument(option, type=_NUMBERS[kind], default=setting.default)
    made.add_argument("--model", dest="models", action="append", default=None)
    return made


async def serve(host: str, port: int, settings: SimulatedSettings) -> None:
    upstream = SimulatedUpstream(settings)
    print(await upstream.start(host, port), flush=True)  # noqa: T201 the address is this program's output
    try:
        await asyncio.Event().wait()
    finally:
        await upstream.close()


def main() -> None:
    values = vars(parser().parse_args())
    host, port = values.pop("host"), values.pop("port")
    models = tuple(values.pop("models") or ("simulated",))
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(host, port, SimulatedSettings(**values, models=models)))


if __name__ == "__main__":
    main()
