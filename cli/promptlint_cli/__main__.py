"""`python -m promptlint_cli`."""

from promptlint_cli.main import main

main()
