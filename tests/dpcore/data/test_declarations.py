"""A declared table: any columns of it, from a frame or a file; and a cap on the rows of a person."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore import Labels, Number, ParameterError, Product, Provenance, ProvenanceKind
from dpcore.data.dates import Dates
from dpcore.data.declarations import MAP_SIDE, Capped, DeclaredColumn, DeclaredTable, count_earlier
from dpcore.data.frames import read_frame
from dpcore.data.product import is_map, is_table
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns
from dpcore.data.sources import NOMINAL_ROWS, Uploaded
from tests.kit.sources import own

FRAME = pd.DataFrame(
    {
        "who": ["ann", "bob", "ann", None, "ann", "bob", None],
        "age": [17, 41.5, np.nan, 200, 99, 120, -1],
        "seen": pd.to_datetime(["2024-02-29", None, "2023-12-31", "2024-01-01", "2031-01-01", "2024-05-05", None]),
        "smoker": [True, False, True, None, False, True, False],
        "job": ["cook", "nurse", "pilot", None, "cook", "cook", "nurse"],
    }
)
AGE = Number(high=120, bins=12, missing=True)
SEEN = Dates(step="month", first="2024-01", last="2024-12", missing=True, clamp=False)
JOB = Labels(labels=("cook", "nurse"))
DECLARED = DeclaredTable(
    columns=(
        DeclaredColumn(name="who", on=Labels(), used=False),
        DeclaredColumn(name="age", on=AGE),
        DeclaredColumn(name="seen", on=SEEN),
        DeclaredColumn(name="smoker", on=Labels(yes_no=True)),
        DeclaredColumn(name="job", on=JOB),
    )
)
RECORDS = {
    ("age",): [1, 4, 12, 11, 9, 11, 0],
    ("seen",): [1, 12, 12, 0, 12, 4, 12],
    ("smoker",): [1, 0, 1, 2, 0, 1, 0],
    ("job",): [0, 1, 2, 2, 0, 0, 1],
}
PROVENANCE = Provenance(kind=ProvenanceKind.PRIVATE, title="x")


def tables() -> list[Table]:
    stored = io.BytesIO()
    FRAME.to_parquet(stored, index=False)
    return [
        read_frame(FRAME),
        read_table(FRAME.to_csv(index=False).encode(), name="x.csv", header=True),
        read_table(stored.getvalue(), name="x.parquet"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "names", [*RECORDS, ("age", "seen"), ("job", "age"), ("smoker", "seen"), ("age", "job", "seen")]
)
@pytest.mark.parametrize("cap", [pytest.param(0, marks=pytest.mark.full), pytest.param(1, marks=pytest.mark.full), 2])
def test_frames_and_files_give_the_same_records_of_any_columns(names: tuple[str, ...], cap: int) -> None:
    declared = DeclaredTable(columns=DECLARED.columns, person="who" if cap else "", person_rows=cap or 1)
    rows_kept_by_cap = {0: list(range(len(FRAME))), 1: [0, 1], 2: [0, 1, 2, 5]}[cap]
    read = [declared.reading(*names).dataset(table, PROVENANCE) for table in tables()]
    for dataset in (*read, declared.from_frame(FRAME, *names)):
        assert dataset.domain == declared.reading(*names).domain
        columns = np.array([RECORDS[(name,)] for name in names])[:, rows_kept_by_cap]
        domain = dataset.domain
        if is_map(domain):
            (a, b), (wide, high) = columns, domain.shape
            np.testing.assert_array_equal(
                dataset.records, np.where((a < wide) & (b < high), a * high + b, domain.ordered)
            )
        elif is_table(domain):
            np.testing.assert_array_equal(dataset.records.T, columns)
        else:
            np.testing.assert_array_equal(dataset.records, columns[0])


def test_kinds_of_columns_are_told_apart() -> None:
    assert [column.kind for column in DECLARED.columns] == ["category", "number", "date", "yes/no", "category"]


def test_what_is_not_declared_is_not_read() -> None:
    for name in ("who", "pay"):
        with pytest.raises(ParameterError, match="not declared was requested") as caught:
            DECLARED.reading(name)
        assert name not in str(caught.value)
    with pytest.raises(ParameterError, match="once"):
        DeclaredTable(columns=(DECLARED.columns[0],) * 2)


def test_numbers_among_attributes_are_their_cells() -> None:
    reading = DECLARED.reading("smoker", "age")
    assert isinstance(reading, Columns) and reading.domain == Product(
        names=("smoker", "age"), columns=(Labels(yes_no=True), AGE)
    )
    assert AGE.cell_names[:2] == ("0 to 10", "10 to 20")
    assert DECLARED.from_frame(FRAME, "smoker", "age").frame()["age"][1] == 45.0


@pytest.mark.slow
def test_the_code_of_a_capped_source_makes_its_rows_again() -> None:
    declared = DeclaredTable(columns=DECLARED.columns, person="who", person_rows=2)
    table = read_frame(FRAME)
    source = own(table, "age", on=AGE, private=False)
    capped = type(source)(
        origin=Uploaded(table=table, private=False, digest="d"), reading=declared.reading("seen", "smoker")
    )
    by_column: dict[str, Any] = {}
    code = "\n".join(capped.code()).replace("pd.read_parquet('frame.parquet'", "FRAME.filter(")
    lines = code.replace("FRAME.filter(, columns=", "FRAME.filter(items=")
    exec(lines, {"FRAME": FRAME}, by_column)
    assert by_column["dataset"].records.tolist() == capped.dataset().records.tolist()
    assert (source.person_rows, capped.person_rows) == (0, 2)
    assert (source.public_rows, capped.public_rows) == (7, NOMINAL_ROWS)
    assert capped.columns == ("seen", "smoker", "who") and "seen × smoker" in capped.provenance.title


@pytest.mark.slow
@given(st.lists(st.integers(0, 4)))
def test_rows_are_counted_person_by_person_in_file_order(codes: list[int]) -> None:
    expected = [codes[:place].count(code) for place, code in enumerate(codes)]
    assert count_earlier(np.array(codes, dtype=np.int64)).tolist() == expected


@pytest.mark.parametrize("rows", [0, -1, 1001, True])
def test_a_cap_is_a_number_of_rows(rows: int) -> None:
    with pytest.raises(ParameterError, match=re.escape("between 1 and 1,000 rows")):
        Capped(reading=DECLARED.reading("age"), person="who", rows=rows)


BINS = st.integers(2, 3000)


@pytest.mark.slow
@given(BINS, st.integers(-1000, 1000), st.data())
def test_whole_bounds_and_bins_put_every_edge_in_the_cell_that_starts_there(
    bins: int, low: int, data: st.DataObject
) -> None:
    line = Number(low=low, high=low + bins, bins=bins)
    steps = np.array(data.draw(st.lists(st.integers(0, bins - 1), min_size=1)))
    assert line.ordered == bins and line.encode((low + steps).astype(float)).tolist() == steps.tolist()
    assert line.encode(low + steps + 0.999).tolist() == steps.tolist()


def test_tenths_are_where_they_are_said_to_be() -> None:
    line = Number(high=1, bins=10)
    assert line.encode(np.array([k / 10 for k in range(11)])).tolist() == [*range(10), 9]
    assert [line.describe(cell) for cell in (2, 3)] == ["0.2 to 0.3", "0.3 to 0.4"]
    hundred = Number(high=100, bins=100)
    assert hundred.encode(np.arange(101.0)).tolist() == [*range(100), 99]


def test_a_line_has_one_spelling() -> None:
    assert Number(bins=64) == Number(bits=6) == Number(bins=64, bits=3)
    assert (Number(bins=65).bits, Number(bins=65).ordered, Number(bins=65, missing=True).size) == (7, 65, 66)
    assert eval(repr(Number(bins=12)), {"Number": Number}) == Number(bins=12)
    for bins in (1, -1, 65_537):
        with pytest.raises(ParameterError, match="between 2 and 65,536"):
            Number(bins=bins)
    with pytest.raises(ParameterError, match="together"):
        Product.map(Number(bins=300), Number(bins=300))
    vast = Number(low=-8e307, high=8e307, bins=65_535)
    assert np.isfinite(vast.edges).all() and (np.diff(vast.edges) > 0).all()


def test_a_pair_with_too_many_cells_is_a_coarser_map() -> None:
    wide, fine = Number(high=100, bins=4096, missing=True), Dates(step="day", first="2024-01-01", last="2024-02-09")
    columns = (
        DeclaredColumn(name="cost", on=wide),
        DeclaredColumn(name="seen", on=fine),
        DeclaredColumn(name="age", on=Number(bins=8)),
    )
    table = DeclaredTable(columns=columns)
    assert table.reading("cost", "age").domain == Product.map(wide, Number(bins=8), names=("cost", "age")), "it fits"
    coarse = Number(high=100, bins=MAP_SIDE, missing=True)
    assert table.reading("cost", "seen").domain == Product.map(coarse, fine, names=("cost", "seen")), "not the dates"
