"""The theorem card: each condition has its verdict, each number says what it is, and what is not proved is not said."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.core import Assumption, Bound, BoundKind, Guarantee, Neighbours
from pages.shell.theorem import Theorem, if_it_held, promise

CONDITIONS = (Assumption(text="n is large", met=True), Assumption(text="rows are public", met=False))
BOUND = Bound(value=0.02, kind=BoundKind.GUARANTEE, statement="It is so.", reference="R", beta=0.05, rows_needed=500)
GUARANTEE = Guarantee(epsilon=1.0, neighbours=Neighbours.REPLACE_ONE)


def lines(bound: Bound = BOUND, **more: Any) -> list[str]:
    theorem = Theorem(bound=bound, guarantee=GUARANTEE, **({"n": 1000} | more))
    return [*theorem.claims(), *theorem.verdicts()]


def test_a_promise_is_said_with_its_chance_its_share_and_its_rows() -> None:
    first, statement, enough = lines()
    assert first == (
        "With probability at least 0.95, no query errs by more than **2%** (≈ 20 of 1,000 rows). :orange-badge[theory]"
    )
    assert statement == "It is so."
    assert enough == "To say anything it needs n = 500 rows; here n = 1,000: ✓ enough."
    assert promise(BOUND, n=1000, who="no answer given errs").startswith("With probability at least 0.95, no answer")
    assert lines(said="Else.", details=["One.", "Two."], tells_rows=False) == [
        "Else. :orange-badge[theory]",
        "One.",
        "Two.",
    ]


def test_a_condition_has_its_own_verdict() -> None:
    told = lines(replace(BOUND, assumptions=CONDITIONS))
    assert told[2:] == ["✓ met: n is large", "✗ **not met**: rows are public"]
    assert told[0].startswith("The theorem promises nothing here: not all that it assumes is met.")
    held = if_it_held(BOUND, n=1000)
    assert held.startswith("If what is assumed below held: with probability at least 0.95, no query errs")


def test_too_few_rows_are_too_few_and_an_aim_is_named() -> None:
    assert lines(n=499)[-1] == "To say anything it needs n = 500 rows; here n = 499: ✗ **too few**."
    assert lines(aim=0.1)[-1].startswith("To promise α = 0.1 it needs n = 500 rows")


def test_what_says_nothing_is_no_promise() -> None:
    vacuous, *_ = lines(replace(BOUND, value=1.5))
    assert vacuous.startswith("The promise is vacuous here: an error of 1.5 times n is no news. It starts to say")
    order, *rest = lines(replace(BOUND, value=math.inf, kind=BoundKind.ORDER_ONLY), worst=np.array([0.1]))
    assert order.startswith("The theorem gives an order of magnitude only")
    assert not any(line.startswith("Observed") for line in rest)


def test_previews_are_held_against_the_promise() -> None:
    worst = np.repeat([0.01, 0.03], [90, 10])
    told = lines(worst=worst, over="all 300 queries", private=True)[2]
    assert told.startswith(
        "Observed: 10 of 100 previews erred by more than 2% on all 300 queries; the chance is between"
    )
    assert "between 0.049 and 0.176 (exact 95% interval), the theorem allows 0.05." in told
    assert told.endswith(":blue-badge[simulated] :orange-badge[not protected]")
    assert "not protected" not in lines(worst=worst)[2]
    assert not any(line.startswith("Observed") for line in lines(worst=np.array([])))
