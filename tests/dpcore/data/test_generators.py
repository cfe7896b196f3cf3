"""Every shape is on the grid, follows its seed, and looks as its sentence says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.core import ParameterError
from dpcore.core.sizes import MAX_GENERATED_CELLS
from dpcore.data.generators import GENERATORS, SPARSE_CELLS, generate

SHAPES = ["uniform", "skewed", "bimodal", "ages", "heavy_tailed", "sparse", "all_equal"]


def test_the_shapes() -> None:
    assert [key for key, shape in GENERATORS.items() if not shape.in_the_plane] == SHAPES
    assert len({shape.title for shape in GENERATORS.values()}) == len(GENERATORS)
    assert all(shape.sentence.endswith(".") for shape in GENERATORS.values())


@pytest.mark.slow
@given(st.sampled_from(SHAPES), st.integers(1, 300), st.integers(1, MAX_GENERATED_CELLS), st.integers(0, 2**64 - 1))
def test_records_lie_on_the_grid_and_follow_the_seed(key: str, n: int, size: int, seed: int) -> None:
    records = generate(key, n=n, size=size, seed=seed)
    assert records.shape == (n,)
    assert records.dtype == np.int64
    assert 0 <= records.min() <= records.max() < size
    np.testing.assert_array_equal(records, generate(key, n=n, size=size, seed=seed))


@pytest.mark.parametrize(
    ("key", "n", "size", "seed"),
    [
        ("uniform", 0, 10, 0),
        ("uniform", 10**9, 10, 0),
        ("uniform", 10, 0, 0),
        ("uniform", 10, MAX_GENERATED_CELLS + 1, 0),
        ("uniform", 10, 10, -1),
        ("uniform", 2.5, 10, 0),
        ("uniform", True, 10, 0),
        ("round", 10, 10, 0),
    ],
)
def test_arguments_out_of_range(key: str, n: int, size: int, seed: int) -> None:
    with pytest.raises(ParameterError):
        generate(key, n=n, size=size, seed=seed)


def shares(key: str, seed: int) -> np.ndarray:
    """Share of each of 64 cells among 200,000 records."""
    return np.bincount(generate(key, n=200_000, size=64, seed=seed), minlength=64) / 200_000


def test_each_shape_is_what_it_says(seed: int) -> None:
    # Deviations this large have probability below 1e-6 each (Hoeffding: 2 exp(-2 · 200,000 · 0.007²) = 6e-9).
    assert np.abs(shares("uniform", seed) - 1 / 64).max() < 0.007
    # The control: a share off by a little is seen.
    assert np.abs(shares("skewed", seed) - 1 / 64).max() > 0.007

    skewed = shares("skewed", seed)
    assert 3 <= skewed.argmax() <= 7
    assert skewed[32:].sum() < 0.02

    bimodal = shares("bimodal", seed)
    gap = 32 + bimodal[32:40].argmin()
    assert bimodal[:gap].max() > 5 * bimodal[gap] < bimodal[gap:].max() / 5

    ages = shares("ages", seed)
    assert ages[10:35].sum() > 0.6 and 0 < ages[45:].sum() < 0.03, "of 64 cells, each is two years"

    heavy = shares("heavy_tailed", seed)
    law = np.log((np.arange(64) + 2) / (np.arange(64) + 1)) / np.log(65)
    assert np.abs(heavy - law).max() < 0.007

    assert np.count_nonzero(shares("sparse", seed)) == SPARSE_CELLS == 12
    assert np.count_nonzero(shares("all_equal", seed)) == 1


@pytest.mark.parametrize("size", [8, 16, 4096])
def test_shapes_are_what_they_say_on_few_and_on_many_cells(size: int, seed: int) -> None:
    assert len(set(generate("sparse", n=10_000, size=size, seed=seed).tolist())) == min(12, size)
    heavy = generate("heavy_tailed", n=200_000, size=size, seed=seed)
    first = (heavy < round(np.sqrt(size))).mean()
    assert 0.48 < first < 0.65, "about half"
    assert heavy.max() >= 0.8 * (size - 1)
