"""Plants each fault of the lists in a copy of the project and runs the test that must fail.

The lists are the .toml files beside this one. A fault names a file, the exact text to replace (it is there once), what
replaces it, and the test. Nothing is changed outside a temporary folder. Words on the command line choose the faults
whose name holds one of them.
"""

from __future__ import annotations

import compileall
import os
import py_compile
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from launch import say
from run import HERE

COPIES = 2
"""Faults tried at a time, each in a copy of its own."""
LEFT_OUT = shutil.ignore_patterns(".*cache", ".git", ".venv*", "__pycache__", ".hypothesis", "pictures")
PASSED, FAILED, NONE_CHOSEN = 0, 1, 5
"""Exit codes of pytest; any other means that the test was not run."""
BY_CONTENT = py_compile.PycInvalidationMode.CHECKED_HASH
"""A compiled file counts only for the text it was made of: none can outlive a fault, or hide one."""
APART = ("browser", "not browser")
"""Marks of tests that are tried one after the other: the browser's driver keeps its process's event loop."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One change that a test must notice.

    Attributes:
        name: the fault in words.
        file: where it is planted.
        old: the text it replaces.
        new: the text it puts there.
        test: the test that must fail, as pytest names it.
    """

    name: str
    file: str
    old: str
    new: str
    test: str

    def planted(self, text: str) -> str:
        """The file's text with the fault.

        Raises:
            ValueError: the list and the file have grown apart.
        """
        if text.count(self.old) != 1:
            raise ValueError(
                f"its text is {text.count(self.old)} times in {self.file}, not once: bring the list up to date"
            )
        return text.replace(self.old, self.new)


def listed() -> list[Fault]:
    """All faults of all lists."""
    files = sorted(Path(__file__).parent.glob("*.toml"))
    return [Fault(**told) for file in files for told in tomllib.loads(file.read_text(encoding="utf-8"))["fault"]]


def outcome(copy: Path, tests: list[str]) -> tuple[int, str]:
    """Exit code and output of pytest in a copy; it writes no compiled files, which could outlive a fault."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    ended = subprocess.run(
        command, cwd=copy, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
    )  # fmt: skip
    return ended.returncode, ended.stdout


def survived(fault: Fault, copy: Path) -> str:
    """Why a fault counts as not caught; empty if its test fails with it."""
    file = copy / fault.file
    whole = file.read_text(encoding="utf-8")
    try:
        file.write_text(fault.planted(whole), encoding="utf-8")
        code, told = outcome(copy, [fault.test])
    except ValueError as problem:
        return str(problem)
    finally:
        file.write_text(whole, encoding="utf-8")
    if code == FAILED:
        return ""
    return f"{fault.test} passes" if code == PASSED else f"{fault.test} does not run:\n{told[-2000:]}"


@contextmanager
def copies() -> Iterator[Queue[Path]]:
    """Copies of the project, gone at the end."""
    free: Queue[Path] = Queue()
    with tempfile.TemporaryDirectory(prefix="dpscope-mutants-") as folder:
        for place in range(COPIES):
            shutil.copytree(HERE, Path(folder) / str(place), ignore=LEFT_OUT)
            compileall.compile_dir(Path(folder) / str(place), quiet=1, invalidation_mode=BY_CONTENT)
            free.put(Path(folder) / str(place))
        yield free


def main(words: list[str]) -> int:
    """Try the faults; 0 if every one is caught and every test passes without it."""
    faults = [fault for fault in listed() if not words or any(word in fault.name for word in words)]
    if not faults:
        say("No fault has such a name.")
        return 1
    with copies() as free, ThreadPoolExecutor(COPIES) as pool:

        def tried(fault: Fault) -> str:
            copy = free.get()
            try:
                return survived(fault, copy)
            finally:
                free.put(copy)

        copy = free.get()
        for marks in APART:
            code, told = outcome(copy, ["-m", marks, *sorted({fault.test for fault in faults})])
            if code not in {PASSED, NONE_CHOSEN}:
                say(f"Without any fault, these tests must pass:\n{told[-4000:]}")
                return 1
        free.put(copy)
        lost = 0
        for fault, why in zip(faults, pool.map(tried, faults), strict=True):
            say(f"{'NOT CAUGHT' if why else 'caught'}: {fault.name} ({fault.file}){f': {why}' if why else ''}")
            lost += bool(why)
    say(f"{len(faults) - lost} of {len(faults)} faults are caught.")
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
