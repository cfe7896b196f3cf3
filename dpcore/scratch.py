"""A private folder for one table's records: gone with the table, or swept up later if the process was killed."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PREFIX = "dpscope-table-"


def private_folder(undo: ExitStack) -> Path:
    """Make a folder that only this user can enter; closing ``undo`` removes it.

    A process that is killed removes nothing, so what earlier ones left is swept up first. A folder in use holds a
    locked file, and the system drops a process's locks when it dies (on Windows nothing is swept).
    """
    _sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    undo.callback(shutil.rmtree, folder, ignore_errors=True)
    lock = undo.enter_context((folder / "locking").open("wb"))
    if sys.platform != "win32":
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Under its final name only once it is locked: a sweeper never meets it open.
        (folder / "locking").rename(folder / "lock")
    return folder


def _sweep(parent: Path) -> None:
    if sys.platform != "win32":
        for folder in parent.glob(f"{PREFIX}*"):
            # A failure means in use, still being made, or just swept by somebody else.
            with suppress(OSError):
                if folder.lstat().st_uid == os.getuid():
                    with (folder / "lock").open("rb") as lock:
                        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        shutil.rmtree(folder, ignore_errors=True)
