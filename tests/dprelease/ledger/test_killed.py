"""Releases killed at every line and at any moment, pressed twice, and raced for the last of a budget."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT

pytestmark = pytest.mark.harness
MEMORY = Path("/dev/shm")
"""Where it is there, ledgers are in memory: a kill loses nothing that was written, and a disk is slow."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return the folder of the ledgers."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as name:
        yield Path(name)


def kills(folder: Path, what: str, count: int, *, asked: str = "question", control: str = "") -> dict[str, Any]:
    """Run the program of tests/kit/kills.py and return what it observed."""
    command = [sys.executable, "-m", "tests.kit.kills", str(folder), what, str(count), asked, control]
    variables = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def together(folder: Path, what: str, count: int, *, programs: int = 3) -> dict[str, Any]:
    """Run several of these programs at once in ledgers of their own, and return what they observed."""
    with ThreadPoolExecutor(programs) as pool:
        each = partial(kills, what=what, count=count // programs)
        told = list(pool.map(each, [folder / str(number) for number in range(programs)]))
    return {
        "wrong": sum(one["wrong"] for one in told),
        "examples": [example for one in told for example in one["examples"]],
        "seen": dict(sum((Counter(one["seen"]) for one in told), Counter())),
    }


def test_a_kill_at_any_line_leaves_all_or_nothing_or_an_attempt(folder: Path) -> None:
    outcome = kills(folder, "lines", 10_000)
    assert outcome["wrong"] == 0, outcome["examples"]
    seen = outcome["seen"]
    assert seen["lines"] > 150 and min(seen["nothing"], seen["begun"], seen["Stored"]) > 0


def test_a_kill_at_any_moment_does(folder: Path) -> None:
    outcome = together(folder, "random", 1002)
    assert outcome["wrong"] == 0, outcome["examples"]
    states = [outcome["seen"][state] for state in ("nothing", "begun", "Stored")]
    assert sum(states) == 1002 and min(*states, outcome["seen"]["shown"]) > 10


def test_a_plan_killed_at_any_line_or_moment_is_all_or_nothing_or_an_attempt(folder: Path) -> None:
    for what, count in (("lines", 60), ("random", 30)):
        outcome = kills(folder / what, what, count, asked="plan")
        assert outcome["wrong"] == 0, outcome["examples"]
        states = ("nothing", "begun", "Stored") if what == "lines" else ("nothing", "Stored")
        assert min(outcome["seen"].get(state, 0) for state in states) > 0  # a few random moments miss the short one


def test_a_copy_put_back_and_killed_at_any_line_leaves_the_damaged_file_or_the_copy(folder: Path) -> None:
    outcome = kills(folder, "restore", 10_000)
    assert outcome["wrong"] == 0, outcome["examples"]
    seen = outcome["seen"]
    assert seen["lines"] > 200 and min(seen["old"], seen["new"], seen["counted 1"]) > 0


def test_two_presses_of_the_same_are_one_draw(folder: Path) -> None:
    outcome = together(folder, "twice", 1002)
    assert outcome["wrong"] == 0, outcome["examples"]
    assert outcome["seen"]["Stored"] >= 667


def test_the_last_of_a_budget_is_spent_once(folder: Path) -> None:
    outcome = together(folder, "races", 201)
    assert outcome["wrong"] == 0, outcome["examples"]
    assert outcome["seen"] == {"Refused Stored": 201}


@pytest.mark.parametrize("asked", ["question", "plan"])
@pytest.mark.parametrize("control", ["", "two transactions", "shown early"])
def test_the_same_looks_find_a_release_in_pieces(folder: Path, control: str, asked: str) -> None:
    outcome = kills(folder, "named", 1, asked=asked, control=control)
    assert outcome["seen"]["lines"] == 1, "one line of a press stands between its files and its entry"
    assert bool(outcome["wrong"]) == bool(control), outcome["examples"]
