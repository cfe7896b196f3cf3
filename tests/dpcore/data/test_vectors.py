"""Rows made unit vectors: by declared ranges, in n whatever is missing, with the margin that was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.core import DataError, Dataset, ParameterError, ProvenanceKind
from dpcore.data.bundled import VECTORS, vectors_of
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Measure, Vectors
from dpcore.data.samples import load_sample
from dpcore.data.sources import Source, Uploaded, generated_vectors
from dpcore.data.sphere import STEP, Halfspaces

TABLE = read_table(b"a,b\n1,2\n,3\n5,x\n3,4\n", name="own.csv")
MEASURES = (Measure(column="a", low=1, high=5), Measure(column="b", low=0, high=4))


def run_code(source: Source) -> Dataset:
    """Run the lines that a page prints, and return their names."""
    import dpcore

    scope: dict[str, object] = {"dpcore": dpcore}
    exec("\n".join(source.code()), scope)  # the page's promise is that this runs
    dataset = scope["dataset"]
    assert isinstance(dataset, Dataset)
    return dataset


@pytest.mark.slow
@pytest.mark.parametrize("recipe", list(VECTORS))
def test_bundled_rows(recipe: str) -> None:
    source = vectors_of(recipe)
    dataset = source.dataset()
    table = load_sample(VECTORS[recipe].sample_key)
    assert dataset.n == table.row_count
    assert dataset.domain == source.domain
    lengths = np.linalg.norm(dataset.records, axis=1)
    assert set(np.round(lengths, 3)) <= {0.0, 1.0}
    assert (lengths == 0).mean() < 0.01
    np.testing.assert_array_equal(run_code(source).records, dataset.records)
    plane = VECTORS[recipe].reading.plane(tilt=40)
    np.testing.assert_allclose(plane @ plane.T, np.eye(2), atol=1e-12)
    assert source.provenance.source
    assert VECTORS[recipe].story.endswith(("?", "."))


def test_cities_lie_where_they_are() -> None:
    table, records = load_sample("cities"), vectors_of("cities").dataset().records
    latitude, longitude = (np.radians(table.numbers(name)) for name in ("latitude", "longitude"))
    place = np.stack([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], 1)
    np.testing.assert_allclose(records, place, atol=1e-5)


def test_penguins_are_centred_by_declared_ranges() -> None:
    table, dataset = load_sample("penguins"), vectors_of("penguins").dataset()
    raw = np.stack([(table.numbers("bill_length_mm") - 45) / 15, (table.numbers("flipper_length_mm") - 200) / 30], 1)
    missing = np.isnan(raw).any(axis=1)
    assert missing.sum() == 2
    np.testing.assert_array_equal((dataset.records == 0).all(axis=1), missing)
    wanted = raw[~missing] / np.linalg.norm(raw[~missing], axis=1, keepdims=True)
    np.testing.assert_allclose(dataset.records[~missing], wanted, atol=STEP)


@pytest.mark.slow
@pytest.mark.parametrize("margin", [0.0, 0.2, 0.9])
@pytest.mark.parametrize("dimensions", [2, 3, 40])
def test_generated_rows_keep_their_margin(margin: float, dimensions: int) -> None:
    source = generated_vectors(n=3000, dimensions=dimensions, margin=margin, seed=3)
    dataset = source.dataset()
    queries = Halfspaces(domain=source.domain)
    first = np.eye(1, dimensions)
    found = float(queries.margins(dataset.records, first)[0])
    assert margin <= found < margin + 0.01
    assert 0.55 < queries.truth(dataset.records, first)[0] < 0.65
    np.testing.assert_array_equal(run_code(source).records, dataset.records)


def test_columns_of_an_own_file() -> None:
    reading = Vectors(measures=MEASURES)
    source = Source(origin=Uploaded(table=TABLE, private=True, digest="d"), reading=reading)
    dataset = source.dataset()
    np.testing.assert_allclose(dataset.records, [[-1, 0], [0, 0], [0, 0], [0, 1]], atol=STEP)
    assert source.provenance.is_private and source.provenance.title == "own.csv: 2 columns"
    assert "own.csv" not in repr(source)
    compile("\n".join(source.code()), "snippet", "exec")
    public = Source(origin=Uploaded(table=TABLE, private=False, digest="d"), reading=reading)
    assert public.provenance.kind is ProvenanceKind.STAND_IN and public.key != source.key
    with pytest.raises(DataError, match="no column"):
        Vectors(measures=(Measure(column="c"),)).dataset(TABLE, source.provenance)


def test_parameters_are_checked() -> None:
    with pytest.raises(ParameterError, match="Vectors must be one of"):
        vectors_of("none")
    for wrong in ({"n": 0}, {"dimensions": 1}, {"margin": 1.0}):
        with pytest.raises(ParameterError, match="Generated vectors"):
            generated_vectors(**wrong)
