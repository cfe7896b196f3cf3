"""The theorem card: each condition has its verdict, each number says what it is, and what is not proved is not said."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import Assumption, Bound, BoundKind, Guarantee, Neighbours, describe_error
from pages.shell.theorem import observed

CONDITIONS = (Assumption(text="n is large", met=True), Assumption(text="rows are public", met=False))
BOUND = Bound(
    value=0.02,
    kind=BoundKind.GUARANTEE,
    statement="It is so.",
    reference="R",
    beta=0.05,
    rows_needed=500,
    formula=r"\alpha",
)
SCRIPT = """
import streamlit as st
from pages.shell.theorem import theorem_card
theorem_card(**st.session_state["told"])
"""
GUARANTEE = Guarantee(epsilon=1.0, neighbours=Neighbours.REPLACE_ONE)


def card(bound: Bound = BOUND, **more: Any) -> AppTest:
    """The card as a person sees it."""
    told = {"bound": bound, "guarantee": GUARANTEE, "n": 1000, "covers": "for each single release"} | more
    app = AppTest.from_string(SCRIPT)
    app.session_state["told"] = told
    app.run()
    assert not app.exception
    return app


def lines(bound: Bound = BOUND, **more: Any) -> list[str]:
    return [str(each.value) for each in card(bound, **more).markdown]


def test_a_promise_is_said_with_its_chance_its_share_and_its_rows() -> None:
    said = "With confidence 95%, no query has an error above **20 rows (2% of n)**."
    assert describe_error(BOUND, n=1000, bold=True) == said
    app = card()
    privacy = "Privacy guarantee: ε = 1 (replace one row), for each single release."
    assert [each.value for each in app.markdown] == [f"{said} :orange-badge[theory]", "It is so.", privacy]
    assert [each.value.strip("$\n") for each in app.latex] == [BOUND.formula]
    assert [each.value for each in app.caption] == ["Reference: R."]
    assert lines(said="Else.", statement="Why.", seen=["Seen."])[:3] == [
        "Else. :orange-badge[theory]",
        "Why.",
        "Seen.",
    ]


def test_a_condition_has_its_own_verdict() -> None:
    told = lines(replace(BOUND, assumptions=CONDITIONS))
    assert told[2:4] == ["✓ met: n is large", "✗ **not met**: rows are public"]


def test_too_few_rows_are_too_few() -> None:
    assert lines(n=499, needs="To say anything")[2] == (
        "To say anything it needs n = 500 rows; here n = 499: ✗ **too few**."
    )
    assert lines(n=500, needs="To promise α = 0.1")[2].endswith("here n = 500: ✓ enough.")
    assert len(lines()) == 3, "not told where nobody asks"


def test_what_says_nothing_is_no_promise() -> None:
    unmet = replace(BOUND, assumptions=CONDITIONS)
    assert describe_error(unmet, n=1000) == "No guarantee: the theorem's assumptions are not all met."
    assert describe_error(unmet, n=499).endswith("not all met."), "no n makes rows public"
    by_rows = replace(BOUND, assumptions=(Assumption(text="n is large", met=False, met_by_rows=True),))
    assert describe_error(by_rows, n=499).endswith("not all met. It needs n = 500 or more.")
    above = describe_error(replace(BOUND, value=1.5), n=499)
    assert above == "No guarantee: the bound is 100% of n or more. It needs n = 500 or more."
    order = describe_error(replace(BOUND, value=math.inf, kind=BoundKind.ORDER_ONLY), n=1000)
    assert order == "No guarantee: no bound on the error is proved before the release.", "infinity is no magnitude"
    order = describe_error(replace(BOUND, kind=BoundKind.ORDER_ONLY), n=1000)
    assert order == "No guarantee: no error is proved before the release, only an order of magnitude."


@pytest.mark.parametrize(
    "bound",
    [
        replace(BOUND, kind=BoundKind.ORDER_ONLY),
        replace(BOUND, value=math.inf, kind=BoundKind.ORDER_ONLY),
        replace(BOUND, assumptions=CONDITIONS),
        replace(BOUND, value=1.5),
    ],
)
def test_where_no_error_is_guaranteed_the_intervals_of_the_release_are_still_proved(bound: Bound) -> None:
    """Above intervals of 95% “no error is proved” alone would contradict them."""
    proved = " Given the release, its intervals for these rows are proved."
    assert describe_error(replace(bound, has_proved_intervals=True), n=499) == describe_error(bound, n=499) + proved


def test_what_is_no_guarantee_is_a_warning() -> None:
    [warning] = card(guarantee=replace(GUARANTEE, releasable=False, why_not="It is approximate.")).warning
    assert warning.value == "Privacy: no guarantee. It is approximate."


def test_previews_are_held_against_the_promise() -> None:
    told = observed(10, 100, BOUND, private=True, on=" on all 300 queries")
    assert told.startswith(
        "Observed: 10 of 100 previews had an error above 2% on all 300 queries. The probability of that is between"
    )
    assert "between 0.049 and 0.177 (exact 95% interval); the theorem allows 0.05." in told
    assert told.endswith(":blue-badge[simulated] :orange-badge[not protected]")
    assert observed(10, 100, BOUND, private=False).endswith(":blue-badge[simulated]")
