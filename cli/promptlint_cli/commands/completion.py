"""`promptlint completion`: the completion script of a shell."""

from __future__ import annotations

import click

from promptlint_core import exit_status

PLACES = {
    "bash": 'eval "$(promptlint completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(promptlint completion zsh)" in ~/.zshrc',
    "fish": "promptlint completion fish > ~/.config/fish/completions/promptlint.fish",
}


@click.command("completion", epilog="\b\n" + "\n".join(PLACES.values()))
@click.argument("shell", type=click.Choice(sorted(PLACES)))
def command(shell: str) -> int:
    """Print the completion script of SHELL."""
    from click.shell_completion import get_completion_class

    from promptlint_cli.main import cli

    completion = get_completion_class(shell)
    assert completion is not None
    click.echo(completion(cli, {}, "promptlint", "_PROMPTLINT_COMPLETE").source())
    return exit_status.CLEAN
