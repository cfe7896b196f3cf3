"""Bars of the true data and the releases over them: every row is drawn, in its place, in its role, and counted."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dpcore import Problem, Thresholds
from dpcore.core import Dataset, Domain, Floats, Queries
from dpcore.data.columns import Labels, Number
from pages.charts.histogram import HALF_ROW, histogram, is_skewed, playable_releases
from pages.charts.picture import Bars, Curve, Picture, numbers
from tests.pages.reports import HOSTILE, NAMES, PUBLIC, SETTINGS, check, reported

DOMAINS = (
    Number(bits=1),
    Number(low=-3, high=1e6, bits=7, missing=True, unit="USD"),
    Number(bits=14, missing=True, clamp=False),
    Number(low=1000, high=1001, bits=5),
    Labels(labels=("<b>no</b>", "datum.rows", "yes")),
    Labels(labels=tuple(map(str, range(99)))),
)


def heights(curve: Curve, *, across: bool) -> Floats:
    """The value of a release over each bar."""
    values = numbers(curve.x if across else curve.y)
    ends = np.isnan(numbers(curve.y if across else curve.x))
    runs = [run[~np.isnan(run)] for run in np.split(values, np.flatnonzero(ends))]
    touching = runs[0][:-1] if not across else runs[0][:1]
    return np.concatenate([touching, *(run[:1] for run in runs[1:])])


@pytest.mark.parametrize(("kind", "domain", "records"), SETTINGS, ids=NAMES)
@pytest.mark.parametrize("log", [False, True])
def test_true_rows_are_grey_bars_and_releases_a_blue_line(
    kind: type[Queries], domain: Domain, records: list[int], log: bool
) -> None:
    dataset, report = reported(kind, domain, records)
    frames = playable_releases(report.frames, n=dataset.n, clean=True)
    picture = histogram(domain=domain, n=dataset.n, truth=dataset.histogram, frames=frames, log=log)
    check(picture, dark=log)
    bars, line = picture.one(Bars), picture.one(Curve)
    assert (bars.role, line.role) == ("true", "released")
    assert numbers(bars.value).sum() == dataset.n == sum(picture.table["true rows"])
    drawn = heights(line, across=bars.across)
    assert len(drawn) == len(numbers(bars.value)) and drawn.min() >= (HALF_ROW if log else 0)
    if not log:
        assert drawn.sum() == dataset.n, "a cleaned release has n rows"
    assert len(picture.frames) == 20


@pytest.mark.parametrize("domain", DOMAINS, ids=range(len(DOMAINS)))
def test_all_rows_are_in_the_table_and_in_the_picture(domain: Domain, seed: int) -> None:
    data = Dataset(domain, np.random.default_rng(seed).integers(domain.size, size=500), PUBLIC)
    picture = histogram(domain=domain, n=500, truth=data.histogram)
    drawn = check(picture)
    assert sum(picture.table["true rows"]) == numbers(picture.one(Bars).value).sum() == 500
    if domain.missing:
        assert picture.table["true rows"][-1] == data.histogram[-1]
    # Bars next to each other are drawn apart, whatever the bounds.
    places = drawn.data[0]["y" if picture.one(Bars).across else "x"]
    assert len(set(places)) == len(places)


def test_missing_values_stand_apart_with_their_name() -> None:
    domain = Number(low=0, high=8, bits=3, missing=True)
    picture = histogram(domain=domain, n=5, truth=np.array([0, 0, 3, 0, 0, 1, 0, 0, 1]))
    bars = picture.one(Bars)
    start, end = numbers(bars.start), numbers(bars.end)
    assert start[:-1].tolist() == list(range(8)) and end[:-1].tolist() == list(range(1, 9))
    assert start[-1] > 8 and numbers(bars.value)[-1] == 1
    ((place, name),) = picture.x.named.items()
    assert start[-1] < place < end[-1] <= (picture.x.high or 0) and name == "missing"
    assert max(picture.x.ticks) <= 8
    assert picture.sentence == (
        "5 rows in 8 bars: the fullest, 2 to 3, has 3; 6 are empty; 1 row is missing or out of bounds."
    )


def test_a_line_steps_where_its_bars_begin() -> None:
    truth = np.array([4, 0, 2, 1, 3])
    picture = histogram(
        domain=Number(low=0, high=4, bits=2, missing=True), n=10, truth=truth, frames=truth[None, :] + 0.5
    )
    line, bars = picture.one(Curve), picture.one(Bars)
    assert line.step and numbers(line.x)[:5].tolist() == [0, 1, 2, 3, 4]
    assert numbers(line.y)[:5].tolist() == [4.5, 0.5, 2.5, 1.5, 1.5]
    assert numbers(line.x)[6:].tolist() == [numbers(bars.start)[-1], numbers(bars.end)[-1]]
    assert numbers(line.y)[6:].tolist() == [3.5, 3.5]


def test_pointing_at_a_bar_says_rows_and_share() -> None:
    picture = histogram(
        domain=Number(low=0, high=4, bits=2), n=10, truth=np.array([4, 0, 5, 1]), frames=np.ones((1, 4))
    )
    assert picture.one(Bars).hover == [
        "0 to 1: true 4 of 10 rows (40%)",
        "1 to 2: true 0 of 10 rows (0%)",
        "2 to 3: true 5 of 10 rows (50%)",
        "3 to 4: true 1 of 10 rows (10%)",
    ]
    line = next(trace for trace in check(picture).data if trace["name"] == "released")
    assert line["customdata"][0] == 0.1 and "of n" in line["hovertemplate"] and "simulated" in line["hovertemplate"]


def test_the_fullest_labels_have_bars_and_the_others_share_one() -> None:
    domain = Labels(labels=tuple(map(str, range(100))))
    counts = np.arange(101)
    picture = histogram(domain=domain, n=int(counts.sum()), truth=counts, frames=counts[None, :].astype(float))
    names = picture.table["rows where"]
    assert names[:2] == ["99", "98"] and names[40:] == ["60 others", "any other value"]
    assert picture.table["true rows"][-1] == 100 and picture.y.labels == tuple(names)
    line, bars = picture.one(Curve), picture.one(Bars)
    assert heights(line, across=True).tolist() == numbers(bars.value).tolist()
    # The tick is as high as its bar, and crosses it.
    assert numbers(line.y)[1:3].tolist() == [numbers(bars.start)[0], numbers(bars.end)[0]]


def test_each_release_has_its_own_caption() -> None:
    truth = np.array([40, 0, 0, 0])
    frames = np.tile(truth.astype(np.float64), (4, 1))
    frames[:3, 1] += (5, 1, 12)
    frames[3] = np.nan
    picture = histogram(domain=Number(bits=2), n=40, truth=truth, frames=frames)
    everything = "40 rows in 4 bars: in its worst bar, each of the 3 releases has an error of 1 to 12 rows; "
    everything += "1 of the 4 shown gave no answer (⊥)."
    said = ("error of at most 5 rows", "error of at most 1 row", "error of at most 12 rows", "no answer (⊥)")
    assert [frame.label for frame in picture.frames] == [f"release {k} of 4" for k in (1, 2, 3, 4)]
    assert [frame.sentence for frame in picture.frames] == [
        f"Release {k} of 4: {text}. {everything}" for k, text in enumerate(said, start=1)
    ]
    drawn = check(picture)
    assert drawn.frames[2]["data"][0]["y"][:2] == [40, 12] and drawn.frames[3]["data"][0]["y"][:2] == [None, None]
    assert "x" not in drawn.frames[1]["data"][0], "what does not move is not sent again"


@pytest.mark.parametrize("domain", [Number(bits=2, missing=True), Labels(labels=("a", "b"))])
def test_refusing_every_time_is_a_picture_too(domain: Domain) -> None:
    nothing = np.full((3, domain.size), np.nan)
    frames = playable_releases(nothing, n=domain.size, clean=True)
    picture = histogram(domain=domain, n=domain.size, truth=np.ones(domain.size, dtype=int), frames=frames)
    check(picture)
    assert "every preview gave no answer (⊥)." in picture.sentence and list(picture.table) == [
        "rows where",
        "true rows",
    ]


def test_a_cleaned_release_adds_up_and_is_never_negative() -> None:
    dataset, report = reported(*SETTINGS[0], epsilon=0.05)
    shown = playable_releases(report.frames, n=dataset.n, clean=True)
    assert (report.frames < 0).any() and (shown >= 0).all() and (shown.sum(axis=1) == dataset.n).all()
    assert np.array_equal(playable_releases(report.frames, n=dataset.n, clean=False), report.frames[:20])


def test_a_bar_that_dwarfs_the_rest_asks_for_equal_factors() -> None:
    domain = Number(bits=3)
    flat, steep = np.full(8, 50), np.array([2000, 5, 3, 0, 8, 1, 2, 5])
    assert is_skewed(domain, steep) and not is_skewed(domain, flat) and not is_skewed(domain, np.zeros(8, dtype=int))
    linear, log = (histogram(domain=domain, n=2024, truth=steep, log=log) for log in (False, True))
    assert not linear.y.log and log.y.log and log.y.low == HALF_ROW and "log" in log.y.title
    # Another kind of axis is another picture: a zoom of one would be nonsense on the other.
    assert check(linear).layout["uirevision"] != check(log).layout["uirevision"]


def test_zoom_and_brush_stay_with_epsilon_and_go_with_the_data() -> None:
    def revision(low: float, epsilon: float) -> str:
        _, report = reported(Thresholds, Number(low=low, bits=3), [0, 3, 3], epsilon=epsilon)
        problem: Problem = report.problem
        picture = histogram(domain=problem.domain, n=3, truth=np.array([1, 0, 0, 2, 0, 0, 0, 0]), frames=report.frames)
        return str(check(picture).layout["uirevision"])

    assert revision(0, 1.0) == revision(0, 0.1) != revision(-5, 1.0)


def test_labels_are_words_and_never_markup_nor_in_sentences() -> None:
    dataset, report = reported(*SETTINGS[4])
    picture = histogram(domain=dataset.domain, n=dataset.n, truth=dataset.histogram, frames=report.frames)
    check(picture)
    assert not any(label in picture.sentence for label in HOSTILE if len(label) > 4)


def size(picture: Picture) -> int:
    drawn = check(picture)
    return len(json.dumps([drawn.data, drawn.layout, drawn.frames], separators=(",", ":"), ensure_ascii=False))


def test_what_is_sent_is_small() -> None:
    dataset, report = reported(*SETTINGS[0])
    frames = playable_releases(report.frames, n=dataset.n, clean=False)
    assert size(histogram(domain=dataset.domain, n=dataset.n, truth=dataset.histogram, frames=frames)) < 40_000
