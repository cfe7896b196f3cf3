"""Reasons why a chain of entries is not one that a ledger wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dprelease.ledger.canonical import digest
from dprelease.ledger.chain import MACHINE_FAILED, RECORD, faults, line_of
from dprelease.ledger.units import MOST_EPSILON, NANO_DIGITS, Price

START = "0" * 64
MACHINE = "a machine's failure is charged nothing, and everything else something"
RECORDLESS = "it names no record, though an entry before it does"
TOO_LARGE = "no budget is so large"
Changed = Callable[[list[dict[str, Any]]], object]


def chain(changed: Changed = len) -> list[dict[str, Any]]:
    """Two entries and a machine's failure, with a change of them; each names the digest of the one before it."""
    budget, previous = Price(first=MOST_EPSILON * 10**NANO_DIGITS), START
    lines = [
        line_of(
            entry=entry, outcome=outcome, charge=Price(first=first), budget=budget,
            body=entry, salt="", previous="", record=f"{entry}" * 64,
        )
        for entry, outcome, first in ((1, "stored", 5), (2, "failed", 5), (3, MACHINE_FAILED, 0))
    ]  # fmt: skip
    changed(lines)
    for line in lines:
        line["previous"] = previous
        previous = digest(line)
    return lines


def test_a_chain_with_the_largest_budget_is_whole() -> None:
    assert list(faults(chain(), start=START)) == []


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        (lambda lines: lines[2].update(charge=Price(first=1).document), [(3, MACHINE)]),
        (lambda lines: lines[1].update(charge=Price(first=0).document), [(2, MACHINE)]),
        (lambda lines: lines[0].update(charge=Price(first=0).document), [(1, MACHINE)]),
        (lambda lines: lines[1].pop(RECORD), [(2, RECORDLESS)]),
        (lambda lines: [line.pop(RECORD) for line in lines[1:]], [(2, RECORDLESS), (3, RECORDLESS)]),
        (
            lambda lines: lines[2].update(budget=Price(first=MOST_EPSILON * 10**NANO_DIGITS + 1).document),
            [(3, TOO_LARGE)],
        ),
    ],
)
def test_every_wrong_entry_has_its_reason(changed: Changed, found: list[tuple[int, str]]) -> None:
    assert list(faults(chain(changed), start=START)) == found


def test_entries_of_the_first_schema_come_first_and_name_no_record() -> None:
    assert list(faults(chain(lambda lines: lines[0].pop(RECORD)), start=START)) == []
