"""The L1 projection onto histograms of n rows: against all lattice points, its tie rule, and its speed."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.core import ParameterError
from dpcore.mechanisms.histograms.projection import project_counts
from dpcore.randomness.laws import compositions


@pytest.mark.parametrize("total", range(7))
@pytest.mark.parametrize("cells", range(1, 5))
def test_equals_brute_force(total: int, cells: int) -> None:
    """8,400 cases in all: whole, half, third and continuous noisy counts."""
    lattice = compositions(total, cells)
    rng = np.random.default_rng(100 * total + cells)
    cases = (
        rng.integers(-6, 9, (75, cells)),
        rng.integers(-12, 18, (75, cells)) / 2,
        rng.integers(-15, 21, (75, cells)) / 3,
        rng.normal(1.5, 3, (75, cells)),
    )
    for noisy in cases:
        counts = project_counts(noisy, total=total)
        assert counts.dtype == np.int64
        assert (counts >= 0).all()
        assert (counts.sum(axis=1) == total).all()
        best = np.abs(noisy[:, None, :] - lattice).sum(axis=2).min(axis=1)
        assert np.abs(noisy - counts).sum(axis=1) == pytest.approx(best, abs=1e-9)


def test_tie_rule_on_whole_counts() -> None:
    """Nearest in L2 among the nearest in L1; then the lexicographically largest: units left go to low cells."""
    rng = np.random.default_rng(2)
    for total in range(7):
        lattice = compositions(total, 4)
        for noisy in rng.integers(-6, 9, (60, 4)):
            distance = np.abs(noisy - lattice).sum(axis=1)
            nearest = lattice[distance == distance.min()]
            squares = ((noisy - nearest) ** 2).sum(axis=1)
            expected = max(map(tuple, nearest[squares == squares.min()].tolist()))
            assert tuple(project_counts(noisy[None], total=total)[0].tolist()) == expected


def test_a_histogram_stays_as_it_is() -> None:
    counts = np.array([[3, 0, 4], [0, 7, 0]])
    assert project_counts(counts, total=7).tolist() == counts.tolist()
    assert project_counts(counts.astype(np.float64), total=7).tolist() == counts.tolist()


def test_bad_input_is_refused() -> None:
    with pytest.raises(ParameterError):
        project_counts(np.array([[1, 2]]), total=-1)
    with pytest.raises(ParameterError):
        project_counts(np.array([[1.0, np.nan]]), total=3)
