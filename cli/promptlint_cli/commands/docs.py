"""`promptlint docs`: write the generated pages of the documentation."""

from __future__ import annotations

from pathlib import Path

import click

from promptlint_core import exit_status


@click.command("docs")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit with 1 when a page is stale.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("docs"), help="The documentation's folder.")
def command(only_check: bool, folder: Path) -> int:
    """Write the pages of the rules, their table and the command reference."""
    from promptlint_cli.generated_docs import pages
    from promptlint_core.errors import PromptlintError

    if not folder.is_dir():
        raise PromptlintError(f"no folder {folder}: run this at the top of a checkout, or name it with --folder")
    wanted = {folder / name: text for name, text in pages().items()}
    stale = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    left_over = [path for path in sorted((folder / "rules").glob("*.md")) if path not in wanted]
    if only_check:
        for path in (*stale, *left_over):
            click.echo(f"{path} is stale: run `make docs`", err=True)
        return exit_status.FINDINGS if stale or left_over else exit_status.CLEAN
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
    for path in left_over:
        path.unlink()
    click.echo(f"{len(wanted)} pages, {len(stale)} written, {len(left_over)} removed")
    return exit_status.CLEAN
