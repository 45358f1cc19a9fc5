"""Engine settings in YAML (compose, Kubernetes, Helm, engine configs), shell scripts and Dockerfiles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from promptlint_core.prompt import Call
from promptlint_linter.sources.lines import Lines
from promptlint_linter.sources.serving_facts import (
    TELLING,
    Fact,
    Word,
    engine_call,
    facts_of_words,
    gpu_in,
    is_literal,
    mentions_engine,
    setting_name,
)
from promptlint_linter.sources.unit import SourceFile, SourceUnit

_MOST_CHARS = 1_000_000
_MOST_DEPTH = 60
_WORD = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^']*'|[^\s\"']+(?:=(?:\"[^\"]*\"|'[^']*'))?")
_LAUNCH = re.compile(r"\bvllm\b|sglang|api_server|launch_server|trtllm-serve|llama-server|text-generation-launcher")
_SEPARATE = re.compile(r"&&|\|\||[;|&]")
_SLURM_GPU = re.compile(r"gpu:([a-zA-Z0-9_.-]+?)(?::\d+)?(?=\s|$)")
_GPU_KEY = re.compile(r"gpu|accelerator", re.IGNORECASE)
_TRAINING = re.compile(r"rollout|trainer|colocate|hybrid_engine|actor|critic|grpo|ppo", re.IGNORECASE)
_FRACTION = re.compile(r"gpu[-_.]?(?:fraction|shares?|mem(?:ory)?[-_]?percent)|/mig-|vgpu|shared[-_]gpu", re.IGNORECASE)
_SMALL_MODEL = re.compile(r"embed|rerank|\bbge\b|\be5\b|minilm|reward", re.IGNORECASE)
_COMMAND_KEYS = frozenset(("command", "args", "entrypoint", "cmd", "extraargs", "extra_args", "runtimeargs"))


def read(source: SourceFile) -> SourceUnit:
    """The engines of a shell script or Dockerfile."""
    return SourceUnit(source.path, calls=calls_of(source))


def calls_of(source: SourceFile) -> tuple[Call, ...]:
    """One call of kind `serving` for every engine that a file configures; nothing for any other file."""
    if len(source.text) > _MOST_CHARS or not mentions_engine(source.text):
        return ()
    if source.path.lower().endswith((".yaml", ".yml", ".json")):
        try:
            engines = list(_engines_of_yaml(source.text))
        except (yaml.YAMLError, RecursionError, ValueError):
            engines = [_Engine(facts_of_words(_words_of_template(source.text)))]  # a Helm template: holes break YAML
    elif _is_dockerfile(source.path):
        engines = [_Engine([fact for line in _commands(source.text) for fact in facts_of_words(line)])]
    else:
        engines = [_Engine(facts_of_words(line), _slurm_gpu(source.text)) for line in _commands(source.text)]
    engines = [engine for engine in engines if any(fact.name in TELLING for fact in engine.facts)]
    lines = Lines(source.path, source.text)
    found = []
    for engine in engines:
        shared = _shared(engine, engines, source.text)
        call = engine_call(engine.facts, lines.place, gpu=engine.gpu, shared=shared)
        if call is not None:
            found.append(call)
    return tuple(found)


@dataclass(slots=True)
class _Engine:
    facts: list[Fact] = field(default_factory=list)
    gpu: str | None = None
    training: bool = False


def _shared(engine: _Engine, engines: list[_Engine], text: str) -> str | None:
    """Why this engine shares its GPU, as far as the file tells."""
    if sum(1 for other in engines if any(fact.name == "gpu_memory_utilization" for fact in other.facts)) > 1:
        return "several engines in one file"
    if engine.training:
        return "training beside it"
    if _FRACTION.search(text):
        return "a fraction of a GPU"
    models = " ".join(fact.value for fact in engine.facts if fact.name == "model")
    return "a small model" if _SMALL_MODEL.search(models) else None


def _is_dockerfile(path: str) -> bool:
    name = path.rsplit("/", 1)[-1].lower()
    return name.startswith(("dockerfile", "containerfile")) or name.endswith((".dockerfile", ".containerfile"))


def _commands(text: str) -> Iterator[list[Word]]:
    """Commands of a script as words: comments left out, lines joined over a backslash, split at `&&`, `;` and `|`."""
    words: list[Word] = []
    continues = False
    offset = 0
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped.startswith("#"):
            offset += len(line) + 1
            continue  # a comment inside a continued command does not end it
        if not continues and words:
            yield from _split(words)
            words = []
        continues = stripped.endswith("\\")
        words += _words_of(line, offset)
        offset += len(line) + 1
    if words:
        yield from _split(words)


def _words_of(line: str, offset: int) -> list[Word]:
    words: list[Word] = []
    for match in _WORD.finditer(line):
        raw = match[0]
        if raw.startswith("#"):
            break
        if raw == "\\":
            continue
        text = raw.strip("[],").strip("\"'")
        if " " in text and _LAUNCH.search(text) and not _says_only(words):
            words += _words_of(text, offset + match.start() + raw.find(text))
        elif text:
            words.append(Word(text, offset + match.start(), offset + match.end()))
    return words


def _says_only(words: list[Word]) -> bool:
    return bool(words) and words[0].text in ("echo", "printf", "log", "info", "die", "warn", "LABEL", "RUN")


def _split(words: list[Word]) -> Iterator[list[Word]]:
    command: list[Word] = []
    for word in words:
        if _SEPARATE.fullmatch(word.text):
            yield from ([command] if command and not _says_only(command[:1]) else [])
            command = []
        else:
            command.append(word)
    if command and command[0].text not in ("echo", "printf"):
        yield command


def _slurm_gpu(text: str) -> str | None:
    match = _SLURM_GPU.search(text)
    return gpu_in(match[1]) if match else None


def _words_of_template(text: str) -> list[Word]:
    """Words of YAML that cannot be parsed, without the dashes of its lists."""
    words: list[Word] = []
    offset = 0
    for line in text.split("\n"):
        if not line.lstrip().startswith("#"):
            words += [word for word in _words_of(line, offset) if word.text != "-"]
        offset += len(line) + 1
    return words


def _engines_of_yaml(text: str) -> Iterator[_Engine]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for document in yaml.compose_all(_without_tabs(text), Loader=loader):
        reader = _YamlReader(text)
        reader.walk(document, reader.root, "", 0)
        for engine in reader.engines:
            engine.gpu = engine.gpu or reader.gpu
            yield engine


def _without_tabs(text: str) -> str:
    return re.sub(r"^\t+", lambda match: " " * len(match[0]), text, flags=re.MULTILINE)


class _YamlReader:
    """Collects settings per engine: each item of a list and each service of a compose file is an engine of its own."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = _Engine()
        self.engines = [self.root]
        self.gpu: str | None = None

    def walk(self, node: yaml.Node | None, engine: _Engine, key: str, depth: int) -> None:
        if node is None or depth > _MOST_DEPTH:
            return
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                if isinstance(name, yaml.ScalarNode):
                    self._entry(name, value, engine, key, depth)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                own = self._new(engine) if isinstance(item, yaml.MappingNode) else engine
                self.walk(item, own, key, depth + 1)
        elif isinstance(node, yaml.ScalarNode) and _GPU_KEY.search(key):
            self.gpu = self.gpu or gpu_in(node.value)

    def _entry(self, name: yaml.ScalarNode, value: yaml.Node, engine: _Engine, parent: str, depth: int) -> None:
        key = str(name.value)
        if _TRAINING.search(key):
            engine.training = True
        if key.replace("-", "_").lower() in _COMMAND_KEYS:
            engine.facts += facts_of_words(self._command(value))
            return
        if isinstance(value, yaml.ScalarNode):
            self._scalar(name, value, engine, key)
            return
        is_service = isinstance(value, yaml.MappingNode) and parent == "services"
        self.walk(value, self._new(engine) if is_service else engine, key, depth + 1)

    def _scalar(self, name: yaml.ScalarNode, value: yaml.ScalarNode, engine: _Engine, key: str) -> None:
        written = str(value.value)
        setting = setting_name(key)
        if setting is not None and is_literal(written):
            engine.facts.append(Fact(setting, written, name.start_mark.index, value.end_mark.index))
        elif _GPU_KEY.search(key):
            gpu = gpu_in(written)
            engine.gpu, self.gpu = engine.gpu or gpu, self.gpu or gpu

    def _command(self, node: yaml.Node) -> list[Word]:
        """The words of a command, written as a list, a string or a block."""
        if isinstance(node, yaml.SequenceNode):
            return [word for item in node.value for word in self._command(item)]
        if not isinstance(node, yaml.ScalarNode):
            return []
        start, end = node.start_mark.index, node.end_mark.index
        if " " not in node.value and "\n" not in node.value:
            return [Word(node.value, start, end)]
        words = []
        at = start
        for word in _words_of(
            " ".join(line for line in node.value.split("\n") if not line.lstrip().startswith("#")), 0
        ):
            found = self.text.find(word.text, at, end)
            at = found if found >= 0 else at
            words.append(Word(word.text, at, at + len(word.text)))
            at += len(word.text) if found >= 0 else 0
        return words

    def _new(self, outer: _Engine) -> _Engine:
        """An engine inside another: it knows what was said of both."""
        engine = _Engine(gpu=outer.gpu, training=outer.training)
        self.engines.append(engine)
        return engine
