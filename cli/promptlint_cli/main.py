"""The entry point: picks the command and turns errors into sentences and exit status."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import click

from promptlint_cli.commands import COMMANDS
from promptlint_core import __version__, exit_status
from promptlint_core.errors import PromptlintError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """Imports a command's module when it is asked for; a first word that names no command is a path to check."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"promptlint_cli.commands.{cmd_name.replace('-', '_')}")
        return cast("click.Command", module.command)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = next((arg for arg in args if not arg.startswith("-") or arg == "-"), None)
        asks_group = {"--help", "-h", "--version"} & set(args)
        if (first is None and args and not asks_group) or (first is not None and first not in COMMANDS):
            _refuse_misspelt_command(first)
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [*super().shell_complete(ctx, incomplete), CompletionItem(incomplete, type="file")]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _refuse_misspelt_command(word: str | None) -> None:
    """A path that is not there and nearly names a command is hardly meant as a path."""
    if word is None or not word.replace("-", "").isalpha() or os.path.lexists(word):
        return
    from promptlint_linter.nearest import nearest

    if meant := nearest(word, COMMANDS):
        raise click.UsageError(f"{word} is no command and no file; did you mean {meant}?")


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(__version__, message="promptlint %(version)s")
def cli() -> None:
    """Find what breaks the prefix cache of LLM inference, in code and in traffic, and say what it costs.

    `promptlint src/` is short for `promptlint check src/`; a path named like a command is written `./path`.
    """


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line; 0 clean, 1 findings, 2 usage or configuration error, 3 internal error."""
    try:
        status = cli.main(list(argv) if argv is not None else None, prog_name="promptlint", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(exit_status.USAGE_ERROR)
    except PromptlintError as error:
        click.echo(f"promptlint: {error}", err=True)
        sys.exit(exit_status.USAGE_ERROR)
    except (click.Abort, KeyboardInterrupt):
        click.echo("promptlint: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(exit_status.CLEAN)
    except Exception as error:
        if os.environ.get("PROMPTLINT_TRACEBACK"):
            raise
        click.echo(
            f"promptlint: internal error: {type(error).__name__}: {error} "
            "(set PROMPTLINT_TRACEBACK=1 to see where; please report it)",
            err=True,
        )
        sys.exit(exit_status.INTERNAL_ERROR)
    sys.exit(status if isinstance(status, int) else exit_status.CLEAN)
