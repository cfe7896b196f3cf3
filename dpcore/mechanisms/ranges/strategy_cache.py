"""Cache on disk of strategies with a long search, keyed by public sizes and nothing else.

The folder is ``strategies`` in the one that DPSCOPE_CACHE names, else in ``dpscope`` of the XDG cache directory;
DPSCOPE_CACHE=0 switches it off. A folder that others own or may enter, or a link, is ignored, as is one that
lies in a folder that others own or may write. A file is a digest and
the content, under a name that is a digest of its inputs; a file that is damaged, cut short or renamed is ignored. The
reader validates the content as well (``strategy.py``). Failures here are no errors, and on Windows nothing is cached.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import sys
from contextlib import suppress
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
    """Return the content under a name; None unless it was written completely."""
    with suppress(OSError, RuntimeError), (_folder() / (name + ENDING)).open("rb") as file:
        content = file.read(MAX_BYTES)
        return content[SEAL:] if content == _sealed(name, content[SEAL:]) else None
    return None


def write(name: str, content: bytes) -> None:
    """Write content under a name, completely or not at all."""
    with suppress(OSError, RuntimeError):
        folder = _folder(make=True)
        part = folder / (secrets.token_hex(8) + UNFINISHED)
        try:
            part.write_bytes(_sealed(name, content))
            part.replace(folder / (name + ENDING))
        finally:
            part.unlink(missing_ok=True)
        _remove_oldest(folder)


def _sealed(name: str, content: bytes) -> bytes:
    """Return the content of a file: digest and content."""
    return hashlib.sha256(name.encode() + content).digest() + content


def _folder(*, make: bool = False) -> Path:
    """Return the cache folder.

    Raises:
        OSError: there is none, or it is not this user's alone.
        RuntimeError: the user's home folder is unknown.
    """
    setting = os.environ.get(VARIABLE)
    if setting == OFF or sys.platform == "win32":
        raise FileNotFoundError
    place = Path(setting) if setting else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dpscope"
    folder = place / "strategies"
    if make:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    # Whoever may write the folder above could put another one in its place between this check and the reading.
    for each, others in ((place, 0o022), (folder, 0o077)):
        status = each.stat() if each is place else each.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & others:
            raise PermissionError
    return folder


def _remove_oldest(folder: Path) -> None:
    """Remove all but the newest files within the limits; other programs' files stay."""
    files = [(each.stat(), each) for each in folder.iterdir() if each.suffix in (ENDING, UNFINISHED)]
    total = 0
    for place, (status, file) in enumerate(sorted(files, key=lambda found: found[0].st_mtime_ns, reverse=True)):
        total += status.st_size
        if place >= MAX_FILES or total > MAX_IN_ALL:
            file.unlink()
