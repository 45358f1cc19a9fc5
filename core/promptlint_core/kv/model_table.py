"""Names, files and folders to geometries: the table of public models, `config.json`, GGUF."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path

from rapidfuzz import fuzz, process

from promptlint_core.errors import PromptlintError
from promptlint_core.kv.config import geometry_from_config
from promptlint_core.kv.geometry import Geometry, Parameters
from promptlint_core.kv.gguf_header import geometry_from_gguf
from promptlint_core.kv.parameters import quantised_weights_bytes

__all__ = ["find_geometry", "geometry_of", "known_models"]

_FIELD_OF_COLUMN = {
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "v_head_dim": "v_head_dim",
    "kv_lora_rank": "kv_lora_rank",
    "qk_rope_head_dim": "qk_rope_head_dim",
    "window": "sliding_window",
    "vocab": "vocab_size",
    "max_position": "max_position_embeddings",
}
_QUANTISED_SUFFIX = re.compile(r"[-_ ](fp8|awq|gptq|int4|int8|nvfp4|mxfp4|w4a16|w8a8|gguf)\b.*$")
_VARIANT = re.compile(r"[-_ ](instruct|chat|it|hf|base|pt|thinking|text|preview|latest|bf16|fp16|v\d+:\d+)(?=$|[-_ ])")
_DATE = re.compile(r"[-_ ](\d{4}|\d{6}|\d{8})$")
_MAKER = re.compile(r"^(meta|nvidia|mistralai|qwen|google|microsoft|deepseek-ai|openai|cohereforai|nousresearch)[-_ ]")
_NEAR_ENOUGH = 55


def known_models() -> tuple[str, ...]:
    """Names in the shipped table, in its order."""
    return tuple(_rows())


def geometry_of(name_or_path: str) -> Geometry:
    """The geometry of a table name, a `config.json`, a folder that holds one, or a `.gguf` file.

    Where weight files lie beside the config, `weights_bytes` is what they really hold.

    Raises:
        PromptlintError: unknown name (the sentence offers the nearest ones), or an unreadable or damaged file.
    """
    path = Path(name_or_path)
    if not path.exists():
        found = _find(name_or_path)
        if found is not None:
            return found
    if path.is_dir():
        return _from_folder(path)
    if path.is_file():
        return _from_file(path)
    if path.suffix.lower() in (".json", ".gguf") or name_or_path.startswith(("/", "./", "../", "~")):
        raise PromptlintError(f"{name_or_path}: no such file or folder")
    near = process.extract(name_or_path, known_models(), scorer=fuzz.WRatio, limit=3, score_cutoff=_NEAR_ENOUGH)
    hint = f"; the nearest known: {', '.join(name for name, _, _ in near)}" if near else ""
    raise PromptlintError(f"unknown model {name_or_path!r}{hint} (a config.json, its folder or a .gguf file works too)")


def find_geometry(name: str) -> Geometry | None:
    """The geometry of a model by name alone, as traffic or configuration writes it; None: not in the table.

    The owner (`meta-llama/`), variants (`-Instruct`, dates) and quantisation suffixes are seen through; a
    quantisation suffix sets the weights, not the cache.
    """
    try:
        return _find(name)
    except PromptlintError:
        return None


@cache
def _find(name: str) -> Geometry | None:
    plain, quantisation = _normalised(name)
    row_name = _names().get(plain)
    if row_name is None:
        return None
    geometry = _from_row(_rows()[row_name])
    if quantisation:
        return replace(geometry, weights_bytes=quantised_weights_bytes(geometry, quantisation))
    return geometry


def _normalised(name: str) -> tuple[str, str]:
    """(name without owner, variant and quantisation, in lower case; the quantisation)."""
    plain = name.strip().lower().rsplit("/", 1)[-1]
    plain = plain.removesuffix(".gguf")
    quantisation = ""
    if match := _QUANTISED_SUFFIX.search(plain):
        quantisation, plain = match[1], plain[: match.start()]
    plain = _MAKER.sub("", plain)
    before = None
    while before != plain:
        before = plain
        plain = _DATE.sub("", _VARIANT.sub("", plain))
    return re.sub(r"[-_ ]+", "-", plain).replace("llama3", "llama-3").replace("llama2", "llama-2"), quantisation


@cache
def _rows() -> dict[str, dict[str, str]]:
    text = resources.files("promptlint_core.kv").joinpath("models.tsv").read_text(encoding="utf-8")
    reader = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return {row["model"]: row for row in reader}


@cache
def _names() -> dict[str, str]:
    names: dict[str, str] = {}
    for name in _rows():
        names.setdefault(_normalised(name)[0], name)
        names.setdefault(_normalised(re.sub(r"\s*\(.*\)$", "", name))[0], name)
    return names


@cache
def row_config(name: str) -> Mapping[str, object]:
    """The row of one model of the table as a `config.json`: its columns under their Hugging Face names."""
    row = _rows()[name]
    config: dict[str, object] = {"model_type": row["model_type"], "torch_dtype": row["dtype"] or None}
    config |= {field: int(row[column]) for column, field in _FIELD_OF_COLUMN.items() if row[column]}
    config |= json.loads(row["config"]) if row["config"] else {}
    return config


def _from_row(row: Mapping[str, str]) -> Geometry:
    try:
        geometry = geometry_from_config(row_config(row["model"]), name=row["model"], source=row["source"])
    except PromptlintError:
        raise PromptlintError(
            f"{row['model']} is in the table, but its shape is not known completely ({row['notes']}); "
            "give its config.json"
        ) from None
    if geometry.parameters is None and row["params_total_B"]:
        total = int(float(row["params_total_B"]) * 1e9)
        active = int(float(row["params_active_B"]) * 1e9) if row["params_active_B"] else total
        embedding = (geometry.vocab or 0) * (geometry.hidden or 0)
        parameters = Parameters(total, active, embedding, embedding)
        geometry = replace(geometry, parameters=parameters, weights_bytes=total * geometry.element_bytes)
    return geometry


def _from_folder(path: Path) -> Geometry:
    config = path / "config.json"
    if config.is_file():
        return replace(_from_file(config), weights_bytes=_weight_files_bytes(path) or _from_file(config).weights_bytes)
    models = sorted(path.glob("*.gguf"))
    if models:
        return _from_file(models[0])
    raise PromptlintError(f"{path}: neither a config.json nor a .gguf file in this folder")


def _from_file(path: Path) -> Geometry:
    try:
        with path.open("rb") as file:
            head = file.read(4)
        if head == b"GGUF":
            return geometry_from_gguf(path)
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "neither JSON text nor a GGUF file"
        raise PromptlintError(f"{path}: cannot be read: {reason}") from None
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PromptlintError(f"{path}: not JSON: {error}") from None
    if not isinstance(config, dict):
        raise PromptlintError(f"{path}: a model's config is a JSON object, this is {type(config).__name__}")
    name = path.parent.name if path.name == "config.json" else path.stem
    stated = config.get("_name_or_path")
    name = stated if isinstance(stated, str) and stated else name
    try:
        return geometry_from_config(config, name=name or "model", source=str(path))
    except PromptlintError as error:
        raise PromptlintError(f"{path}: {error}") from None


def _weight_files_bytes(folder: Path) -> int | None:
    """Bytes of the tensors, from the safetensors index or the sizes of the files; None: no weights there."""
    index = folder / "model.safetensors.index.json"
    try:
        total = json.loads(index.read_text(encoding="utf-8"))["metadata"]["total_size"]
        return int(total)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return sum(file.stat().st_size for file in folder.glob("*.safetensors")) or None
