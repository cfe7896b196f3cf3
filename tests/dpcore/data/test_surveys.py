"""Rows of several categories: codes are the file's, cuts stand where they say, and a wrong name gets a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore.core import ParameterError
from dpcore.data.bundled import CUT, survey_of, yes_no_of
from dpcore.data.product import Product
from dpcore.data.readings import cut
from dpcore.data.samples import load_sample


def test_numbers_are_cut_where_the_labels_say() -> None:
    assert cut(np.array([-5.0, 24.9, 25, 39, 40, 90, np.nan]), (25, 40)).tolist() == [0, 0, 1, 1, 2, 2, 3]
    survey = survey_of("adult", chosen=("age (years)", "sex"))
    ages = load_sample("adult").numbers("age")
    dataset, domain = survey.dataset(), survey.on(Product)
    assert domain.columns[0].cell_names == ("below 25", "25 to 40", "40 to 65", "65 or more")
    counts = np.bincount(dataset.records[:, 0], minlength=5)
    assert counts.tolist() == [
        int((ages < 25).sum()),
        int(((ages >= 25) & (ages < 40)).sum()),
        int(((ages >= 40) & (ages < 65)).sum()),
        int((ages >= 65).sum()),
        0,
    ]


def test_missing_answers_have_their_own_cell() -> None:
    survey = survey_of("census", chosen=("employment",))
    labels = survey.on(Product).columns[0].cell_names
    codes = load_sample("census").labels("employment", list(labels))
    assert int((codes == len(labels)).sum()) == int((survey.dataset().records[:, 0] == len(labels)).sum()) > 0


@pytest.mark.parametrize("sample_key", CUT)
def test_every_sample_is_coded_row_for_row(sample_key: str) -> None:
    survey = survey_of(sample_key)
    dataset = survey.dataset()
    assert dataset.records.shape == (load_sample(sample_key).row_count, len(survey.on(Product).names))
    last = survey_of(sample_key, chosen=survey.on(Product).names[-1:]).dataset()
    assert np.array_equal(dataset.records[:, -1], last.records[:, 0])


def test_yes_no_answers_are_the_cube_s() -> None:
    survey, cube = survey_of("census", answers=True), yes_no_of("census")
    domain = survey.on(Product)
    assert domain.names == cube.on(Product).names and set(domain.sizes) == {2}
    assert np.array_equal(survey.dataset().records.astype(bool), cube.dataset().records)


@pytest.mark.parametrize(
    "told",
    [{"sample_key": "digits"}, {"sample_key": "penguins", "answers": True}, {"sample_key": "adult", "chosen": ("x",)}],
)
def test_what_there_is_not_gets_a_sentence(told: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"No bundled sample|no attribute"):
        survey_of(**told)
