"""Pairs of numbers: every source's grid, its rows, its key, and the code that makes it again."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore import Number, ParameterError, Preview, Problem, Product, Rectangles, entry
from dpcore.core import DataRelease
from dpcore.core.problem import cell_columns
from dpcore.data.bundled import bundled
from dpcore.data.columns import Labels, is_labels
from dpcore.data.generators import GENERATORS, PLANE_CLOUDS, generate
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns
from dpcore.data.samples import SAMPLES, load_sample
from dpcore.data.sources import Source, generated_rows
from dplab.synthetic import synthetic_csv
from dprelease.requests.codec import decode, encode
from tests.kit import sources
from tests.kit.chance.numbers import has_number

BUNDLED = [(one.key, *pair) for one in SAMPLES for pair in one.pairs]
PLANE = [key for key, shape in GENERATORS.items() if shape.in_the_plane]
TEXT = "wide,high,name\n0.5,1,a\n,2,b\n3.5,2.5,c\n99,0,d\n1,nothing,e\n"
GRID = Product.map(
    Number(low=0, high=4, bits=2, missing=True, clamp=False), Number(low=0, high=4, bits=1), names=("wide", "high")
)


def own(*, private: bool = False, table: Table | None = None, domain: Any = GRID) -> Source:
    table = table or read_table(TEXT.encode(), name="own.csv")
    return sources.own(table, "wide", "high", on=domain, private=private)


@pytest.mark.parametrize(("key", "first", "second"), BUNDLED, ids=["-".join(each) for each in BUNDLED])
def test_bundled_pairs_lie_where_their_columns_do(key: str, first: str, second: str) -> None:
    source, table = bundled(key, first, second), load_sample(key)
    dataset, domain = source.dataset(), source.on(Product)
    labels = side.labels if is_labels(side := domain.columns[1]) else ()
    assert dataset.n == table.row_count and domain.shape == (32, len(labels) or 32) and domain.names == (first, second)
    plane = dataset.histogram[: domain.ordered].reshape(domain.shape)
    for axis, line, column in ((0, domain.columns[0], first), (1, domain.columns[1], second)):
        cells = line.encode(line.values(table, column))
        counts = np.bincount(cells, minlength=line.size)
        rest = counts[: line.ordered] - plane.sum(axis=1 - axis)
        # What is less than the column by itself has no number in the other column.
        assert (rest >= 0).all() and rest.sum() <= dataset.histogram[-1]
    assert (plane > 0).sum() > 20
    assert source.columns == (first, second) and "×" in source.provenance.title


@pytest.mark.slow
@given(st.sampled_from(PLANE), st.integers(1, 200), st.integers(1, 9), st.integers(0, 9), st.integers())
def test_generated_pairs_lie_on_the_grid(key: str, n: int, rows: int, columns: int, seed: int) -> None:
    columns, seed = columns + 1, abs(seed) % 2**64
    records = generate(key, n=n, size=(rows, columns), seed=seed)
    assert records.shape == (n,) and 0 <= records.min() <= records.max() < rows * columns
    np.testing.assert_array_equal(records, generate(key, n=n, size=(rows, columns), seed=seed))


def test_generated_shapes_are_what_they_say() -> None:
    plane = generated_rows("diagonal", n=20_000, bits=4, seed=1).dataset().histogram.reshape(16, 16)
    assert plane.sum(axis=1).min() > 1000 and np.trace(plane) > 10_000 and plane[0, 8:].sum() == 0
    clouds = generated_rows("clouds", n=20_000, bits=3, seed=1).dataset().histogram.reshape(8, 8)
    assert clouds[2, 5] + clouds[1, 5] > 5000 and clouds[0, 0] < 10
    cells = generate("diagonal", n=20_000, size=(512, 512), seed=1)
    first, second = (cells // 512 + 0.5) / 512, (cells % 512 + 0.5) / 512
    assert np.abs(np.quantile(first, [0.1, 0.5, 0.9]) - [0.1, 0.5, 0.9]).max() < 0.02
    assert 0.99 < (np.abs(first - second) <= 0.1).mean() < 1
    cells = generate("clouds", n=20_000, size=(512, 512), seed=1)
    places = np.stack([cells // 512 + 0.5, cells % 512 + 0.5], axis=1) / 512
    away = np.linalg.norm(places[:, None] - PLANE_CLOUDS[:, :2], axis=2) / PLANE_CLOUDS[:, 2]
    sizes = np.bincount(away.argmin(axis=1)) / 20_000
    assert np.abs(sizes - [0.5, 0.35, 0.15]).max() < 0.02 and (away.min(axis=1) > 3.5).mean() < 0.01
    middles, widths = PLANE_CLOUDS[:, :2], PLANE_CLOUDS[:, 2]
    assert all(
        np.linalg.norm(middles[one] - middles[other]) > 2.7 * (widths[one] + widths[other])
        for one, other in ((0, 1), (0, 2), (1, 2))
    )
    with pytest.raises(ParameterError, match="No generator"):
        generated_rows("", n=9, bits=2)
    for wrong, size in (("bimodal", (2, 2)), ("clouds", 4), ("", 4)):
        with pytest.raises(ParameterError):
            generate(wrong, n=9, size=size, seed=1)


@pytest.mark.slow
def test_uploaded_pairs_keep_every_row() -> None:
    # Third cell of four and second of two; no width and one that is too wide go to the reserved cell, a missing height
    # to the lower bound, where the second line has no cell for it.
    assert own().dataset().records.tolist() == [0, 8, 7, 8, 2]
    assert own().dataset() is not own().dataset()
    assert own().key != own(private=True).key and not has_number(own().key, 99)
    with pytest.raises(ParameterError, match="not encoded from 2 columns"):
        own(domain=Number(bits=2)).dataset()
    with pytest.raises(ParameterError, match="no such column"):
        bundled("cities", "name", "latitude").dataset()


LABELS = Product.map(GRID.columns[0], Labels(labels=("b to b", "=c", "a")), names=("wide", "name"))


def labelled(*, kind: Labels | None = None) -> Source:
    """Widths and names, of which one label ends like a range and one begins like a formula."""
    table = read_table(TEXT.replace(",b\n", ",b to b\n").replace(",c\n", ",=c\n").encode(), name="own.csv")
    on = LABELS if kind is None else Product.map(GRID.columns[0], kind)
    return sources.own(table, "wide", "name", on=on, private=False)


@pytest.mark.slow
def test_a_category_is_a_side_of_a_map() -> None:
    dataset, line = labelled().dataset(), LABELS.columns[1]
    # Wide, then which of three labels; no width, one that is too wide and a label that is none go to the last cell.
    assert dataset.records.tolist() == [2, 12, 10, 12, 12] and LABELS.shape == (4, 3) and LABELS.size == 13
    assert line.points() == ["b to b", "=c", "a"] and line.edges.tolist() == [0, 1, 2, 3]
    queries = Rectangles(domain=LABELS)
    descriptions = [queries.describe(queries.index((0, 1), ends)) for ends in ((0, 0), (0, 2))]
    assert descriptions == ["0 to 2 × b to b", "0 to 2 × b to b to a"] and line.between(0, 2) == "b to b to a"
    counted = queries.answer(dataset.histogram[None, :], np.array([queries.index((2, 3), (1, 2))]))
    assert counted.tolist() == [[1.0]]
    named = cell_columns(LABELS, np.array([0, 5, 12, -1]))
    assert named["first"].tolist() == [0.5, 1.5, None, None] and named["second"].tolist() == ["b to b", "a", None, None]
    assert decode(encode(labelled().reading), Columns) == labelled().reading
    yes = labelled(kind=Labels(yes_no=True)).dataset()
    assert yes.histogram[-1] == yes.n, "no name is a yes or a no"


def test_a_synthetic_table_of_labels_has_them_and_no_formula(seed: int) -> None:
    dataset = labelled().dataset()
    problem = Problem(domain=LABELS, queries=Rectangles(domain=LABELS), n=dataset.n)
    mechanism = entry("identity").make(epsilon=10.0)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed))
    assert isinstance(release, DataRelease)
    rows = [*csv.reader(io.StringIO(synthetic_csv(release, columns=("wide", "name"))))][1:]
    assert {name for _, name in rows} <= {"b to b", "'=c", "a", ""} and len(rows) == dataset.n


SOURCES: list[Source] = [
    bundled("penguins", "bill_length_mm", "species"),
    generated_rows("clouds", n=300, bits=3, seed=7),
    bundled("penguins", "bill_length_mm", "flipper_length_mm", bits=4),
    own(),
]


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES, ids=["labelled", "generated", "bundled", "uploaded"])
def test_the_code_of_a_source_makes_its_rows(source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.csv").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec("\n".join(["import dpcore", *source.code()]), names)  # what the page tells readers to run
    np.testing.assert_array_equal(names["dataset"].records, source.dataset().records)
    assert names["dataset"].domain == source.domain


@pytest.mark.parametrize("key", ["identity", "rectangles"])
def test_a_synthetic_table_of_pairs_has_two_columns(key: str, seed: int) -> None:
    source = bundled("penguins", "bill_length_mm", "flipper_length_mm", bits=3)
    dataset, domain = source.dataset(), source.on(Product)
    problem = Problem(domain=domain, queries=Rectangles(domain=domain), n=dataset.n)
    mechanism = entry(key).make(epsilon=5.0)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed))
    assert isinstance(release, DataRelease)
    header, *rows = csv.reader(io.StringIO(synthetic_csv(release, columns=source.columns)))
    assert header == ["bill_length_mm", "flipper_length_mm"] and len(rows) == dataset.n
    numbers = np.array([[float(number) if number else np.nan for number in row] for row in rows])
    again = np.bincount(domain.encode([*numbers.T]), minlength=domain.size)
    assert np.abs(problem.queries.max_error(again - release.histogram())).max() < 60
