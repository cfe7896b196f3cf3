"""Maps of pairs: every row where it lies, one scale of shades for both, releases with their captions."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dpcore import Cells, Dataset, Number, Product, Rectangles
from dpcore.data.product import is_map
from dplab.measure import ErrorReport
from pages.charts.histogram import playable_releases
from pages.charts.maps import MAX_FRAMES, blocks, darkest_count, released_map, true_map
from pages.charts.picture import Heat, Outline, Picture, numbers
from pages.charts.words import significant
from tests.pages.reports import HOSTILE, check, reported

GRID = Product.map(Number(low=-5, high=5, bits=3, missing=True), Number(high=1e6, bits=2, unit="USD"))
FINE = Product.map(Number(bits=6), Number(bits=2))
SETTINGS: list[tuple[Any, Product, list[int]]] = [
    (Rectangles, GRID, [0, 1, 1, 7, 31, 32, 32]),
    (Cells, GRID, [32]),
    (Rectangles, FINE, np.random.Generator(np.random.SFC64(1)).integers(0, 256, 3000).tolist()),
    (Rectangles, Product.map(Number(bits=1), Number(bits=1)), [3]),
]


def both(dataset: Dataset, report: ErrorReport, *, clean: bool = False) -> tuple[Picture, Picture]:
    domain, truth = dataset.domain, dataset.histogram
    assert is_map(domain)
    frames = playable_releases(report.frames, n=dataset.n, clean=clean, limit=MAX_FRAMES)
    true = true_map(domain=domain, truth=truth, darkest=darkest_count(domain, truth, frames))
    return true, released_map(domain=domain, n=dataset.n, truth=truth, frames=frames, outlined=(0, 1, 0, 0))


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: f"{setting[0].key}-{setting[1].size}")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_truth_is_grey_and_a_release_blue_in_one_scale(setting: tuple[Any, Product, list[int]], dark: bool) -> None:
    true, released = both(*reported(*setting))
    shades = []
    for picture, role in ((true, "true"), (released, "released")):
        check(picture, dark=dark)
        heat = picture.one(Heat)
        assert heat.role == role and heat.root
        shades.append((heat.low, heat.high))
        for frame in picture.frames:
            (mark,) = frame.marks.values()
            assert isinstance(mark, Heat) and np.nanmax(numbers(mark.value)) <= heat.high
    assert shades[0] == shades[1] and true.brush == "xy" and not released.brush


def test_a_map_draws_every_row_where_it_lies() -> None:
    dataset, report = reported(*SETTINGS[0])
    true, released = both(dataset, report)
    heat = true.one(Heat)
    # The first number across, the second upwards.
    assert numbers(heat.x).tolist() == np.linspace(-5, 5, 9).tolist()
    assert numbers(heat.y).tolist() == np.linspace(0, 1e6, 5).tolist()
    assert np.array_equal(numbers(heat.value), dataset.histogram[:32].reshape(8, 4).T)
    assert check(true).data[0]["z"] == dataset.histogram[:32].reshape(8, 4).T.tolist()
    assert "2 are missing or out of bounds" in true.sentence
    assert true.table["true rows"] == dataset.histogram.tolist() and true.table["across"][-1].startswith("missing")
    for number, frame in enumerate(released.frames):
        (mark,) = frame.marks.values()
        assert isinstance(mark, Heat)
        assert np.array_equal(numbers(mark.value), report.frames[number, :32].reshape(8, 4).T)
    assert f"· {significant(report.frames[0, 32])} missing" in released.frames[0].sentence
    # The outline is the rectangle's: two columns of 1.25, one row of 250,000.
    outline = released.one(Outline)
    assert (outline.role, outline.x, outline.y) == ("theory", (-5.0, -2.5), (0.0, 250_000.0))
    whole = numbers(both(dataset, report, clean=True)[1].one(Heat).value)
    assert whole.sum() <= 7 and whole.min() >= 0


def test_fine_grids_are_drawn_in_blocks_that_keep_every_row(seed: int) -> None:
    counts = np.random.Generator(np.random.SFC64(seed)).integers(0, 9, (3, FINE.size))
    found = blocks(counts, FINE)
    assert found.shape == (3, 32 * 4 + 1)
    np.testing.assert_array_equal(found[:, :-1], counts.reshape(3, 32, 2, 4).sum(axis=2).reshape(3, -1))
    assert "128 blocks of 2 cells" in both(*reported(*SETTINGS[2]))[0].sentence


def test_refusals_are_said_and_not_drawn() -> None:
    dataset, report = reported(*SETTINGS[0])
    frames = playable_releases(report.frames, n=dataset.n, clean=True, limit=MAX_FRAMES)
    frames[[0, 3]] = np.nan
    told: dict[str, Any] = {"domain": dataset.domain, "n": dataset.n, "truth": dataset.histogram}
    picture = released_map(frames=frames, **told)
    drawn = check(picture)
    assert "each of the 6 releases has an error of" in picture.sentence
    assert "2 of the 8 shown gave no" in picture.sentence
    assert picture.frames[0].sentence.startswith("Release 1 of 8: no answer (⊥).")
    assert drawn.data[0]["z"][0][0] is None
    nothing = released_map(frames=np.full_like(frames, np.nan), **told)
    check(nothing)
    assert nothing.table == {"outcome": ["refused"]}


@pytest.mark.slow
def test_names_of_columns_are_words_and_never_markup() -> None:
    plain = both(*reported(Rectangles, GRID, [0, 1, 1, 31]))
    for name in HOSTILE:
        domain = Product.map(*GRID.columns, names=(name, f"{name} "))
        for picture, other in zip(both(*reported(Rectangles, domain, [0, 1, 1, 31])), plain, strict=True):
            check(picture)
            assert picture.sentence == other.sentence


def test_maps_are_small() -> None:
    records = np.random.Generator(np.random.SFC64(1)).integers(0, 1024, 10_000).tolist()
    pictures = [
        check(picture) for picture in both(*reported(Rectangles, Product.map(Number(bits=5), Number(bits=5)), records))
    ]
    sent = sum(len(json.dumps([drawn.data, drawn.frames], separators=(",", ":"))) for drawn in pictures)
    assert sent < 90_000


def test_each_release_has_its_own_caption() -> None:
    domain = Product.map(Number(bits=2), Number(bits=2))
    truth = np.zeros(16, dtype=np.int64)
    truth[0] = 40
    frames = np.tile(truth.astype(np.float64), (3, 1))
    frames[:, 1] += (5, 1, 12)
    picture = released_map(domain=domain, n=40, truth=truth, frames=frames)
    said = [frame.sentence.partition(".")[0] for frame in picture.frames]
    told = ((1, "5 rows"), (2, "1 row"), (3, "12 rows"))
    assert said == [f"Release {place} of 3: error of at most {off}" for place, off in told]
    assert "each of the 3 releases has an error of 1 to 12 rows" in picture.sentence
    assert "elease 1" not in picture.sentence


@pytest.mark.parametrize(
    ("counts", "fullest"),
    [([4, 0, 0, 0], 1), ([1, 1, 1, 1], 2), ([3, 2, 2, 0], 2), ([5, 2, 2, 1], 1), ([0, 0, 0, 0], 0)],
)
def test_half_of_the_rows_lie_in_the_fewest_fullest_cells(counts: list[int], fullest: int) -> None:
    domain = Product.map(Number(bits=1), Number(bits=1))
    sentence = true_map(domain=domain, truth=np.array(counts, dtype=np.int64)).sentence
    assert (f"half of those inside lie in the {fullest} fullest" in sentence) == bool(fullest)
    assert ("half of" in sentence) == bool(fullest)
