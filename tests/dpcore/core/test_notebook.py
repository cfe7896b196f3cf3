"""What a notebook shows of objects: public facts, escaped, and only the first lines of a long table."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpcore
from dpcore.core import Assumption, Bound, BoundKind, HistogramRelease, ParameterError
from dpcore.data.columns import Number
from tests.kit.ledgers import plan_of

RELATION = dpcore.Neighbours.ADD_REMOVE_ONE
GUARANTEE = dpcore.Guarantee(epsilon=0.5, neighbours=RELATION, releasable=False, why_not="A preview.")


def released(domain: dpcore.Labels | Number, *, trials: int = 2) -> HistogramRelease:
    return HistogramRelease(
        problem=dpcore.Problem(domain=domain, queries=dpcore.Cells(domain=domain), n=4, neighbours=RELATION),
        guarantee=GUARANTEE, sampler="preview", refused=np.zeros(trials, dtype=bool),
        counts=np.arange(trials * domain.size).reshape(trials, domain.size),
    )  # fmt: skip


def test_a_release_shows_its_guarantee_and_its_first_lines_escaped() -> None:
    shown = released(dpcore.Labels(labels=("<script>", "cook")))._repr_html_()
    assert "ε = 0.5 (add or remove one row) of each release" in shown and "<script>" not in shown
    assert "&lt;script&gt;" in shown and "<td>2, 0 of them without an answer</td>" in shown
    assert shown.count("<td>cook</td>") == 1, "one release of the two"


def test_a_long_release_is_cut() -> None:
    assert "… and 246 more" in released(Number(bits=8))._repr_html_()
    assert "<th>cell</th>" not in released(Number(bits=14))._repr_html_()


def test_a_release_is_drawn_as_it_was_drawn_from_the_mechanism() -> None:
    shown = released(dpcore.Labels(labels=("nurse", "cook")))
    bars = [shown.plot(trial).data[0] for trial in range(2)]
    assert [list(each.y) for each in bars] == shown.counts.tolist()
    assert list(bars[0].x) == ["nurse", "cook", "nan"] and shown.plot().layout.yaxis.title.text == "rows"
    for trial in (-1, 2):
        with pytest.raises(ParameterError, match="between 0 and 1"):
            shown.plot(trial)
    with pytest.raises(ParameterError, match="more than 10,000 numbers"):
        released(Number(bits=14)).plot()


def test_guarantees_bounds_and_plans_are_small_tables() -> None:
    assert "A preview." in GUARANTEE._repr_html_()
    bound = Bound(
        value=0.25, kind=BoundKind.GUARANTEE, statement="No count errs by more.", reference="A and B 2008, Theorem 1",
        beta=0.05, assumptions=(Assumption(text="n is public", met=False),),
    )  # fmt: skip
    shown = bound._repr_html_()
    assert "25% of n" in shown and "n is public (not met)" in shown and "A and B 2008" in shown
    assert "no bound" in Bound(value=math.inf, kind=BoundKind.LOWER, statement="", reference="")._repr_html_()
    plan = plan_of()
    shown = plan._repr_html_()
    assert plan.cost.sentence() in shown and shown.count("<tr>") == 2 + 1 + len(plan.questions)


def test_what_holds_rows_is_not_shown() -> None:
    assert not hasattr(dpcore.Dataset, "_repr_html_")
    assert not hasattr(dpcore.core.release.State, "_repr_html_")
