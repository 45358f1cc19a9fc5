"""What stands at a path, as far as we may look: in a folder that we may not enter there is nothing.

The methods of `pathlib` raise PermissionError there.
"""

from __future__ import annotations

import os
from pathlib import Path


def is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112


def exists(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110
