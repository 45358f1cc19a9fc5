"""Keyed hashes: equal in all processes of one store, meaningless outside of it."""

from __future__ import annotations

import contextlib
import os
import secrets
from hashlib import blake2b
from pathlib import Path

from promptlint_core.errors import PromptlintError
from promptlint_proxy.settings import ProxySettings

KEY_FILE = "hash.key"
KEY_BYTES = 32


def new_key() -> bytes:
    return secrets.token_bytes(KEY_BYTES)


def load_key(store: Path, name: str = KEY_FILE) -> bytes:
    """The key in a file of a folder, made on first use with mode 0600; processes that race for it agree on one.

    Raises PromptlintError when the file is there and is no key, or cannot be made.
    """
    path = store / name
    try:
        store.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _make_key(path)
        key = path.read_bytes()
    except OSError as error:
        raise PromptlintError(f"the key file {path} cannot be read or made: {error.strerror}") from None
    if len(key) != KEY_BYTES:
        raise PromptlintError(f"{path} is no key of {KEY_BYTES} bytes; move it away to start with a new one")
    return key


def _make_key(path: Path) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(new_key())
    # A link fails when another process was faster, where a rename would replace its key.
    with contextlib.suppress(FileExistsError):
        os.link(beside, path)
    beside.unlink()


def hash_key(settings: ProxySettings) -> bytes:
    """The key of all hashes: of the named file, of the store, or one that dies with the process."""
    if settings.hash_key_file is not None:
        return load_key(settings.hash_key_file.parent, settings.hash_key_file.name)
    return load_key(settings.store) if settings.store is not None else new_key()


def keyed_hash(key: bytes, *parts: str) -> str:
    """16 hex digits that stand for a text in records and labels.

    >>> keyed_hash(b"k", "a", "b") != keyed_hash(b"k", "ab")
    True
    """
    digest = blake2b(key=key[:64], digest_size=8)
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()
