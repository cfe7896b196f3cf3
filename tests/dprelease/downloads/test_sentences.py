"""Sentences of the report that hold for every mechanism."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcore.core import Neighbours
from dpcore.data.columns import Number
from dpcore.queries.ranges import Thresholds
from dprelease.downloads.report import RANDOM_RESULTS, report
from tests.kit.ledgers import few_rows, registered, request_of, stored_release


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("identity", {}),
        ("stable_median", {"delta": 0.05}),
        ("net", {"points": 2}),
        ("intervals-recursive", {"alpha": 0.9}),
    ],
)
def test_no_noise_is_said_to_be_in_numbers_to_which_none_is_added(
    tmp_path: Path, key: str, values: dict[str, float]
) -> None:
    """101 equal rows: the stable median, if it answers, is the exact one, without noise."""
    domain = Number(high=20.0, bits=2)
    rows = few_rows((7.0,) * 101)
    ledger, dataset_id = registered(
        tmp_path, epsilon=20.0, delta=0.06, rows=rows, neighbours=Neighbours.REPLACE_ONE, public_n=101
    )
    request = request_of(
        key=key,
        neighbours=Neighbours.REPLACE_ONE,
        n=101,
        queries=Thresholds(domain=domain),
        values={"epsilon": 10.0, **values},
    )
    stored = stored_release(ledger, dataset_id, request, rows)
    page = report(stored).decode()
    assert RANDOM_RESULTS in page
    if key == "stable_median":
        assert "Released: the cell “5 to 10”." in page
