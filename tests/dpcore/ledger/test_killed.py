"""Releases killed at every line and at any moment, pressed twice, and raced for the last of a budget."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT

pytestmark = pytest.mark.harness


def kills(folder: Path, what: str, count: int, *, asked: str = "question", control: str = "") -> dict[str, Any]:
    """What the program of tests/kit/kills.py saw."""
    command = [sys.executable, "-m", "tests.kit.kills", str(folder), what, str(count), asked, control]
    variables = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def test_a_kill_at_any_line_leaves_all_or_nothing_or_an_attempt(tmp_path: Path) -> None:
    told = kills(tmp_path, "lines", 10_000)
    assert told["wrong"] == 0, told["examples"]
    seen = told["seen"]
    assert seen["lines"] > 200 and min(seen["nothing"], seen["begun"], seen["Stored"]) > 0


def test_a_kill_at_any_moment_does(tmp_path: Path) -> None:
    told = kills(tmp_path, "random", 120)
    assert told["wrong"] == 0, told["examples"]
    assert min(told["seen"][state] for state in ("nothing", "begun", "Stored", "shown")) > 0


def test_a_plan_killed_at_any_line_or_moment_is_all_or_nothing_or_an_attempt(tmp_path: Path) -> None:
    for what, count in (("lines", 60), ("random", 30)):
        told = kills(tmp_path / what, what, count, asked="plan")
        assert told["wrong"] == 0, told["examples"]
        assert min(told["seen"][state] for state in ("nothing", "begun", "Stored")) > 0


def test_two_presses_of_the_same_are_one_draw(tmp_path: Path) -> None:
    told = kills(tmp_path, "twice", 60)
    assert told["wrong"] == 0, told["examples"]
    assert told["seen"]["Stored"] >= 40


def test_the_last_of_a_budget_is_spent_once(tmp_path: Path) -> None:
    told = kills(tmp_path, "races", 40)
    assert told["wrong"] == 0, told["examples"]
    assert told["seen"] == {"Refused Stored": 40}


LINES = {"question": 1, "plan": 2}


@pytest.mark.parametrize("asked", LINES)
@pytest.mark.parametrize("control", ["", "two transactions", "shown early"])
def test_the_same_looks_find_a_release_in_pieces(tmp_path: Path, control: str, asked: str) -> None:
    told = kills(tmp_path, "named", 1, asked=asked, control=control)
    assert told["seen"]["lines"] == LINES[asked], "one line of a press stands between charge and result of a question"
    assert bool(told["wrong"]) == bool(control), told["examples"]
