"""Typed access to a model's `config.json`, whatever family wrote it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from promptlint_core.errors import PromptlintError

_LARGEST = 1 << 40
_LANGUAGE_PARTS = ("text_config", "llm_config", "language_config", "language_model_config", "thinker_config")
_OUTER_FIELDS = ("quantization_config", "torch_dtype", "dtype", "tie_word_embeddings", "model_type", "_name_or_path")


@dataclass(frozen=True, slots=True)
class Fields:
    """Values of a config by any of several names; what is there but of the wrong type is refused with a sentence."""

    values: Mapping[str, object]

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) is not None

    @property
    def model_type(self) -> str:
        value = self.values.get("model_type")
        return value.lower().replace("-", "_") if isinstance(value, str) else ""

    def integer(self, *names: str) -> int | None:
        """The first of `names` that has a single value. Raises PromptlintError when it is no whole number ≥ 0."""
        for name in names:
            value = self.values.get(name)
            if value is None or isinstance(value, list | tuple | Mapping):  # one value a layer is read elsewhere
                continue
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
                raise PromptlintError(f"the model's config is damaged: {name} is {_short(value)}, not a whole number")
            return value
        return None

    def positive(self, *names: str) -> int | None:
        """As `integer`; 0 counts as not stated."""
        return next((value for name in names if (value := self.integer(name))), None)

    def need(self, *names: str) -> int:
        """As `positive`, but it must be there. Raises PromptlintError naming the first name."""
        value = self.positive(*names)
        if value is None:
            raise PromptlintError(
                f"the model's config has no {' or '.join(names[:2])}: is it the config of a language model?"
            )
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        value = self.values.get(name)
        return default if value is None else bool(value)

    def text(self, *names: str) -> str | None:
        for name in names:
            value = self.values.get(name)
            if isinstance(value, str):
                return value
        return None

    def items(self, *names: str) -> Sequence[object] | None:
        """The first of `names` that is a list with entries."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, list | tuple) and value:
                return value
        return None

    def part(self, name: str) -> Fields:
        """A nested mapping, empty when it is not there."""
        value = self.values.get(name)
        return Fields(value if isinstance(value, Mapping) else {})


def language_fields(config: Mapping[str, object]) -> Fields:
    """The part of a config that describes the decoder: multimodal configs nest it."""
    values: Mapping[str, object] = config
    for _ in _LANGUAGE_PARTS:
        inner = next((values[name] for name in _LANGUAGE_PARTS if isinstance(values.get(name), Mapping)), None)
        if not isinstance(inner, Mapping):
            break
        outer = {name: values[name] for name in _OUTER_FIELDS if values.get(name) is not None}
        values = {**outer, **inner}
    return Fields(values)


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}…"
