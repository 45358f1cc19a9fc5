"""What a Jinja expression yields: a sequence of values, each with where it comes from and how often it changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.clock import Precision, strftime_precision
from promptlint_core.names import origin_of_name

LEXER = re.compile(
    r"""\s*(?:(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<number>\d+(?:\.\d+)?)
    |(?P<name>[A-Za-z_]\w*)|(?P<op>\*\*|//|[=!<>]=|[~+\-*/%|.,:()\[\]{}<>=]))""",
    re.VERBOSE | re.DOTALL,
)
MOST_DEPTH = 60

CLOCK_CALLS = frozenset(
    ("now", "utcnow", "today", "localtime", "gmtime", "get_current_time", "current_time", "time_ns")
)
RANDOM_CALLS = frozenset(
    (
        "uuid",
        "uuid1",
        "uuid4",
        "token_hex",
        "token_urlsafe",
        "randint",
        "random_string",
        "getrandbits",
        "nanoid",
        "ulid",
    )
)
SAMPLE_FILTERS = frozenset(("random", "shuffle", "sample", "choice"))
FORMAT_FILTERS = frozenset(("strftime", "date", "datetime", "datetimeformat", "dateformat", "format_datetime", "time"))
COUNTING_FILTERS = frozenset(("length", "count", "sum", "wordcount"))


@dataclass(frozen=True, slots=True)
class Value:
    """A run of text that an expression yields."""

    text: str | None = None
    origin: Origin = Origin.UNKNOWN
    cadence: Cadence | None = None
    evidence: Evidence = Evidence.NAMED
    expression: str = ""
    offset: int = 0
    """Where the value is read, in the file."""
    detail: str = ""

    @property
    def volatility(self) -> int:
        return -1 if self.cadence is None else int(self.cadence)


Values = tuple[Value, ...]


def literal(text: str, offset: int) -> Value:
    return Value(text, Origin.LITERAL, Cadence.FIXED, Evidence.PROVED, "", offset)


def clock(precision: Precision, expression: str, offset: int) -> Value:
    """A value read from the clock."""
    detail = f"to the {precision.unit}"
    return Value(None, Origin.CLOCK, precision.cadence, Evidence.PROVED, expression, offset, detail)


def evaluate(source: str, offset: int, known: Mapping[str, Values]) -> Values:
    """The values of an expression; what cannot be read is one unknown value."""
    reader = _Reader(source, offset, known)
    try:
        return reader.condition()
    except (_Unreadable, RecursionError):
        return (Value(expression=source.strip(), offset=offset),)


def assignments(source: str, offset: int, known: Mapping[str, Values]) -> tuple[tuple[str, Values], ...]:
    """The arguments of a call or the assignments of a `with`: `a=now(), b`; none where they cannot be read."""
    reader = _Reader(f"{source})", offset, known)
    try:
        return reader.arguments()
    except (_Unreadable, RecursionError):
        return ()


def _last_text(given: tuple[tuple[str, Values], ...]) -> str:
    texts = [value.text for _, values in given for value in values if value.text is not None]
    return texts[-1] if texts else ""


def _volatile(given: tuple[tuple[str, Values], ...]) -> Values:
    """What is handed to a function or filter and comes out again, as far as it changes."""
    return tuple(value for _, values in given for value in values if value.cadence is not None and value.text is None)


class _Unreadable(Exception):  # noqa: N818 - never leaves this module
    pass


@dataclass(frozen=True, slots=True)
class _Lexeme:
    kind: str
    text: str
    start: int
    end: int


class _Reader:
    """Recursive descent over the part of Jinja's expressions that decides what text comes out."""

    def __init__(self, source: str, offset: int, known: Mapping[str, Values]) -> None:
        self.source, self.offset, self.known = source, offset, known
        self.lexemes = [
            _Lexeme(match.lastgroup or "", match[match.lastgroup or 0], match.start(match.lastgroup or 0), match.end())
            for match in LEXER.finditer(source)
        ]
        self.at = 0
        self.depth = 0

    def peek(self) -> str:
        return self.lexemes[self.at].text if self.at < len(self.lexemes) else ""

    def take(self, *texts: str) -> bool:
        found = self.at < len(self.lexemes) and self.lexemes[self.at].text in texts
        if found and self.lexemes[self.at].kind != "string":
            self.at += 1
            return True
        return False

    def condition(self) -> Values:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise _Unreadable
        values = self.either()
        while self.take("if"):
            self.either()
            if self.take("else"):
                values += self.condition()
        self.depth -= 1
        return values

    def either(self) -> Values:
        values = self.compared()
        while self.take("or"):
            values += self.compared()
        return values

    def compared(self) -> Values:
        self.take("not")
        values = self.joined()
        while self.peek() in ("and", "==", "!=", "<", ">", "<=", ">=", "in", "not", "is"):
            self.at += 1
            self.take("not")
            values = self.joined() and (Value(),)
        return values

    def joined(self) -> Values:
        values = self.chained()
        while self.peek() in ("~", "+", "-", "*", "/", "//", "%", "**") and self.at < len(self.lexemes):
            self.at += 1
            values += self.chained()
        return values

    def chained(self) -> Values:
        self.take("-")
        if self.at >= len(self.lexemes):
            raise _Unreadable
        start = self.lexemes[self.at]
        values, path = self.primary(start)
        is_name = bool(path)
        while True:
            if self.take("."):
                path.append(self.peek())
                self.at += 1
                values = self.named(path, start) if is_name else values
            elif self.take("["):
                self.skip_to("]")
            elif self.take("("):
                values = self.called(path, start, values)
                is_name = False
            elif self.take("|"):
                values = self.filtered(start, values)
            else:
                return values

    def primary(self, start: _Lexeme) -> tuple[Values, list[str]]:
        self.at += 1
        if start.kind == "string":
            text = re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), start.text[1:-1])
            return (literal(text, self.offset + start.start),), []
        if start.kind == "number":
            return (literal(start.text, self.offset + start.start),), []
        if start.text == "(":
            values = self.condition()
            self.take(")")
            return values, []
        if start.text in "[{":
            self.skip_to("]" if start.text == "[" else "}")
            return (Value(expression=self.source_of(start), offset=self.offset + start.start),), []
        if start.kind != "name":
            raise _Unreadable
        path = [start.text]
        return self.named(path, start), path

    def named(self, path: list[str], start: _Lexeme) -> Values:
        """The value of a name or an attribute: followed where it was set, else by what its name says."""
        for end in range(len(path), 0, -1):
            value = self.known.get(".".join(path[:end]))
            if value is not None:
                return value
        if path[0] in ("loop", "none", "true", "false", "None", "True", "False", "namespace"):
            return (Value(expression=path[0]),)
        meaning = origin_of_name(".".join(path))
        if path == ["date_string"]:
            meaning = (Origin.CLOCK, Cadence.DAY)  # what inference servers pass to chat templates
        origin, cadence = meaning or (Origin.UNKNOWN, None)
        return (Value(None, origin, cadence, Evidence.NAMED, self.source_of(start), self.offset + start.start),)

    def called(self, path: list[str], start: _Lexeme, before: Values) -> Values:
        given = self.arguments()
        pattern = _last_text(given)
        name = path[-1] if path else ""
        source, offset = self.source_of(start), self.offset + start.start
        if name == "strftime_now":
            return (clock(strftime_precision(pattern), source, offset),)
        if name in ("strftime", "format", "isoformat", "date") and any(v.origin is Origin.CLOCK for v in before):
            unit = {"isoformat": Precision("second"), "date": Precision("day")}.get(name)
            return (clock(unit or strftime_precision(pattern), source, before[0].offset),)
        if (name in CLOCK_CALLS or path in (["time", "time"], ["time"])) and path[0] not in self.known:
            precision = Precision("day" if name == "today" else "second")
            return (clock(strftime_precision(pattern) if "%" in pattern else precision, source, offset),)
        if name in RANDOM_CALLS:
            return (Value(None, Origin.RANDOM, Cadence.CALL, Evidence.PROVED, source, offset, name),)
        own = tuple(replace(value, expression=source) if value.text is None else value for value in before)
        return own + _volatile(given)

    def filtered(self, start: _Lexeme, before: Values) -> Values:
        name = self.peek()
        self.at += 1
        given = self.arguments() if self.take("(") else ()
        pattern, offset = _last_text(given), self.offset + start.start
        if name in SAMPLE_FILTERS:
            is_number = start.text == "range"
            origin = Origin.RANDOM if is_number else Origin.SAMPLE
            return (Value(None, origin, Cadence.CALL, Evidence.PROVED, self.source_of(start), offset, name),)
        if name in COUNTING_FILTERS:
            return (Value(expression=self.source_of(start), offset=offset),)
        if name in FORMAT_FILTERS and "%" in pattern:
            precision = strftime_precision(pattern)
            return tuple(
                replace(value, cadence=precision.cadence, detail=f"to the {precision.unit}")
                if value.origin is Origin.CLOCK
                else value
                for value in before
            )
        return before + _volatile(given)

    def arguments(self) -> tuple[tuple[str, Values], ...]:
        """Name, empty without one, and values of each argument up to the closing parenthesis, which is taken."""
        given: list[tuple[str, Values]] = []
        while not self.take(")"):
            name = ""
            if self.at + 1 < len(self.lexemes) and self.lexemes[self.at + 1].text == "=":
                name = self.peek()
                self.at += 2
            given.append((name, self.condition()))
            if not self.take(",") and self.peek() != ")":
                raise _Unreadable
        return tuple(given)

    def skip_to(self, closing: str) -> None:
        depth = 1
        opening = {")": "(", "]": "[", "}": "{"}[closing]
        while self.at < len(self.lexemes):
            lexeme = self.lexemes[self.at]
            self.at += 1
            if lexeme.kind == "op":
                depth += (lexeme.text == opening) - (lexeme.text == closing)
                if depth == 0:
                    return
        raise _Unreadable

    def source_of(self, start: _Lexeme) -> str:
        end = self.lexemes[min(self.at, len(self.lexemes)) - 1].end
        return " ".join(self.source[start.start : end].split())
