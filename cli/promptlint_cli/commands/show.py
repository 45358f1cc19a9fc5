"""`promptlint show`: the prompts found, as strips of segments."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from promptlint_core import exit_status


@click.command("show")
@click.argument("target", metavar="FILE[:FUNCTION]")
@click.option("--width", type=click.IntRange(20, 400), help="Columns of a strip; default: the terminal's.")
def command(target: str, width: int | None) -> int:
    """Show the prompts of FILE as strips to scale, with cadence, tokens and the place where a cache stops."""
    from promptlint_cli.terminal import tell, write
    from promptlint_core.errors import PromptlintError
    from promptlint_linter.check import read_file
    from promptlint_linter.config import load_config
    from promptlint_linter.strips.show import render_strips

    file, _, wanted = target.partition(":") if not Path(target).exists() else (target, "", "")
    config = load_config(Path(file))
    tell(config.notes)
    unit = read_file(Path(file), config)
    for problem in unit.problems:
        click.echo(f"{problem.place.path}:{problem.place.line}: {problem.message}", err=True)
    callers = [(call.prompt, call) for call in unit.calls if call.prompt is not None]
    prompts = [*unit.prompts, *(prompt for prompt, _ in callers if prompt not in unit.prompts)]
    chosen = [prompt for prompt in prompts if not wanted or wanted in (prompt.name, prompt.name.rsplit(".", 1)[-1])]
    if wanted and not chosen:
        names = sorted({prompt.name for prompt in prompts if prompt.name})
        raise PromptlintError(f"{file} has no prompt in {wanted!r}" + (f"; it has {', '.join(names)}" if names else ""))
    known = [prompt for prompt in chosen if any(segment.text for segment in prompt.segments)]
    columns = width or min(shutil.get_terminal_size((100, 24)).columns - 4, 160)
    with_calls = [
        (prompt, next((call for sent, call in callers if sent == prompt), None)) for prompt in known or chosen
    ]
    text = render_strips(with_calls, columns)
    if text or not unit.problems:
        write(text or f"no prompt found in {file}")
    return exit_status.FINDINGS if unit.problems else exit_status.CLEAN
