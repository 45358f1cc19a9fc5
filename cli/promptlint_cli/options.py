"""Kinds of option values that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Number(click.FloatRange):
    """A number between bounds. `nan` and `inf`, which pass through click's bounds, are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def split_words(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words of an option that may be repeated, each use several words with commas; None when it was not given."""
    del ctx, param
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip()) or None


def words_option(name: str, text: str) -> Callable[[F], F]:
    """An option that takes words separated by commas and may be repeated."""
    return click.option(name, multiple=True, metavar="WORDS", callback=split_words, help=text)


def isolation_options(command: F) -> F:
    """`--isolated` and `--config`, for every command that reads the configuration."""
    command = click.option("--isolated", is_flag=True, help="Ignore configuration files.")(command)
    return click.option(
        "--config", "config_file", type=click.Path(), default=None, help="Read this configuration file instead."
    )(command)
