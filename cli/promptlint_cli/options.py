"""Kinds of option values that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Words(click.ParamType):
    """Words separated by commas."""

    name = "words"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Split at commas; blanks do not count."""
        del param, ctx
        if isinstance(value, tuple):
            return value
        return tuple(word.strip() for word in str(value).split(",") if word.strip())


def flat(values: tuple[tuple[str, ...], ...]) -> tuple[str, ...] | None:
    """The words of an option that may be repeated, None when it was not given."""
    return tuple(word for words in values for word in words) or None


def words_option(name: str, text: str) -> Callable[[F], F]:
    """An option that takes words separated by commas and may be repeated."""
    return click.option(name, type=Words(), multiple=True, help=text)


def isolation_options(command: F) -> F:
    """`--isolated` and `--config`, for every command that reads the configuration."""
    command = click.option("--isolated", is_flag=True, help="Ignore configuration files.")(command)
    return click.option(
        "--config", "config_file", type=click.Path(), default=None, help="Read this configuration file instead."
    )(command)
