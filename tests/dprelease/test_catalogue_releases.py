"""Every mechanism of the catalogue is released once, or refused in a sentence."""

from __future__ import annotations

import contextlib
import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import dpcore
import dprelease.release as releases
from dpcore.core import Neighbours
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.lists import ListColumns
from dpcore.data.predicates import Predicate
from dpcore.data.product import Product, is_table
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Coded, Columns, Measure, Several, Vectors, YesNo
from dpcore.data.sphere import Halfspaces
from dpcore.data.twin import twin
from dpcore.data.unlisted.texts import LabelCounts, TextColumn
from dpcore.mechanisms.histograms.optimal_labels import ADDED
from dpcore.queries.at_least import AtLeast
from dpcore.queries.boxes import RangeBoxes
from dpcore.queries.groups import GroupQuantiles, GroupStatistics
from dpcore.queries.hypotheses import Hypotheses
from dpcore.queries.inputs import Inputs
from dpcore.queries.linear import generated
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import classes_for
from dpcore.randomness import Account, Sampler
from dprelease.certificate import certificate, unreleasable, verify
from dprelease.downloads import NOTEBOOK, REPORT, downloads_of, zip_files
from dprelease.ledger.checks import check
from dprelease.ledger.records import Stored
from dprelease.ledger.units import Price
from dprelease.release import cost, rehearse, unsuitable
from dprelease.requests.parts import Request
from tests.kit.ledgers import altered, registered, released_in, request_of, stored_release

SECRET = "s3cr3t"
REFUSED = {
    "unbounded_mean": "bound",
    "sparse_histogram": "Random differential privacy",
    "net-walk": "approximate",
}
ONLY_REPLACED = ("subsample",)
"""Starts of the keys of mechanisms that are proved for replacing a row alone."""
FIXED: dict[str, dict[str, Any]] = {"median": {"analyst": "sweeping"}, "weights": {"analyst": "sweeping"}}
"""Conversations are released with a list of questions that is fixed in advance."""


def problem_readings(entry: dpcore.Entry, *, usual: bool = False) -> tuple[Any, Any]:
    """A reading and a class of questions that an entry serves; small, or of the usual number of cells."""
    pairs = (
        Product.map(Number(bits=5), Number(bits=5))
        if usual
        else Product.map(Number(high=100.0, bits=3), Number(high=10.0, bits=2))
    )
    cells = Labels(labels=("a", "b", "c"))
    attributes = (
        Coded(column="job", name="job", labels=("a",)),
        Predicate(column="age", kind="at least", value=50),
    )
    readings: list[Any] = [
        Columns(names=("age",), on=Number(high=100.0) if usual else Number(high=100.0, bits=5)),
        Columns(names=("job",), on=cells),
        TextColumn(column="job"),
        Columns(names=("age", "pay"), on=pairs),
        Columns(
            names=("job", "age"),
            on=Product.map(Labels(labels=("a", "b")), Number(high=100.0, bits=4), names=("group", "number")),
        ),
        Several(attributes=attributes),
        YesNo(predicates=tuple(Predicate(column="age", kind="at least", value=v) for v in (20, 40, 60, 80))),
        Vectors(measures=(Measure(column="age", high=100.0), Measure(column="pay", high=10.0))),
        ListColumns(variables=("a", "b"), rules=(("job", "age"),), otherwise="pay"),
        DeclaredTable(
            columns=(
                DeclaredColumn(name="job", on=Labels(labels=("a", "b"))),
                DeclaredColumn(name="age", on=Number(high=100.0, bits=4)),
            )
        ).whole(),
    ]
    for reading in readings:
        domain = reading.domain
        found: list[Any] = [kind(domain=domain) for kind in classes_for(domain)]
        if isinstance(domain, Number | Labels):
            found.append(generated("bumps", queries=4, domain=domain, seed=4))
        more: list[tuple[Any, dict[str, int]]] = [
            (AtLeast, {"width": 2}),
            (Marginals, {"ways": 2}),
            (Halfspaces, {}),
            (RangeBoxes, {}),
            (Inputs, {}),
            (Hypotheses, {"label": 3}),
            (GroupStatistics, {}),
            (GroupQuantiles, {}),
            (LabelCounts, {}),
        ]
        found += [kind(domain=domain, **values) for kind, values in more if kind.fits(domain)]
        for queries in found:
            if entry.serves(queries):
                return reading, queries
    raise LookupError(entry.key)


ROWS = 400
ENTRIES = dpcore.catalogue()


def requested(entry: dpcore.Entry, neighbours: Neighbours) -> Request:
    """A small request for an entry."""
    reading, queries = problem_readings(entry)
    return request_of(
        reading=reading,
        queries=queries,
        n=ROWS,
        neighbours=neighbours,
        entry_key=entry.key,
        values={**entry.tiny, **FIXED.get(entry.key, {})},
    )


@pytest.mark.parametrize("key", FIXED)
def test_a_conversation_whose_questions_depend_on_answers_is_refused(key: str) -> None:
    request = requested(dpcore.entry(key), Neighbours.ADD_REMOVE_ONE)
    assert unreleasable(request) == "" and "question" in rehearsed_columns(request)
    assert "conversation with adaptive queries cannot be released" in unreleasable(
        altered(request, values={**request.parts[0].values, "analyst": "bisecting"})
    )


def rehearsed_columns(request: Request) -> list[str]:
    """Return the columns of such a release's file on mock data."""
    [part] = request.parts
    rows = twin(part.reading, n=ROWS).dataset()
    return list(releases.draw(part, part.problem, rows).frame())


MAX_SECONDS = 6.0
"""Of the processor, for one release at the usual size."""


LONG = ("intervals-printed", "median", "net", "net-flip", "root", "weights")
"""Mechanisms that take a second or more for it."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry", [pytest.param(each, id=each.key, marks=[pytest.mark.full] * (each.key in LONG)) for each in ENTRIES]
)
def test_every_mechanism_is_released_at_the_usual_size_in_a_few_seconds(entry: dpcore.Entry) -> None:
    reading, queries = problem_readings(entry, usual=True)
    for neighbours in Neighbours:
        values = FIXED.get(entry.key, {})
        request = request_of(
            reading=reading, queries=queries, n=5000, neighbours=neighbours, entry_key=entry.key, values=values
        )
        if unreleasable(request):
            of_other = (entry.key.startswith(ONLY_REPLACED) and neighbours is Neighbours.ADD_REMOVE_ONE) or (
                entry.key == "find_labels_optimal" and neighbours is Neighbours.REPLACE_ONE
            )
            assert entry.key in REFUSED or of_other
            continue
        if unsuitable(request):
            assert entry.key == "clipped_mean" and neighbours is Neighbours.ADD_REMOVE_ONE
            continue
        assert seconds_of(request) <= MAX_SECONDS


@pytest.mark.full
def test_the_finest_line_is_released_in_a_few_seconds() -> None:
    reading, queries = problem_readings(dpcore.entry("intervals-recursive"))
    domain = Number(high=100.0, bits=16)
    request = request_of(
        reading=replace(reading, on=domain),
        queries=type(queries)(domain=domain),
        n=100_000,
        neighbours=Neighbours.ADD_REMOVE_ONE,
        entry_key="intervals-recursive",
        values={"alpha": 0.01},
    )
    assert seconds_of(request) <= MAX_SECONDS


def seconds_of(request: Request) -> float:
    """Of the processor, for a rehearsal: waiting for other programs does not count."""
    start = time.process_time()
    assert rehearse(request).numbers > 0
    return time.process_time() - start


@pytest.fixture(scope="module")
def table() -> Any:
    coins = np.random.Generator(np.random.PCG64(3))
    people = [f"{coins.integers(0, 100)},{coins.integers(0, 10)},{'abc'[coins.integers(0, 3)]}" for _ in range(ROWS)]
    lines = [f"{person},{SECRET}{place}" for place, person in enumerate(people)]
    return read_table("\n".join(["age,pay,job,name", *lines]).encode(), name=f"{SECRET}.csv", header=True)


def downloads_work(folder: Path, stored: Stored) -> None:
    """The report has a picture or a sentence, the notebook's cells run, and counts are whole: low bits tell nothing."""
    files = downloads_of(stored)
    folder.mkdir()
    for name, contents in files.items():
        (folder / name).write_bytes(contents)
    assert SECRET.encode() not in b"".join(files.values()) and SECRET.encode() not in zip_files(files)
    assert re.search(r'class="bar|interval, 95%|gave no answer|Released: ', files[REPORT].decode())
    with contextlib.chdir(folder), contextlib.redirect_stdout(None):
        names: dict[str, Any] = {}
        for cell in json.loads(files[NOTEBOOK])["cells"]:
            exec(compile("".join(cell["source"]), NOTEBOOK, "exec"), names)
    assert set(names["tables"]) == set(stored.files)
    if "counts.csv" in names["tables"]:
        rows = names["tables"]["counts.csv"]["rows"].dropna()
        assert (rows == rows.round()).all()


class Kept(Account):
    """The accounts of releases, in order."""

    accounts: ClassVar[list[Account]] = []

    def __init__(self, inner: Sampler) -> None:
        super().__init__(inner)
        self.accounts.append(self)


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_every_mechanism_is_released_or_refused_in_a_sentence(
    tmp_path: Path, table: Any, entry: dpcore.Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "Account", Kept)
    for neighbours in Neighbours:
        request = requested(entry, neighbours)
        assert Request.read(request.text).text == request.text
        sentence = unreleasable(request)
        if entry.key in REFUSED:
            assert REFUSED[entry.key].lower() in sentence.lower() and sentence.endswith(".")
            continue
        if entry.key.startswith(ONLY_REPLACED) and neighbours is Neighbours.ADD_REMOVE_ONE:
            assert "is available only for replacing" in sentence
            continue
        if entry.key == "find_labels_optimal" and neighbours is Neighbours.REPLACE_ONE:
            assert sentence == ADDED
            continue
        assert sentence == ""
        if entry.key == "clipped_mean" and neighbours is Neighbours.ADD_REMOVE_ONE:
            assert "n is not confirmed" in unsuitable(request)
            continue
        assert unsuitable(request) == ""
        [part] = request.parts
        guarantee = part.mechanism.guarantee(part.problem)
        ledger, dataset_id = registered(
            tmp_path / neighbours,
            epsilon=guarantee.epsilon,
            delta=0.5,
            rows=table,
            neighbours=neighbours,
            public_n=ROWS,
        )
        Kept.accounts.clear()
        came = stored_release(ledger, dataset_id, request, table)
        [account], charged = Kept.accounts, ledger.account(dataset_id).spent
        assert account.charges and account.delta(charged.epsilon_or_rho / 10**9) * 10**18 <= charged.delta
        assert verify(certificate(came), came.files) == [] == check(ledger, dataset_id)
        downloads_work(tmp_path / f"files of {neighbours}", came)
        assert ledger.account(dataset_id).spent == cost(request, ledger.registration(dataset_id)) == Price.of(guarantee)


@pytest.mark.slow
def test_a_released_whole_table_has_the_columns_of_the_table(tmp_path: Path) -> None:
    """Whatever they are called; the file says that its rows are nobody's."""
    lines = [f"{place % 100},{place / ROWS},{'abc'[place % 3]}" for place in range(ROWS)]
    named = read_table("\n".join(["trial,share,rows", *lines]).encode(), name="people.csv", header=True)
    declared = DeclaredTable(
        columns=(
            DeclaredColumn(name="trial", on=Number(high=100.0, bins=100)),
            DeclaredColumn(name="share", on=Number(high=1.0, bits=4, missing=True)),
            DeclaredColumn(name="rows", on=Labels(labels=("a", "b", "c"))),
        )
    )
    reading = declared.whole()
    assert is_table(reading.domain)
    queries = Marginals(domain=reading.domain, ways=2)
    relation = Neighbours.REPLACE_ONE
    request = request_of(reading=reading, queries=queries, n=ROWS, neighbours=relation, entry_key="whole-table")
    assert Request.read(request.text) == request
    settings: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "public_n": ROWS, "neighbours": relation}
    came = released_in(tmp_path / "ledger", request, rows=named, **settings)
    assert verify(certificate(came), came.files) == []
    assert came.files["rows_of_nobody.csv"].decode().splitlines()[0] == "trial,share,rows"
    assert came.files["rows_of_nobody.csv"].count(b"\n") == ROWS + 1
    downloads_work(tmp_path / "files", came)
