"""Any statistic of a column on the page: its numbers recomputed, and the conditions of section 6."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from dpcore.data.bundled import bundled
from dpcore.mechanisms.robust.sampled_sensitivity import (
    UNITS,
    SampledNoise,
    least_sensitivity,
    public_distribution,
    values,
)
from dplab.robust import present_rows
from pages.charts.picture import Curve, Dots, Rule
from pages.one_number.statistic import MAX_CELLS, SAMPLES, sensitivities
from tests.kit import searched
from tests.pages.drawn_charts import drawn
from tests.pages.one_number.test_page import opened
from tests.pages.opening import sound, texts

MEDICAL = {"data": "medical.meddol", "robust": "unbounded_mean"}


@pytest.mark.parametrize("statistic", ["gini"])
def test_any_statistic_of_a_column_says_what_its_noise_gives(statistic: str) -> None:
    app = sound(opened(**MEDICAL, **{"sampled-statistic": statistic, "sampled-distribution": "skewed"}))
    words = texts(app)
    end = r"In 95 of 100 previews the error is at most \*\*([\d.e-]+)\*\*"
    said = searched(rf"True value \*\*([-\d.]+)\*\* :gray-badge\[true\]\. {end}", words)
    dataset = present_rows(bundled("medical", "meddol").dataset())
    size = len(dataset.histogram)
    counts = np.add.reduceat(dataset.histogram, np.arange(0, size, -(-size // MAX_CELLS)))
    assert float(said[1]) == pytest.approx(values(statistic, counts[None])[0] / UNITS, rel=1e-3)
    noise = SampledNoise(
        statistic=statistic, distribution=public_distribution("skewed", len(counts)), rows=dataset.n,
        epsilon=float(app.session_state["epsilon"]) if "epsilon" in app.session_state else 1.0, samples=SAMPLES,
    )  # fmt: skip
    scale = noise.sensitivity(noise.differences()) / UNITS
    # 95% of Laplace noise is within 3.0 scales; of 1,000 previews the quantile is near it.
    assert float(said[2]) == pytest.approx(math.log(20) * scale / noise.epsilon, rel=0.2)
    ratio = re.search(r"noise must be at least ([\d.,]+) times as wide", words)
    least = least_sensitivity(statistic, rows=dataset.n) / UNITS
    assert ratio and float(ratio[1].replace(",", "")) == pytest.approx(least / scale, rel=0.02)
    assert "sampled_sensitivity_chart" in drawn(app) and "**if** rows are samples of the public distribution" in words


def test_the_conditions_of_section_6_have_their_numbers() -> None:
    words = texts(sound(opened(**MEDICAL)))
    said = searched(r"at most e\^β: β = ([\d.e-]+), so η = ([\d.e-]+)\.", words)
    assert 0 <= float(said[1]) < 1 and 0 <= float(said[2]) <= 1
    assert "(10) holds for large n" in words


def test_the_picture_marks_what_sets_the_noise() -> None:
    picture = sensitivities(np.array([0.0, 0.1, 0.2, 0.4]), scale=0.2, least=0.8, gamma=0.4)
    line, *rules = picture.marks
    assert isinstance(line, Curve | Dots)
    positions = [mark.x for mark in rules if isinstance(mark, Rule)]
    assert positions == [0.2, 0.8] and "at most 0.2" in picture.sentence
    np.testing.assert_allclose(np.asarray(line.x, dtype=np.float64), np.array([1 / UNITS, 0.1, 0.2, 0.4]))
