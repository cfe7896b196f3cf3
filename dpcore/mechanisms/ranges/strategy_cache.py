"""Cache on disk of strategies with a long search, keyed by public sizes and nothing else.

The folder is ``strategies`` in the one that DPSCOPE_CACHE names, else in ``dpscope`` of the XDG cache directory;
DPSCOPE_CACHE=0 switches it off. It belongs to this user alone: links, and folders and files that other users own or may
enter, are ignored. A file is a digest and the content, under a name that is a digest of its inputs; a file that is
damaged, cut short or renamed is ignored. The reader validates the content as well (``strategy.py``). Failures here are
no errors, and on Windows nothing is cached.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

VARIABLE = "DPSCOPE_CACHE"
OFF = "0"
ENDING, UNFINISHED = ".strategy", ".part"
MAX_BYTES = 8 << 20
"""Maximal bytes of a file; on 65,536 cells one takes 3 MB."""
MAX_FILES, MAX_IN_ALL = 256, 64 << 20
"""Maximal number of files, and bytes of all: the oldest are removed."""
SEAL = hashlib.sha256().digest_size


def name_of(*what: object) -> str:
    """Return the cache key of a result: a digest of all its inputs."""
    return hashlib.sha256(repr(what).encode()).hexdigest()


def read(name: str) -> bytes | None:
    """Return the content under a name; None unless this user's process wrote it completely."""
    with suppress(OSError, RuntimeError), _folder() as folder:
        # Non-blocking: a pipe in its place would block the process.
        with open(name + ENDING, "rb", opener=_within(folder, os.O_NONBLOCK)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not _is_mine(status):
                return None
            content = file.read(MAX_BYTES)
        return content[SEAL:] if content == _sealed(name, content[SEAL:]) else None
    return None


def write(name: str, content: bytes) -> None:
    """Write content under a name, completely or not at all."""
    sealed, part = _sealed(name, content), secrets.token_hex(8) + UNFINISHED
    with suppress(OSError, RuntimeError), _folder(make=True) as folder:
        try:
            with open(part, "xb", opener=_within(folder)) as file:
                file.write(sealed)
            os.replace(part, name + ENDING, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(part, dir_fd=folder)
        _remove_oldest(folder)


def _sealed(name: str, content: bytes) -> bytes:
    """Return the content of a file: digest and content."""
    return hashlib.sha256(name.encode() + content).digest() + content


@contextmanager
def _folder(*, make: bool = False) -> Iterator[int]:
    """Open the cache folder.

    Raises:
        OSError: there is none, or it is not this user's alone.
        RuntimeError: the user's home folder is unknown.
    """
    setting = os.environ.get(VARIABLE)
    if setting == OFF or sys.platform == "win32":
        raise FileNotFoundError
    place = Path(setting) if setting else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dpscope"
    if make:
        place.mkdir(parents=True, exist_ok=True)
        (place / "strategies").mkdir(mode=0o700, exist_ok=True)
    folder = os.open(place / "strategies", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if not _is_mine(os.fstat(folder)):
            raise PermissionError
        yield folder
    finally:
        os.close(folder)


def _is_mine(status: os.stat_result) -> bool:
    """Return whether a file or folder is this user's, without permissions for others."""
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077


def _within(folder: int, more: int = 0) -> Callable[[str, int], int]:
    """Return an opener of files of a folder that follows no links."""
    return lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | more, 0o600, dir_fd=folder)


def _remove_oldest(folder: int) -> None:
    """Remove all but the newest files within the limits; other programs' files stay."""
    files = []
    for name in os.listdir(folder):
        if name.endswith((ENDING, UNFINISHED)):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            files.append((status.st_mtime_ns, status.st_size, name))
    total = 0
    for place, (_, size, name) in enumerate(sorted(files, reverse=True)):
        total += size
        if place >= MAX_FILES or total > MAX_IN_ALL:
            os.unlink(name, dir_fd=folder)
