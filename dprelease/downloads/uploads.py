"""Verification of uploaded files of a release, from here or elsewhere, in a child process with limits.

Anybody may upload a certificate, and one may ask for minutes of work or for much memory: that ends the child alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from dpcore.core import DataError, ParameterError, printable
from dpcore.data.reading.child_process import OUT_OF_TIME, read_answer, run_limited
from dpcore.data.reading.conversion_process import MEMORY, set_limits
from dpcore.data.reading.scratch import private_folder
from dprelease.downloads import verification_process
from dprelease.downloads.archive import CERTIFICATE, TOO_LARGE, faults_of_files, unzip_files
from dprelease.sizes import MAX_UNPACKED

MAX_MEMORY, MAX_SECONDS = 1 << 30, 120
"""What one verification may take: bytes on top of the program's own, and time."""
MAX_FAULTS, MAX_ANSWER = 5, 1 << 20
"""Sentences that are shown, and bytes of them."""
NICE = 10
"""So much do other processes come first: strangers' verifications do not slow the pages down."""
DAMAGED, NAMES, FAULTS = 10, "names.json", "faults.json"
"""Exit status of what cannot be verified; files with the uploads' names and with the sentences."""
BY_COMMAND = "Verify it with the command line, which has no such limit: run.py verify."
NO_CERTIFICATE = f"Choose {CERTIFICATE} and the files that it names, or the downloaded zip."
NOT_VERIFIED = "These files cannot be verified."


def faults_of_uploads(
    uploads: Sequence[tuple[str, bytes]], *, memory: int = MAX_MEMORY, seconds: int = MAX_SECONDS
) -> list[str]:
    """Return the faults of a certificate with its files, one sentence each; empty if all are consistent.

    Args:
        uploads: names and contents; those of a zip are read from it.
        memory: bytes that the child may take.
        seconds: time that it may take.

    Raises:
        ParameterError: one sentence on why they were not verified.
    """
    if sum(len(contents) for _, contents in uploads) > MAX_UNPACKED << 20:  # before any of it is copied
        raise ParameterError(TOO_LARGE)
    with ExitStack() as undo:
        try:
            folder = private_folder(undo)
            (folder / NAMES).write_text(json.dumps([name for name, _ in uploads]), encoding="utf-8")
            for place, (_, contents) in enumerate(uploads):
                (folder / str(place)).write_bytes(contents)
        except (DataError, OSError):
            raise ParameterError(f"{NOT_VERIFIED} The temporary folder is full or not writable.") from None
        program = verification_process.__file__
        status = run_limited(program, str(folder), str(memory), str(seconds), folder=folder, seconds=seconds)
        faults = read_answer(folder / FAULTS).get("faults")
    if status == MEMORY:
        raise ParameterError(f"This certificate needs more than {memory >> 20:,} MB of memory. {BY_COMMAND}")
    if status == OUT_OF_TIME:
        raise ParameterError(f"This certificate needs more than {seconds:,} seconds. {BY_COMMAND}")
    if status or not isinstance(faults, list):
        raise ParameterError(NOT_VERIFIED)
    return [printable(str(each)) for each in faults[:MAX_FAULTS]]


def answer(folder: Path, *, memory: int, seconds: int) -> int:
    """Verify the uploads in a folder, as the child; write the sentences of faults, and return the exit status."""
    with suppress(AttributeError):  # Windows has none
        os.nice(NICE)
    try:
        set_limits(memory, seconds, MAX_ANSWER)
        names = json.loads((folder / NAMES).read_text(encoding="utf-8"))
        try:
            files = read_uploads([(name, (folder / str(place)).read_bytes()) for place, name in enumerate(names)])
            faults = faults_of_files(files.pop(CERTIFICATE), files)
        except ParameterError as problem:
            faults = [str(problem)]
        (folder / FAULTS).write_text(json.dumps({"faults": faults[:MAX_FAULTS]}), encoding="utf-8")
    except MemoryError:
        return MEMORY
    except BaseException:  # its message may quote what was uploaded
        return DAMAGED
    return 0


def read_uploads(uploads: Sequence[tuple[str, bytes]]) -> dict[str, bytes]:
    """Return the uploaded files by name, those of a zip among them; raises ParameterError for too large ones."""
    files, left = dict[str, bytes](), MAX_UNPACKED << 20
    for name, contents in uploads:
        named = unzip_files(contents, max_bytes=left) if name.lower().endswith(".zip") else {name: contents}
        left -= sum(map(len, named.values()))
        if left < 0:
            raise ParameterError(TOO_LARGE)
        if named.keys() & files.keys():
            raise ParameterError("Two files have the same name. Give each file of the certificate once.")
        files |= named
    if CERTIFICATE not in files:
        raise ParameterError(NO_CERTIFICATE)
    return files
