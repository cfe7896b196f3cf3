"""Private folders for tables' records: removed with the table, with the process, or at the next start."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
import tempfile
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from types import FrameType

from dpcore.core import DataError

if sys.platform != "win32":
    import fcntl

PREFIX = "dpscope-table-"
FULL = "it was not read: the temporary folder is full."
UNWRITABLE = "it was not read: the temporary folder is not writable."
NO_ROOM = frozenset(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name))
"""Numbers of the errors that mean a full disk, or one of which the user has used their share."""
_changing = threading.RLock()
"""May be taken again by a signal's handler, which interrupts its holder."""
_mine: set[Path] = set()
_closed = threading.Event()
"""Set when the process is about to end: a reader that is still at work must not leave a folder behind."""


def private_folder(undo: ExitStack) -> Path:
    """Make a folder that only this user can enter; closing ``undo`` removes it.

    A process that is killed removes nothing, so what earlier ones left is swept up first. A folder in use holds a
    locked file, and the system drops a process's locks when it dies (on Windows nothing is swept).

    Raises:
        DataError: if all folders were removed because the process is about to end, or none can be made.
    """
    try:
        return _locked_folder(undo)
    except OSError as error:
        problem = FULL if error.errno in NO_ROOM else UNWRITABLE
    raise DataError(problem)


def _locked_folder(undo: ExitStack) -> Path:
    sweep_leftovers()
    with _changing:
        if _closed.is_set():
            raise DataError("it was not read: the app is closing.")
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        _mine.add(folder)
        undo.callback(_remove, folder)
        lock = undo.enter_context((folder / "locking").open("wb"))
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Under its final name only once it is locked: a sweeper never meets it open.
            (folder / "locking").rename(folder / "lock")
    return folder


def remove_all_when_ended() -> None:
    """Remove this process's folders when a signal ends it, as one without a server: signals run no finalizers."""
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
        number = getattr(signal, name, None)  # Windows has not all of them
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # under nohup SIGHUP stays ignored
            signal.signal(number, _remove_and_end)


def _remove_and_end(number: int, _: FrameType | None) -> None:
    remove_all()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def remove_all() -> None:
    """Remove this process's folders and make no more: it is about to end, and a signal runs no finalizers."""
    with _changing:
        _closed.set()
    for folder in _mine.copy():
        _remove(folder)


def sweep_leftovers() -> None:
    """Remove the folders of processes that were killed; those of a living one are locked and stay."""
    if sys.platform != "win32":
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            # A failure means in use, still being made, or just swept by somebody else.
            with suppress(OSError):
                if folder.lstat().st_uid == os.getuid():
                    with (folder / "lock").open("rb") as lock:
                        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        _empty(folder)


def _empty(folder: Path) -> None:
    """Records first, the lock last: what is cut short is still found by the next sweep."""
    with suppress(OSError):
        for each in folder.iterdir():
            if each.name not in ("lock", "locking"):
                each.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _remove(folder: Path) -> None:
    """Remove without waiting for a lock: the garbage collector may run this anywhere, within that lock too."""
    _empty(folder)
    if not folder.exists():  # else it is tried again at the end
        _mine.discard(folder)
