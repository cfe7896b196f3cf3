"""The harness of files once more: killed at lines and at any moment, pressed twice, raced for the last of a budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dprelease.ledger.test_killed import kills, together

pytestmark = pytest.mark.engines


def test_a_kill_at_a_line_leaves_all_or_nothing_or_an_attempt(tmp_path: Path) -> None:
    outcome = kills(tmp_path, "lines", 60)
    assert outcome["wrong"] == 0, outcome["examples"]
    seen = outcome["seen"]
    assert seen["lines"] > 150 and min(seen["nothing"], seen["begun"], seen["Stored"]) > 0


def test_a_kill_at_any_moment_does(tmp_path: Path) -> None:
    outcome = together(tmp_path, "random", 100, programs=2)
    assert outcome["wrong"] == 0, outcome["examples"]
    states = [outcome["seen"].get(state, 0) for state in ("nothing", "begun", "Stored")]
    assert sum(states) == 100 and min(states) > 0


def test_two_presses_of_the_same_are_one_draw(tmp_path: Path) -> None:
    outcome = together(tmp_path, "twice", 60, programs=2)
    assert outcome["wrong"] == 0, outcome["examples"]
    assert outcome["seen"]["Stored"] >= 40


def test_the_last_of_a_budget_is_spent_once(tmp_path: Path) -> None:
    outcome = together(tmp_path, "races", 30, programs=2)
    assert outcome["wrong"] == 0, outcome["examples"]
    assert outcome["seen"] == {"Refused Stored": 30}


@pytest.mark.parametrize("asked", ["question", "plan"])
@pytest.mark.parametrize("control", ["", "two transactions", "shown early"])
def test_the_same_looks_find_a_release_in_pieces(tmp_path: Path, control: str, asked: str) -> None:
    outcome = kills(tmp_path, "named", 1, asked=asked, control=control)
    assert outcome["seen"]["lines"] == 1, "one line of a press stands between its files and its entry"
    assert bool(outcome["wrong"]) == bool(control), outcome["examples"]
