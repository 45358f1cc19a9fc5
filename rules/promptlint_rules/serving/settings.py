"""The literal settings of one engine, as the linter found them."""

from __future__ import annotations

from dataclasses import dataclass

from promptlint_core.prompt import Call, Place

_TRUE = frozenset(("true", "1", "yes", "on"))
_FALSE = frozenset(("false", "0", "no", "off"))


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    value: str
    place: Place

    @property
    def written(self) -> str:
        if self.is_on and self.name.startswith(("no_", "disable_")):
            return f"--{self.name.replace('_', '-')}"
        return f"{self.name}={self.value}"

    @property
    def is_on(self) -> bool:
        return self._plain in _TRUE

    @property
    def is_off(self) -> bool:
        return self._plain in _FALSE

    @property
    def number(self) -> float | None:
        """The value as a number; None for anything else. `32k` and `32K` are 32,000 and 32,768, as vLLM reads them."""
        text = self._plain.replace("_", "")
        try:
            return float(text)
        except ValueError:
            pass
        factors = {"k": 1000, "m": 10**6, "g": 10**9}
        binary = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
        last = self.value.strip().strip("\"'")[-1:]
        factor = factors.get(last) or binary.get(last)
        try:
            return float(text[:-1]) * factor if factor else None
        except ValueError:
            return None

    @property
    def _plain(self) -> str:
        return self.value.strip().strip("\"'").lower()


def settings_of(call: Call) -> dict[str, Setting]:
    """By name; the last one written wins, as on a command line."""
    return {name: Setting(name, value, place) for name, value, place in call.switches}
