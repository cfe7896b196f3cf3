"""Errors of every query: bands, bars and maps stand where the report says, in its unit, with whole rows beside."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dpcore import Cells, Intervals, Number, Product, Rectangles, Thresholds
from dpcore.core import Domain, Queries, exactly
from pages.charts.picture import Band, Curve, Dots, Heat, Outline, numbers
from pages.charts.words import percent_up, rows_up
from pages.play.figures.band import error_band
from pages.play.pictures import View, _band_caption, headline
from tests.pages.reports import HOSTILE, NAMES, SETTINGS, check, reported

PLANE = Product.map(Number(bits=4), Number(bits=3, high=70))


@pytest.mark.parametrize(("kind", "domain", "records"), SETTINGS, ids=NAMES)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_setting_is_a_picture_that_says_its_hardest_query(
    kind: type[Queries], domain: Domain, records: list[int], dark: bool
) -> None:
    _, report = reported(kind, domain, records)
    picture = error_band(report)
    check(picture, dark=dark)
    most = float(np.abs(report.band[[0, -1]]).max())
    assert percent_up(most) in picture.sentence and rows_up(most, report.problem.n) in picture.sentence
    assert not any(label in picture.sentence for label in HOSTILE if len(label) > 4)
    assert {mark.role for mark in picture.marks} <= {"released", "paper", "ink"}


@pytest.mark.parametrize(("kind", "offset"), [(Thresholds, 1.0), (Cells, 0.5)])
def test_a_threshold_is_at_the_end_of_its_cell_and_a_cell_at_its_middle(kind: type[Queries], offset: float) -> None:
    _, report = reported(kind, Number(low=-5, high=5, bits=3), [0, 1, 1, 7])
    picture = error_band(report)
    median = picture.one(Curve)
    assert numbers(median.x) == pytest.approx(-5 + (report.indices + offset) * 1.25)
    assert numbers(median.y).tolist() == report.band[2].tolist()
    assert (picture.x.low, picture.x.high, picture.y.rows) == (-5, 5, 4)
    outer, inner = (picture.one(Band, name=f"{share}% band") for share in (90, 50))
    for band, (low, high) in ((outer, (0, 4)), (inner, (1, 3))):
        assert numbers(band.low).tolist() == report.band[low].tolist()
        assert numbers(band.high).tolist() == report.band[high].tolist()
    assert median.hover is not None
    most = float(np.abs(report.band[[0, -1], 0]).max())
    assert rows_up(most, 4) in median.hover[0] and percent_up(most) in median.hover[0]


def test_labels_have_a_thin_and_a_thick_bar_beside_their_name() -> None:
    dataset, report = reported(*SETTINGS[4])
    picture = error_band(report)
    order = np.argsort(-report.truth, kind="stable")
    assert dataset.domain.describe(int(report.indices[order[0]]))[:5] == picture.y.labels[0][:5]
    for share, (low, high) in ((90, (0, 4)), (50, (1, 3))):
        ends = numbers(picture.one(Curve, name=f"{share} in 100 releases").x).reshape(-1, 3)
        assert ends[:, 0].tolist() == report.band[low, order].tolist()
        assert ends[:, 1].tolist() == report.band[high, order].tolist()
    median = picture.one(Dots, name="median")
    assert numbers(median.x).tolist() == report.band[2, order].tolist()
    assert numbers(median.y).tolist() == list(range(len(order))) and picture.x.rows == dataset.n


def test_intervals_are_tiles_over_both_ends_and_the_hardest_is_ringed() -> None:
    _, report = reported(*SETTINGS[0])
    picture = error_band(report)
    heat, queries = picture.one(Heat), report.problem.queries
    assert isinstance(queries, Intervals) and heat.role == "released" and heat.rows == 3000
    x, y, value = numbers(heat.x), numbers(heat.y), numbers(heat.value)
    assert (x[0], x[-1], y[0], y[-1]) == (0, 1, 0, 1)
    size = np.abs(report.band[[0, -1]]).max(axis=0)
    assert np.isfinite(value).sum() == len(size) and heat.low == 0 and heat.high == size.max()
    first, last = queries.ends(report.indices)
    for start, end, error in zip(first / 1024, (last + 1) / 1024, size, strict=True):
        column, row = np.searchsorted(x, start, "right") - 1, np.searchsorted(y, end, "left") - 1
        assert value[row, column] == error
    worst = int(size.argmax())
    ring = picture.one(Outline, role="ink")
    assert ring.x[0] <= first[worst] / 1024 <= ring.x[1] and ring.y[0] <= (last[worst] + 1) / 1024 <= ring.y[1]
    assert check(picture).data[0]["customdata"][-1][0] == pytest.approx(3000 * value[-1, 0], rel=1e-3)


def test_rectangles_go_from_small_to_large() -> None:
    _, report = reported(Rectangles, PLANE, np.arange(0, 128, 3).tolist())
    picture = error_band(report)
    check(picture)
    queries = report.problem.queries
    assert isinstance(queries, Rectangles)
    left, right, low, high = queries.ends(report.indices)
    assert picture.table["cells"] == sorted(((right - left + 1) * (high - low + 1)).tolist())
    by_name = dict(zip(picture.table["rectangle"], picture.table["true answer"], strict=True))
    for index, answer in zip(report.indices[::17], report.truth[::17], strict=True):
        assert by_name[queries.describe(int(index))] == pytest.approx(answer, rel=1e-3)
    order = np.argsort((right - left + 1) * (high - low + 1), kind="stable")
    assert numbers(picture.one(Curve, name="median").y).tolist() == report.band[2, order].tolist()


def test_refusing_every_time_is_a_picture_too() -> None:
    _, report = reported(*SETTINGS[1], trials=5)
    nothing = np.full(5, np.nan)
    refused = dataclasses.replace(report, refused=np.ones(5, dtype=bool), worst=nothing, typical=nothing)
    assert "Every previewed release gave no answer (⊥)." in error_band(refused).sentence
    check(error_band(refused))


@pytest.mark.parametrize(("kind", "domain", "records"), SETTINGS, ids=NAMES)
def test_headline_and_band_say_what_was_drawn(kind: type[Queries], domain: Domain, records: list[int]) -> None:
    _, found = reported(kind, domain, records)
    most = float(np.abs(found.band[[0, -1]]).max())
    assert f"error of 90 in 100 releases at most {percent_up(most)}." in _band_caption(found)
    if isinstance(found.problem.queries, Intervals):  # the map of intervals says half of them too
        shown = np.abs(found.band[[0, -1]]).max(axis=0)
        assert f"Half of those shown have at most {percent_up(float(np.median(shown)))}" in error_band(found).sentence
    refused = dataclasses.replace(found, refused=np.ones_like(found.refused))
    view = View(clean=False, log=False, query=None)
    assert headline(refused, view) == f"At ε = {exactly(found.guarantee.epsilon)}, every release gives no answer (⊥)"
    assert _band_caption(refused) == "" and "gives no answer" not in headline(found, view)
