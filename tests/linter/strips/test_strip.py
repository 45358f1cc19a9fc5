"""A prompt as a strip to scale."""

from __future__ import annotations

import click

from promptlint_core.cadence import Cadence, Origin
from promptlint_core.prompt import Call, Marker, Part, Place, Prompt, Segment
from promptlint_linter.strips.show import LETTERS, render_strips
from promptlint_linter.strips.strip import lay_out

RULES = "You are the help desk of a library. Answer in two sentences and name the shelf of every book. " * 6


def text(content: str, **more: object) -> Segment:
    return Segment(content, Cadence.FIXED, **more)  # type: ignore[arg-type]


def value(cadence: Cadence | None, expression: str, origin: Origin = Origin.UNKNOWN) -> Segment:
    return Segment(None, cadence, origin, place=Place("a.py", 7), expression=expression)


PROMPT = Prompt(
    (
        text("Hello "),
        value(Cadence.USER, "user.name"),
        text(RULES, marker=Marker()),
        value(Cadence.CALL, "now()", Origin.CLOCK),
        Segment(None, Cadence.APPEND, Origin.HISTORY, part=Part.MESSAGES, expression="history"),
    ),
    Place("a.py", 9),
    "ask",
)
CALL = Call("openai.chat.completions.create", "openai", Place("a.py", 11), prompt=PROMPT)


def test_each_band_gets_its_share_of_the_width() -> None:
    strip = lay_out(PROMPT, 80)

    assert sum(band.columns for band in strip.bands) == 80
    assert [band.cadence for band in strip.bands] == [
        Cadence.FIXED,
        Cadence.USER,
        Cadence.FIXED,
        Cadence.CALL,
        Cadence.APPEND,
    ]
    assert strip.bands[2].columns == max(band.columns for band in strip.bands if band.cadence is not Cadence.APPEND)


def test_neighbours_of_literal_text_are_one_band() -> None:
    strip = lay_out(Prompt((text("a "), text("b "), value(None, "x"), value(None, "y"))), 40)

    assert [len(band.segments) for band in strip.bands] == [2, 1, 1]


def test_a_cache_stops_at_the_first_user_and_at_the_first_change() -> None:
    strip = lay_out(PROMPT, 80)

    assert [(stop.band, stop.who) for stop in strip.stops] == [
        (1, "from one user or session to the next"),
        (3, "from one request to the next"),
    ]
    assert strip.stops[0].tokens_ahead == strip.bands[0].tokens


def test_behind_a_change_with_every_request_users_do_not_matter() -> None:
    strip = lay_out(Prompt((value(Cadence.CALL, "now()"), value(Cadence.USER, "user"), text(RULES))), 80)

    assert [stop.band for stop in strip.stops] == [0]


def test_a_prompt_of_more_bands_than_columns_still_shows_each() -> None:
    many = tuple(value(Cadence.TURN if n % 2 else Cadence.USER, f"v{n}") for n in range(60))

    assert {band.columns for band in lay_out(Prompt(many), 20).bands} == {1}


def test_a_prompt_of_nothing_has_no_bands() -> None:
    assert lay_out(Prompt(()), 20).bands == ()


def test_the_strip_can_be_read_without_colours() -> None:
    lines = click.unstyle(render_strips([(PROMPT, CALL)], 60)).split("\n")

    assert lines[0].startswith("a.py:9 ask: ")
    assert lines[0].endswith("sent by openai.chat.completions.create")
    assert set(lines[1].strip()) == {"f", "u", "C", "a"}
    assert lines[2].index("^") == lines[1].index("u")
    assert lines[3].index("^") == lines[1].index("C")
    assert "[cache breakpoint]" in lines[6]
    assert lines[-1].split() == ["f", "fixed", "u", "user", "a", "append", "C", "call"]


def test_every_cadence_has_a_letter_of_its_own() -> None:
    assert len(set(LETTERS.values())) == len(LETTERS) == len(Cadence) + 1


def test_text_of_the_source_cannot_command_the_terminal() -> None:
    shown = render_strips([(Prompt((text("\x1b[2J evil"),)), None)], 40)

    assert "\x1b[2J" not in click.unstyle(shown)
