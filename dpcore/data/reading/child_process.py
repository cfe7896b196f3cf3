"""Programs of the project that read what strangers bring, each in a process of its own with limits of memory and time.

What takes too much ends the child alone. It gets no secret of the environment, prints nothing, and works in a private
folder, where it leaves its answer as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, Popen, TimeoutExpired
from time import monotonic

from dpcore.core import checkpoint
from dpcore.data.reading.conversion_process import MEMORY

MAX_ANSWER_BYTES = 16 << 20
ENVIRONMENT = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables that the child gets: none that could hold a secret."""
THRIFT = {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""What the child gets besides: other threads and other pools take addresses by the gigabyte, which its limit counts."""
CHECK_EVERY = 0.2
"""Seconds after which it is looked whether the child is still wanted."""
OUT_OF_TIME = -int(signal.SIGTERM)
"""Exit status of a child that took too long."""


def run_limited(program: str, *arguments: str, folder: Path, seconds: float) -> int:
    """Run a program in a child process and return its exit status, also OUT_OF_TIME, or MEMORY for too much memory.

    The child is ended where this work is cancelled (``checkpoint``), or its folder is removed because the app ends.

    Args:
        program: its file.
        arguments: every user of the machine can read them: no content, and no name that somebody chose.
        folder: a private folder, in which it works.
        seconds: time on the clock; it limits its memory and the processor's time itself, with ``set_limits``.
    """
    environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    end = monotonic() + seconds
    with Popen(
        [sys.executable, "-I", program, *arguments],
        stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, env=environment | THRIFT, cwd=folder,
    ) as process:  # fmt: skip
        try:
            while (left := end - monotonic()) > 0 and folder.is_dir():
                checkpoint()
                with suppress(TimeoutExpired):
                    return _status(process.wait(min(left, CHECK_EVERY)))
        finally:
            process.kill()
    return OUT_OF_TIME


def _status(status: int) -> int:
    """Return an exit status, in which signals are replaced with what they mean."""
    # The system ends a process that outlasts its time; Rust ends it where memory is refused.
    meanings = {"SIGXCPU": OUT_OF_TIME, "SIGKILL": OUT_OF_TIME, "SIGABRT": MEMORY, "SIGSEGV": MEMORY}
    numbers = {-int(number): each for name, each in meanings.items() if (number := getattr(signal, name, None))}
    return numbers.get(status, status)


def read_answer(path: Path) -> Mapping[str, object]:
    """Return what a child says, and remove the file: a hostile upload may have made it say anything."""
    said: object = None
    with suppress(OSError, ValueError, RecursionError):
        if path.stat().st_size <= MAX_ANSWER_BYTES:
            said = json.loads(path.read_text(encoding="utf-8"))
    path.unlink(missing_ok=True)
    return said if isinstance(said, dict) else {}
