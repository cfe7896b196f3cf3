"""Reasons why a chain of entries is not one that a ledger wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dprelease.ledger.canonical import digest
from dprelease.ledger.chain import FIRST, fold_chain, line_of
from dprelease.ledger.units import ATTO_DIGITS, NANO_DIGITS, BudgetMeasure, Price
from dprelease.sizes import MAX_EPSILON

Lines = list[dict[str, Any]]
MOST = MAX_EPSILON * 10**NANO_DIGITS
OUTCOME = "it does not match its attempt"
ABOUT = "it refers to the wrong entry"
PLACE = "it does not follow the previous entry"
FORM = "it is not in the ledger's format"
SPENT = "the charges exceed the budget"
FREE = "a release must have a charge"
TWICE = "it repeats the details of an earlier entry"
LARGE = "the budget is too large"
WRITTEN = "an amount is not in the ledger's format"
ONCE = "a stored release can be published only once"
NO_LINES: tuple[Any, ...] = (None, [], "line", {"kind": []}, {"kind": {}})
USUAL = (
    ("registered", 0, 0),
    ("version", 0, 0),
    ("budget", 0, 10),
    ("access", 0, 0),
    ("attempt", 0, 4),  # 5
    ("stored", 5, 4),
    ("attempt", 0, 4),  # 7
    ("machine failed", 7, 0),
    ("attempt", 0, 6),  # 9
    ("failed", 9, 6),
    ("published", 6, 0),
    ("restored", 0, 0),
)


def line(place: int, kind: str, about: int, first: int, **amount: Any) -> dict[str, Any]:
    """One entry, its place from 1; ``previous`` is set by ``linked``."""
    price = Price(epsilon_or_rho=first, **amount)
    return line_of(seq=place, kind=kind, about=about, amount=price, body=place, salt="", previous=FIRST)


def chain(changed: Callable[[Lines], object] = len, *, relinked: bool = True) -> Lines:
    """The usual chain with a change; each line names the digest of the one before it, after the change or before it."""
    lines = [line(place, *each) for place, each in enumerate(USUAL, 1)]
    for step in (changed, linked) if relinked else (linked, changed):
        step(lines)
    return lines


def linked(lines: Lines) -> None:
    """Let each line name the digest of the one before it."""
    previous = FIRST
    for each in lines:
        each["previous"] = previous
        previous = digest(each)


def amounts(*changes: tuple[int, int]) -> Callable[[Lines], None]:
    """Other amounts, by place and value."""

    def changed(lines: Lines) -> None:
        for place, first in changes:
            lines[place - 1]["amount"] = Price(epsilon_or_rho=first).document

    return changed


def put(place: int, **fields: Any) -> Callable[[Lines], None]:
    """Other fields of the line in a place."""
    return lambda lines: lines[place - 1].update(fields)


def added(*more: tuple[str, int, int], **amount: Any) -> Callable[[Lines], None]:
    """More lines at the end."""
    return lambda lines: lines.extend(line(len(USUAL) + at, *each, **amount) for at, each in enumerate(more, 1))


def test_the_usual_chain_is_whole_and_its_account_adds_up() -> None:
    account = fold_chain(chain())
    assert account.faults == []
    assert (account.charged.epsilon_or_rho, account.spent.epsilon_or_rho, account.begun) == (10, 10, {})
    assert (account.outcomes, account.stored, account.published) == ([6, 8, 10], {6}, {6})
    assert (account.count("machine failed"), account.count("access"), account.count("restored")) == (1, 1, 1)


def test_a_chain_with_the_largest_budget_is_whole() -> None:
    assert fold_chain(chain(amounts((3, MOST)))).faults == []


CHANGES: dict[str, tuple[Callable[[Lines], object], tuple[int, str]]] = {
    "a machine's failure that is charged": (amounts((8, 4)), (8, OUTCOME)),
    "a result for less than was held": (amounts((6, 3)), (6, OUTCOME)),
    "a failure for nothing": (amounts((10, 0)), (10, OUTCOME)),
    "an attempt for nothing": (amounts((5, 0), (6, 0)), (5, FREE)),
    "an attempt for delta alone": (
        lambda lines: [lines[place].update(amount=Price(epsilon_or_rho=0, delta=3).document) for place in (4, 5)],
        (5, FREE),
    ),
    "an outcome of no attempt": (put(6, about=4), (6, OUTCOME)),
    "an outcome about nothing": (put(6, about=0), (6, ABOUT)),
    "two outcomes of an attempt": (put(8, about=5), (8, OUTCOME)),
    "an attempt about something": (put(5, about=4), (5, ABOUT)),
    "a publication of a failure": (put(11, about=10), (11, ONCE)),
    "a second publication": (added(("published", 6, 0)), (13, ONCE)),
    "more held than the budget": (amounts((9, 7), (10, 7)), (9, SPENT)),
    "a budget below what is charged": (added(("budget", 0, 9)), (13, SPENT)),
    "an attempt before there is a budget": (lambda lines: lines.pop(2), (4, SPENT)),
    "a budget before a version of the rows": (
        lambda lines: lines.__setitem__(1, line(2, "budget", 0, 10)),
        (2, PLACE),
    ),
    "a copy that forgot less than nothing": (put(12, about=-1), (12, ABOUT)),
    "a copy that forgot too much": (put(12, about=10**30), (12, "no copies have forgotten so many failures")),
    "copies that forgot too much together": (
        added(("restored", 10**6, 0), ("restored", 1, 0)),
        (14, "no copies have forgotten so many failures"),
    ),
    "an amount in pairs": (put(3, amount=[["delta", "0"], ["epsilon", "10"]]), (3, FORM)),
    "a budget that is too large": (amounts((3, MOST + 1)), (3, LARGE)),
    "The budget is a delta of one": (added(("budget", 0, 20), delta=10**ATTO_DIGITS), (13, LARGE)),
    "The budget is nothing": (added(("budget", 0, 0)), (13, LARGE)),
    "a first line of another kind": (lambda lines: lines.pop(0), (1, PLACE)),
    "a second registration": (added(("registered", 0, 0)), (13, PLACE)),
    "a line that is left out": (lambda lines: lines.pop(3), (4, PLACE)),
    "a number that is none": (put(4, seq=True), (4, FORM)),
    "a kind that is none": (put(4, kind="looked"), (4, FORM)),
    "a field more": (put(4, note=""), (4, FORM)),
    "an amount of an access": (amounts((4, 0)), (4, FORM)),
    "no amount of an attempt": (lambda lines: lines[4].pop("amount"), (5, FORM)),
    "a digest in capitals": (put(4, details="A" * 64), (4, "a digest is not in the ledger's format")),
    "the details of another": (lambda lines: lines[3].update(details=lines[1]["details"]), (4, TWICE)),
    "an amount in words": (put(3, amount={"epsilon": "ten", "delta": "0"}), (3, WRITTEN)),
    "an amount of another measure": (added(("attempt", 0, 1), measure=BudgetMeasure.RHO), (13, WRITTEN)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_wrong_entry_has_its_reason(name: str) -> None:
    changed, fault = CHANGES[name]
    assert fault in fold_chain(chain(changed)).faults


@pytest.mark.parametrize("place", range(1, len(USUAL)))
def test_a_line_changed_afterwards_is_no_longer_what_the_next_one_names(place: int) -> None:
    lines = chain(put(place, details="0" * 64), relinked=False)
    assert (place + 1, PLACE) in fold_chain(lines).faults


def test_budgets_in_rho_are_never_changed() -> None:
    opening = [line(1, "registered", 0, 0), line(2, "version", 0, 0)]
    lines = [*opening, *(line(place, "budget", 0, 10, measure=BudgetMeasure.RHO) for place in (3, 4))]
    linked(lines)
    assert fold_chain(lines).faults == [(4, "a budget in rho cannot be changed after registration")]


def test_what_is_no_line_is_told_and_nothing_after_it_is_read() -> None:
    for other in NO_LINES:
        lines: list[Any] = [*chain()[:2], other, *chain()[3:]]
        assert fold_chain(lines).faults == [(3, FORM)]
