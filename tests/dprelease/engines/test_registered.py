"""Counts of an engine's table in a ledger: a public refusal is free, another declaration has no budget."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpcore import Intervals, Neighbours
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.readings import Columns
from dpcore.queries.marginals import Marginals
from dprelease.engines.embedded import Embedded
from dprelease.engines.tables import EngineTable, open_table
from dprelease.ledger.records import LedgerError, Refused, Registration, Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.release import release
from dprelease.requests.parts import Request
from tests.dprelease.engines.values import write_parquet
from tests.kit.ledgers import NOMINAL, STEWARD, request_of

NUMBER = Number(low=0, high=100, bits=6, missing=True)
DECLARED = DeclaredTable(
    columns=(DeclaredColumn(name="whole", on=NUMBER), DeclaredColumn(name="smoker", on=Labels(yes_no=True)))
)
BUDGET = Price.allowed(epsilon=2, delta=1e-6)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> EngineTable:
    folder = write_parquet(tmp_path_factory.mktemp("engine") / "folder")[0].parent
    return open_table(Embedded(path=folder), name="people")


def register(ledger: Ledger, rows: Any, **changed: Any) -> str:
    usual: dict[str, Any] = {"name": "people", "neighbours": Neighbours.ADD_REMOVE_ONE, "public_n": NOMINAL}
    return ledger.register(Registration(**usual | changed), rows, BUDGET, STEWARD).dataset_id


def of_cells(line: Number, **unit: Any) -> Request:
    return request_of(
        reading=Columns(names=("whole",), on=line), queries=Intervals(domain=line), n=NOMINAL,
        neighbours=Neighbours.ADD_REMOVE_ONE, entry_key="identity", values={"epsilon": 0.5}, **unit,
    )  # fmt: skip


def of_whole_table() -> Request:
    reading = DECLARED.whole()
    domain: Any = reading.domain
    return request_of(
        reading=reading, queries=Marginals(domain=domain, ways=2), n=NOMINAL,
        neighbours=Neighbours.ADD_REMOVE_ONE, entry_key="whole-table", values={"epsilon": 1.0, "delta": 1e-9},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("request_", "registered", "sentence"),
    [
        (of_cells(replace(NUMBER, bits=7)), {}, "counted with other columns or cells"),
        (of_whole_table(), {}, "only by their declared cells"),
        (of_cells(NUMBER, person="smoker"), {"person_column": "smoker"}, "in an order"),
    ],
)  # fmt: skip
def test_what_a_snapshot_cannot_answer_is_refused_and_free(
    table: EngineTable, tmp_path: Path, request_: Request, registered: dict[str, Any], sentence: str
) -> None:
    ledger, snapshot = Ledger.open(tmp_path), table.snapshot(DECLARED)
    dataset_id = register(ledger, snapshot, **registered)
    came = release(ledger, dataset_id, request_, snapshot, STEWARD)
    assert isinstance(came, Refused) and sentence in came.sentence
    assert ledger.account(dataset_id).spent.epsilon_or_rho == ledger.account(dataset_id).spent.delta == 0


def test_another_declaration_of_a_table_is_a_version_of_it_and_has_no_budget(
    table: EngineTable, tmp_path: Path
) -> None:
    ledger, first = Ledger.open(tmp_path), table.snapshot(DECLARED)
    dataset_id = register(ledger, first)
    coarser = replace(NUMBER, bits=2)
    other = table.snapshot(DeclaredTable(columns=(DeclaredColumn(name="whole", on=coarser),)))
    wider = table.snapshot(DeclaredTable(columns=(*DECLARED.columns, DeclaredColumn(name="exact", on=NUMBER))))
    for rows, sentence in (
        (first, "registered already. Use that data set"),
        (other, "new version"),
        (wider, "new version"),
    ):
        with pytest.raises(LedgerError, match=sentence):
            register(ledger, rows)
    ledger.add_version(dataset_id, other, STEWARD)
    assert ledger.version(dataset_id, other) == 2
    assert isinstance(release(ledger, dataset_id, of_cells(coarser), other, STEWARD), Stored)
    another = register(ledger, open_table(table.engine, name="others").snapshot(DECLARED))
    with pytest.raises(LedgerError, match="new version"):
        ledger.add_version(another, wider, STEWARD)
