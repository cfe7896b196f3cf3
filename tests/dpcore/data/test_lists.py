"""Decision lists read of a table's columns: what they mean stays, whatever is written twice, missing or misspelt."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore import DataError, ParameterError
from dpcore.core import Integers
from dpcore.data.lists import DecisionLists, ListColumns, canonical_lists, columns_of, draw_mock_lists
from dpcore.data.reading.tables import read_table
from dpcore.data.sources import Generated, generated_lists
from dpcore.data.twin import twin
from dpcore.queries.inputs import Inputs
from dprelease.requests.codec import decode, encode

VARIABLES = ("sun", "near")
READING = ListColumns(variables=VARIABLES, rules=(("first", "says"), ("second", "then")), otherwise="last")


def says(literals: tuple[int, ...], said: tuple[int, ...], values: tuple[bool, ...]) -> bool:
    """A list as written, rule by rule: a rule that says neither no (0) nor yes (1) is none."""
    for literal, output in zip(literals, said[:-1], strict=True):
        holds = literal < 2 * len(values) and (values[literal % len(values)] == (literal < len(values)))
        if holds and output in (0, 1):
            return output == 1
    return said[-1] == 1


@pytest.mark.slow
def test_every_list_means_what_was_written_however_often_a_variable_comes_up() -> None:
    """All lists of three rules about two variables, with rules that are missing and outputs that say neither."""
    raw = list(product(product(range(5), repeat=3), product(range(3), repeat=4)))
    records = canonical_lists(np.array([each for each, _ in raw]), np.array([each for _, each in raw]), variables=2)
    domain = DecisionLists(names=VARIABLES, rules=3)
    canonical = domain.checked(records)  # no variable comes up twice
    queries = Inputs(domain=domain)
    for index, values in enumerate(product((False, True), repeat=2)):
        wanted = np.array([says(*each, values[::-1]) for each in raw])
        for written, row in zip(wanted[:: len(raw) // 500], canonical[:: len(raw) // 500], strict=True):
            assert queries.truth(row[None, :], np.array([index]))[0] == written
        assert queries.truth(canonical, np.array([index]))[0] == pytest.approx(wanted.mean(), abs=1e-12)


CELLS = [
    ("sun", "yes", "near", "no", "yes"),
    ("not sun", "0", " not near ", "1", "no"),
    ("Sun", "yes", "", "yes", "no"),  # misspelt, and missing
    ("sun", "perhaps", "near", "yes", ""),
    ("sun", "yes", "not sun", "no", "yes"),
    ("sun", "yes", "sun", "no", "no"),
]
LISTS = [
    [0, 1, 1, 0, 1],
    [2, 3, 0, 1, 0],
    [4, 4, 0, 0, 0],
    [4, 1, 0, 1, 0],
    [0, 4, 1, 0, 0],
    [0, 4, 1, 0, 0],
]


def written(cells: Sequence[tuple[str, ...]]) -> bytes:
    return "\n".join(",".join(row) for row in [("first", "says", "second", "then", "last"), *cells]).encode()


@pytest.mark.slow
def test_cells_become_rules_and_a_row_s_list_depends_on_that_row_alone() -> None:
    frame = pd.DataFrame(CELLS, columns=list(READING.columns))
    whole = READING.from_frame(frame)
    assert whole.records.tolist() == LISTS
    assert READING.records(read_table(written(CELLS), name="a.csv", header=True)).tolist() == LISTS
    for place in range(len(CELLS)):
        rest = [row for other, row in enumerate(CELLS) if other != place]
        records: Integers = READING.records(read_table(written(rest), name="a.csv", header=True))
        assert records.tolist() == LISTS[:place] + LISTS[place + 1 :]


@pytest.mark.slow
@pytest.mark.parametrize("rules", [1, 5])
def test_generated_and_made_up_lists_can_be_read_back(rules: int) -> None:
    source = generated_lists(n=300, rules=rules)
    assert isinstance(source.origin, Generated) and source.provenance.title == "students' rules, 300 rows"
    own = twin(source, n=200, seed=4)
    for each in (source, own):
        dataset = each.dataset()
        again = each.reading.from_frame(dataset.frame())
        queries = Inputs(domain=source.on(DecisionLists))
        every = np.arange(queries.count)
        np.testing.assert_array_equal(queries.truth(again.records, every), queries.truth(dataset.records, every))
    domain = source.on(DecisionLists)
    np.testing.assert_array_equal(own.dataset().records, draw_mock_lists(domain, n=200, seed=4))
    assert len(np.unique(own.dataset().records[:, 0])) > 8


def test_a_reading_is_written_in_a_request_and_refused_where_it_says_nothing() -> None:
    assert decode(encode(READING), ListColumns) == READING
    assert columns_of(READING.domain).columns == ("if 1", "then 1", "if 2", "then 2", "otherwise")
    broken: list[tuple[dict[str, Any], str]] = [
        ({"otherwise": "says"}, "must be another"),
        ({"variables": ("sun", "not sun")}, "negation of another name"),
        ({"variables": ()}, "Between 1 and 12"),
        ({"rules": ()}, "between 1 and 6 rules"),
    ]
    for values, words in broken:
        with pytest.raises(ParameterError, match=words):
            dataclasses.replace(READING, **values)
    with pytest.raises(DataError, match="no column named"):
        READING.records(read_table(b"first,says\nsun,yes\n", name="a.csv", header=True))
