"""Group counters of ten million rows by DuckDB, beside the same sums of weights written by hand as GROUP BY.

An engine counts rows by group and cell, as a snapshot answers every statistic from the same counts. Such a GROUP BY of
the cells written by hand already takes 1.3 times as long as the sums: it has a thousand times as many groups.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
import numpy as np

from benchmarks.timing import interleaved, ratio
from dpcore import Labels, Number, Product, Provenance, ProvenanceKind
from dpcore.core import Integers
from dpcore.data.readings import Columns
from dpcore.mechanisms.grouped.weights import counters_of_rows
from dpcore.queries.groups import GroupStatistics
from dprelease.engines.embedded import Embedded
from dprelease.engines.tables import open_table

ROWS, GROUPS, CELLS, REPEATS, GOAL = 10_000_000, 32, 1024, 7, 1.2
LABELS = tuple(f"region {place:02}" for place in range(GROUPS))
DOMAIN = Product(
    names=("region", "income"),
    columns=(Labels(labels=LABELS, missing=False), Number(low=0, high=500_000, bins=CELLS, missing=True)),
)
WRITE = """COPY (SELECT format('region {{:02}}', hash(range + 7) % {groups}) AS region,
    CASE WHEN hash(range) % 100 = 0 THEN NULL
    ELSE round(exp(10.5 + 2.4 * (hash(range) % 1000003 / 1000003 - 0.5)), 2) END AS income
    FROM range({rows})) TO '{path}' (FORMAT parquet)"""
BY_HAND = """SELECT region, sum(2 * {cells} - 2 * cell - 1)::BIGINT AS a, sum(2 * cell + 1)::BIGINT AS b FROM (
    SELECT region, least(floor(least(greatest(income, 0), 500000) / 500000 * {cells}), {cells} - 1)::BIGINT AS cell
    FROM read_parquet('{path}') WHERE isfinite(income)) GROUP BY region ORDER BY region"""


def main() -> list[tuple[str, bool]]:
    """Print times and their ratio; return whether the goal holds and the counters are equal."""
    queries = GroupStatistics(domain=DOMAIN)
    reading, private = Columns(names=DOMAIN.names, on=DOMAIN), Provenance(kind=ProvenanceKind.PRIVATE, title="rows")
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(config={"threads": 2}) as raw:
        path = Path(folder) / "rows.parquet"
        raw.execute(WRITE.format(groups=GROUPS, rows=ROWS, path=path))
        table, query = open_table(Embedded(path=Path(folder)), name="rows"), BY_HAND.format(cells=CELLS, path=path)

        def by_engine() -> Integers:
            records, times = table.dataset(reading, private).counted()
            return counters_of_rows(records, queries, times)

        def by_hand() -> Integers:
            sums = raw.execute(query).fetchnumpy()
            return np.stack([sums["a"], sums["b"]], axis=1)

        equal = np.array_equal(by_engine(), by_hand())
        taken = interleaved({"engine": by_engine, "by hand": by_hand}, repeats=REPEATS)
    longer = ratio(taken["engine"], taken["by hand"])
    print(f"{ROWS:,} rows, {GROUPS} groups: {taken['engine'].text('s')}, by hand {taken['by hand'].text('s')}")
    print(f"  ratio {longer:.2f} (goal {GOAL}); the counters are {'equal' if equal else 'DIFFERENT'}")
    return [
        ("an engine's counters are the sums written by hand", equal),
        (f"an engine takes at most {GOAL} times as long as they do", longer <= GOAL),
    ]
