"""The twin: made of a declaration, n and a seed; nothing of a file, not even its number of rows, is in it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpcore
from dpcore.core import Domain, ParameterError, Provenance, ProvenanceKind
from dpcore.core.sizes import MAX_MOCK_ROWS
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import Capped
from dpcore.data.predicates import Predicate
from dpcore.data.product import Product
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Columns, Reading, YesNo
from dpcore.data.sources import Source, Uploaded
from dpcore.data.sphere import Sphere
from dpcore.data.twin import MockData, draw_mock_records, twin
from tests.kit.sources import own

LINE = Number(low=0, high=200, bits=4, missing=True, unit="kg")
TRADES = Labels(labels=("cook", "nurse", "smith"))
DOMAINS: tuple[Domain, ...] = (
    LINE,
    TRADES,
    Labels(labels=("only",)),
    Product.map(LINE, Number(bits=3)),
    Product.map(Labels(labels=TRADES.labels), LINE, names=("group", "number")),
    Product(names=("trade", "again", "smokes"), columns=(TRADES, TRADES, Labels(labels=("no", "yes")))),
    Product.yes_no(("a", "b", "c")),
    Sphere(dimensions=3),
)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda each: type(each).__name__)
def test_rows_fit_their_domain_and_none_is_missing(domain: Domain) -> None:
    dataset = MockData(n=500, seed=3).dataset(_Read(domain), TOLD)
    assert dataset.n == 500
    if domain.listed:
        assert int(dataset.records.max()) < domain.ordered
    assert np.array_equal(dataset.records, domain.checked(draw_mock_records(domain, n=500, seed=3)))
    if getattr(domain, "labels", ()) != ("only",):
        assert not np.array_equal(dataset.records, domain.checked(draw_mock_records(domain, n=500, seed=4)))


class _Read(Reading):
    """A reading that is a domain and no more."""

    columns, title = ("x",), "x"

    def __init__(self, domain: Domain) -> None:
        self.on = domain

    @property
    def domain(self) -> Domain:
        return self.on

    def records(self, table: object) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        raise AssertionError("a twin reads no table")


TOLD = Provenance(kind=ProvenanceKind.TWIN, title="test")


def test_columns_are_independent() -> None:
    grid = Product.map(Number(bits=4), Number(bits=4))
    first, second = np.divmod(draw_mock_records(grid, n=40_000, seed=1), grid.shape[1])
    assert abs(float(np.corrcoef(first, second)[0, 1])) < 4 / np.sqrt(40_000)
    trade, again, _ = draw_mock_records(DOMAINS[5], n=40_000, seed=1).T
    assert abs(float(np.corrcoef(trade, again)[0, 1])) < 4 / np.sqrt(40_000)


SECRETS = ("174.75", "nurse")


def private(rows: int, *, weight: str, trade: str) -> Source:
    """A private file of so many rows that all hold a secret."""
    text = "weight,trade\n" + f"{weight},{trade}\n" * rows
    table = read_table(text.encode(), name="people.csv", header=True)
    return own(table, "weight", on=LINE, private=True, digest=f"{weight}{rows}")


def test_twins_of_two_files_declared_alike_are_the_same() -> None:
    first, second = (private(rows, weight=weight, trade="nurse") for rows, weight in ((777, "174.75"), (31, "2.5")))
    twins = [twin(each, n=1_000) for each in (first, second)]
    assert twins[0].key == twins[1].key and twins[0].code() == twins[1].code()
    frames = [each.dataset().frame() for each in twins]
    pd.testing.assert_frame_equal(*frames)
    assert first.dataset().n == 777 and len(frames[0]) == 1_000
    text = f"{twins[0]!r} {twins[0].key} {twins[0].provenance} {twins[0].public_rows} {twins[0].code()}"
    assert not any(secret in text + frames[0].to_csv(index=False) for secret in (*SECRETS, "777", "people"))


def test_a_twin_never_reads_the_file() -> None:
    source = private(50, weight="174.75", trade="nurse")
    assert isinstance(source.origin, Uploaded)
    source.origin.table.forget()
    assert twin(source, n=10).dataset().n == 10


def test_a_twin_is_simulated_and_not_private() -> None:
    twin_source = twin(private(5, weight="2.5", trade="cook"), n=10)
    assert str(twin_source.provenance.kind) == "simulated" and not twin_source.provenance.is_private
    assert twin_source.public_rows == 10


def test_bounds_read_off_private_rows_make_no_twin() -> None:
    table = read_table(b"weight\n174.75\n174.75\n", name="people.csv", header=True)
    source = own(table, "weight", on=Number(low=174.75, high=175), private=True, bounds_from_data=True)
    with pytest.raises(ParameterError, match="read off private rows"):
        twin(source, n=10)


@pytest.mark.parametrize("n", [0, MAX_MOCK_ROWS + 1])
def test_no_twin_has_so_many_rows(n: int) -> None:
    with pytest.raises(ParameterError, match="between 1 and"):
        dpcore.twin(Columns(names=("weight",), on=LINE), n=n)


@pytest.mark.parametrize(
    "reading",
    [
        Columns(names=("weight",), on=LINE),
        YesNo(predicates=(Predicate(column="age", kind="at least", value=40), Predicate(column="sex", value="f"))),
        Capped(reading=Columns(names=("weight",), on=LINE), person="who", rows=3),
    ],
    ids=["column", "predicates", "persons"],
)
def test_the_code_makes_the_same_rows(reading: Reading) -> None:
    twin_source = twin(reading, n=200, seed=5)
    names: dict[str, object] = {"dpcore": dpcore}
    exec(compile("\n".join(twin_source.code()), "snippet", "exec"), names)
    again = names["dataset"]
    assert isinstance(again, dpcore.Dataset)
    assert np.array_equal(again.records, twin_source.dataset().records) and isinstance(names["df"], pd.DataFrame)


def test_a_twin_of_persons_rows_is_that_of_what_is_read_of_them() -> None:
    inner = Columns(names=("weight",), on=LINE)
    twin_source = twin(Capped(reading=inner, person="who", rows=3), n=200)
    assert np.array_equal(twin_source.dataset().records, twin(inner, n=200).dataset().records)
    assert twin_source.person_rows == 3 and twin_source.value_columns == ("weight",) and twin_source.column == "weight"
    assert twin_source.columns == ("weight", "who"), "a reader's own file must have both"
