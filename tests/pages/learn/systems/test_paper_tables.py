"""What the papers print: a table for every system at the settings in the link, and the page that runs it."""

from __future__ import annotations

import numpy as np
import pytest

from dplab.printed import simulated as run
from dplab.printed.rectangles import rectangle_table
from pages.charts.picture import Curve, Dots, Rule, numbers
from pages.charts.words import significant
from pages.learn.paper_tables import simulated
from pages.learn.paper_tables.tables import SYSTEMS
from tests.cases import full_but
from tests.pages.drawn_charts import drawn
from tests.pages.lessons import checked
from tests.pages.opening import opened, sound

OTHERS = {
    "polynomials": {"printed_attributes": "16", "printed_width": "4", "printed_rows": "1000", "printed_epsilon": "2"},
    "nets": {"printed_bits": "6", "printed_alpha": "0.2", "printed_epsilon": "2"},
    "population": {"printed_class": "parities", "printed_bits": "6", "printed_epsilon": "2"},
    "open": {"printed_few_attributes": "6", "printed_width": "4", "printed_epsilon": "2"},
    "intervals": {"printed_bits": "6", "printed_alpha": "0.2", "printed_epsilon": "2"},
    "rectangles": {"printed_levels": "4", "printed_rows": "1000", "printed_epsilon": "2"},
    "halfspaces": {"printed_dimensions": "3", "printed_margin": "0.2", "printed_alpha": "0.2"},
    "weights": {"printed_points": "16", "printed_scale": "0.5", "printed_epsilon": "5"},
    "stability": {"printed_rows": "1000", "printed_delta": "1e-9", "printed_epsilon": "0.5"},
    "random": {"printed_cells": "64", "printed_histogram_rows": "1000", "printed_epsilon": "2"},
}
"""Settings that are not the usual ones."""


def linked(link: str) -> dict[str, str]:
    """What a page link says."""
    return dict(part.split("=") for part in link.split("&") if part)


@pytest.mark.full
def test_every_setting_that_the_page_has_a_name_for_is_passed() -> None:
    asked = {
        "polynomials": {"cube-attributes": "16", "width": "4", "cube-rows": "1000", "epsilon": "2"},
        "nets": {"bits": "6", "epsilon": "2", "beta": "0.05", "queries": "intervals", "net-points": "10"},
        "population": {"dimension-class": "parities", "dimension-parities": "6"},
        "open": {"cube-attributes": "6", "width": "4"},
        "intervals": {"bits": "6", "alpha": "0.2", "epsilon": "2", "beta": "0.05", "queries": "intervals"},
        "rectangles": {"data": "clouds", "queries": "rectangles", "rectangles-levels": "4", "epsilon": "2"},
        "halfspaces": {"vector-dimensions": "3", "vector-margin": "0.2", "margin": "0.2", "alpha": "0.2"},
        "weights": {"fat-points": "16", "fat-scale": "0.5", "fat-epsilon": "5"},
        "stability": {"n": "1000", "delta": "1e-9", "epsilon": "0.5"},
        "random": {"histogram-cells": "64", "histogram-rows": "1000", "histogram-epsilon": "2"},
    }
    for system, settings in asked.items():
        app = sound(opened("learn/page.py", lesson="printed", printed_system=system, **OTHERS[system]))
        (use,) = (each.proto for each in app.get("page_link") if each.proto.label == "Use these settings")
        assert settings.items() <= linked(use.query_string).items(), system


SLOW = ("nets", "intervals", "rectangles", "halfspaces")
"""Systems whose page takes long at the usual settings."""


@pytest.mark.parametrize(
    ("system", "other"),
    [pytest.param(each, False, marks=pytest.mark.full if each in SLOW else ()) for each in SYSTEMS]
    + full_but([(each, True) for each in SYSTEMS], *((each, True) for each in SLOW)),
)
def test_every_system_has_its_table_and_its_settings_can_be_used(system: str, other: bool) -> None:
    app = sound(opened("learn/page.py", lesson="printed", printed_system=system, **(OTHERS[system] if other else {})))
    assert bool(drawn(app)) == (system in ("polynomials", "population", "intervals", "halfspaces"))
    assert not app.warning and not app.error
    table = next(each.value for each in app.markdown if each.value.startswith("| quantity"))
    assert any(each.value.startswith("| method") for each in app.markdown) is (system == "polynomials")
    lines = table.split("\n")[2:]
    assert len(lines) >= 3 and all(line.replace("\\|", "").count("|") == 5 for line in lines)
    (use,) = (each.proto for each in app.get("page_link") if each.proto.label == "Use these settings")
    link = linked(use.query_string)
    page = sound(opened(SYSTEMS[system][2], **link))
    assert not page.warning and drawn(page)
    for name, value in link.items():
        assert name in ("lesson", "view") or str(page.session_state[name]).removesuffix(".0") == value


def test_the_numbers_are_those_of_the_settings() -> None:
    link = {"printed_system": "intervals", "printed_alpha": "0.1", "printed_bits": "10"}
    app = sound(opened("learn/page.py", lesson="printed", **link))
    table = next(each.value for each in app.markdown if each.value.startswith("| quantity"))
    assert "| 7,745 | 27,879,391 |" in table and "| not printed | 60,800 |" in table


def test_a_promise_that_says_nothing_is_said_to_beside_what_is_seen_and_the_rows_it_needs() -> None:
    table = rectangle_table(levels=4, n=20_000, epsilon=1.0, beta=0.05, seed=1)
    assert [each.what.split(", ")[-1] for each in table.lines[:2]] == ["2 columns"] * 2 and len(table.lines) == 6
    for promised, rows, seen in (table.lines[:3], table.lines[3:]):
        assert promised.holds is not None and rows.holds is not None and seen.holds is not None
        assert seen.holds < min(1, promised.holds)
        assert (promised.holds >= 1) == promised.why.startswith("no guarantee") == (rows.holds > 20_000)


def test_what_is_printed_is_drawn_beside_ours_on_the_right_side() -> None:
    """The sanitizer is private with T = dᵗ and not with T = max |aᵢ|; Algorithm 2 misses its promise at its own n."""
    found = run.sanitizer(attributes=16, width=4, alpha=0.2, epsilon=1.0, seed=1)
    assert found.exact_epsilons["printed"] < found.claimed < found.exact_epsilons["largest"] / 50
    picture = simulated.sanitizer(found, alpha=0.2)
    checked(picture)
    ends = {curve.name.split(":")[0]: numbers(curve.y) for curve in picture.find(Curve)}
    assert (ends["T = max |aᵢ|"] <= ends["noise for all coefficients"]).all()
    assert (ends["noise for all coefficients"] <= ends["T = dᵗ, as printed"]).all()
    assert (found.errors["ours"] <= 1.05 * found.errors["private"]).all()
    names = str([curve.name for curve in picture.find(Curve)])
    assert all(f"has ε = {significant(each)}" in names for each in found.exact_epsilons.values())

    line = run.intervals(bits=6, alpha=0.2, epsilon=1.0, beta=0.05, seed=1)
    picture = simulated.intervals(line, alpha=0.2)
    checked(picture)
    printed, needed = (
        int(np.argmin(np.abs(line.at - line.marked_places[words])))
        for words in ("rows printed", "rows that the proof needs")
    )
    assert line.errors["printed"][printed] > 2 * 0.2 and line.errors["printed"][needed] < 0.2
    assert line.errors["recursive"][printed] < 0.2
    rules = {rule.label: rule.x for rule in picture.find(Rule, role="ink")}
    assert rules == line.marked_places

    sides = run.halfspaces(dimensions=3, margin=0.5, alpha=0.2, epsilon=1.0, beta=0.05, seed=1)
    picture = simulated.halfspaces(sides, alpha=0.2)
    checked(picture)
    assert "10,000 rows (printed version: votes on the first 500 rows, at most 3,000 matrices)" in picture.sentence
    assert (np.diff(sides.errors["kept"]) < 0).all() and (np.diff(sides.errors["printed"]) > 0).all()
    assert (sides.errors["ours"][2:] < sides.errors["kept"][2:]).all()  # nothing is projected


def test_an_error_above_950_percent_stands_at_the_top_and_any_below_where_it_is() -> None:
    errors = np.array([9.4, 9.6, 40.0])
    keys = ("printed", "kept", "ours")
    found = run.SimulatedErrors(
        at=np.array([1.0, 2.0, 4.0]), errors=dict.fromkeys(keys, errors), marked_places={"T as printed": 100.0},
        claimed=1.0, exact_epsilons={},
    )  # fmt: skip
    shown = simulated.halfspaces(found, alpha=0.1)
    assert shown.sentence.endswith("Errors above 950% are shown at the top.")
    for dots in shown.find(Dots):
        assert numbers(dots.y).tolist() == [9.4, 9.5, 9.5]
