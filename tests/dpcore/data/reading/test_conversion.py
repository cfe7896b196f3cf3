"""Workbooks and files of SPSS and Stata read as the same table in CSV does; hostile ones end in one sentence."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from pyarrow import feather

from dpcore.core import DataError, ParameterError
from dpcore.data.reading import conversion_process
from dpcore.data.reading.format import Format, read_format
from dpcore.data.reading.format_text import format_sentence
from dpcore.data.reading.intake import FirstRowUnclear, Limits
from dpcore.data.reading.scratch import PREFIX
from dpcore.data.reading.tables import Table, read_table
from tests.dpcore.data.reading.workbooks import DECLARATION, ods, sheet_rows, xlsx
from tests.kit.hostile import SECRET

ROWS: list[list[object]] = [
    ["age", "pay", "town", "note"],
    [31, 1200.5, "Ulm, north", None],
    [58, 0.1, 'the "Hook"', "a\nb"],
    [None, -3, "Zürich", "1,5"],
    [44, 1e21, " Oslo ", "=1+1"],
]


def as_csv(rows: Sequence[Sequence[object]]) -> bytes:
    stream = io.StringIO()
    csv.writer(stream).writerows([["" if cell is None else cell for cell in row] for row in rows])
    return stream.getvalue().encode()


def cells(table: Table) -> list[tuple[list[str], list[float]]]:
    """Each column as texts and as numbers."""
    return [
        (table.distinct(column, 100), np.nan_to_num(table.numbers(column), nan=-1e9).tolist())
        for column in table.columns
    ]


@pytest.mark.parametrize(("name", "content"), [("b.xlsx", xlsx(sheet_rows(ROWS))), ("b.ods", ods(ROWS))])
@pytest.mark.parametrize("zipped", [False, True])
def test_a_workbook_reads_as_the_same_rows_in_csv(name: str, content: bytes, zipped: bool) -> None:
    sent, name = (gzip.compress(content), f"{name}.gz") if zipped else (content, name)
    table = read_table(sent, name=name, header=True)
    plain = read_table(as_csv(ROWS), name="b.csv", header=True)
    assert table.columns == plain.columns
    assert table.row_count == plain.row_count == 4
    assert cells(table) == cells(plain)
    assert table.notes == ()


def test_of_several_sheets_the_first_or_the_chosen_one_is_read_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = xlsx(sheet_rows(ROWS), sheet_rows([["x"], [7]]))
    table = read_table(content, name="b.xlsx", header=True)
    assert table.columns == ("age", "pay", "town", "note")
    assert table.notes == ("It has 2 sheets. Sheet 1 was read. For another one, set Format: Sheet.",)
    chosen = read_table(content, name="b.xlsx", header=True, settings=read_format("sheet=2"))
    assert chosen.columns == ("x",) and chosen.numbers("x").tolist() == [7]
    assert "Sheet 2 was read" in chosen.notes[0] and chosen.format.sheet == 2
    assert format_sentence(chosen.format, header=True).startswith("Sheet 2 was read as Unicode text")
    (tmp_path / "b.xlsx").write_bytes(content)
    names = dict[str, Any](pd=pd)
    monkeypatch.chdir(tmp_path)
    exec("\n".join(chosen.code(["x"])), names)
    assert names["df"]["x"].tolist() == ["7"], "the reader's own script reads the same sheet"
    with pytest.raises(DataError, match=r"it has no sheet 3\. Set Format: Sheet\."):
        read_table(content, name="b.xlsx", header=True, settings=Format(sheet=3))


def test_a_sheet_is_chosen_of_workbooks_alone() -> None:
    table = read_table(as_csv(ROWS), name="b.csv", header=True, settings=Format(sheet=2))
    assert table.format.sheet == 1 and table.row_count == 4
    for sheet in (0, 1_001, True, -1):
        with pytest.raises(ParameterError, match="The sheet is a number from 1 to 1,000"):
            Format(sheet=sheet)
    with pytest.raises(ParameterError):
        read_format("sheet=two")


def test_the_first_row_of_private_rows_has_to_be_confirmed() -> None:
    content = xlsx(sheet_rows(ROWS))
    with pytest.raises(FirstRowUnclear) as caught:
        read_table(content, name="b.xlsx", ask=True)
    assert caught.value.columns == 4
    table = read_table(content, name="b.xlsx", ask=True, header=False)
    assert (table.row_count, table.columns[0]) == (5, "column 1")


def test_numbers_of_a_workbook_have_a_point_whatever_the_settings_say() -> None:
    """A number in a cell is a number: read with a decimal comma, 1200.5 would become 12005."""
    table = read_table(xlsx(sheet_rows(ROWS)), name="b.xlsx", header=True, settings=Format(decimal=",", separator=";"))
    changed = table.with_format(Format(decimal=","))
    assert table.numbers("pay")[0] == changed.numbers("pay")[0] == 1200.5


PEOPLE = pd.DataFrame(
    {
        "age": [30.0, 99.0, 41.5, np.nan],
        "sex": [1.0, 2.0, 9.0, 2.0],
        "town": ["Ulm", "", "Zürich", "a, b"],
        "born": [datetime.date(2024, 2, 29), None, datetime.date(2020, 1, 1), datetime.date(1960, 12, 31)],
    }
)
SEX: dict[int | float, str] = {1: "man", 2: "woman ; other", 9: "refused"}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    """The same people in SPSS and Stata."""
    labels: dict[str, dict[int | float, str]] = {"sex": SEX, "age": {99: "refused"}}
    measures = {"sex": "nominal", "age": "scale"}
    pyreadstat.write_sav(
        PEOPLE, str(tmp_path / "p.sav"), variable_value_labels=labels, variable_measure=measures,
        missing_ranges={"sex": [9]},
    )  # fmt: skip
    pyreadstat.write_dta(PEOPLE, str(tmp_path / "p.dta"), variable_value_labels={"sex": SEX})
    return {name: (tmp_path / name).read_bytes() for name in ("p.sav", "p.dta")}


@pytest.mark.parametrize("name", ["p.sav", "p.dta"])
def test_statistics_files_read_as_the_same_rows_in_csv_with_labels(files: dict[str, bytes], name: str) -> None:
    table = read_table(files[name], name=name, ask=True)  # its names are its own, so nothing is asked
    missing = name == "p.sav"  # SPSS says that 9 is missing
    sexes = ["man", "woman ; other", None if missing else "refused", "woman ; other"]
    born = [str(each) if each is not pd.NaT and each else None for each in PEOPLE["born"]]
    rows = [list(PEOPLE), *zip([30, 99, 41.5, None], sexes, PEOPLE["town"], born, strict=True)]
    plain = read_table(as_csv(rows), name="p.csv", header=True)
    assert table.columns == plain.columns
    assert cells(table) == cells(plain)
    assert table.value_labels[1] == (("man", "woman ; other") if missing else ("man", "woman ; other", "refused"))
    assert not any(table.value_labels[place] for place in (0, 2, 3))  # ages are a scale: 99 stays a number
    assert table.notes == ("Codes were replaced with their value labels in 1 column.",)


@pytest.mark.parametrize("kind", ["b.xlsx", "p.sav", "p.dta"])
def test_the_code_reads_the_same_rows(
    files: dict[str, bytes], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = files.get(kind) or xlsx(sheet_rows(ROWS))
    (tmp_path / kind).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    table = read_table(content, name=kind, header=True)
    names: dict[str, Any] = {"pd": pd}
    exec("\n".join(table.code(table.columns)), names)
    for column in table.columns:
        texts = {text.strip() for text in names["df"][column]} - {""}
        assert texts == set(table.distinct(column, 100))


@pytest.mark.parametrize("name", ["p.zsav", "p.feather", "p.arrow"])
def test_compressed_spss_and_arrow_read_as_the_same_rows_in_csv(name: str, tmp_path: Path) -> None:
    sexes = ["man", "woman", None, "man"]
    if name == "p.zsav":
        pyreadstat.write_sav(PEOPLE.assign(sex=sexes), str(tmp_path / name), compress=True)
    else:
        table = pa.table(PEOPLE.assign(sex=pd.Categorical(sexes)))
        feather.write_feather(table, str(tmp_path / name), compression="lz4" if name == "p.arrow" else "zstd")
    read = read_table((tmp_path / name).read_bytes(), name=name, ask=True)  # its names are its own: nothing is asked
    born = [str(each) if each is not pd.NaT and each else None for each in PEOPLE["born"]]
    plain = read_table(
        as_csv([list(PEOPLE), *zip([30, 99, 41.5, None], sexes, PEOPLE["town"], born, strict=True)]),
        name="p.csv", header=True,
    )  # fmt: skip
    assert read.columns == plain.columns
    assert cells(read) == cells(plain)


def test_the_rows_of_a_long_file_come_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion_process, "CELLS_PER_CHUNK", 6)
    frame = pd.DataFrame({"a": np.arange(10.0), "b": np.arange(10.0) / 4})
    pyreadstat.write_sav(frame, str(tmp_path / "p.sav"))
    _, rows = conversion_process.read_statistics(tmp_path / "p.sav", conversion_process.Wanted(100, 9, 0, 1))
    assert list(rows) == [["a", "b"], *zip(frame["a"], frame["b"], strict=True)]


FAR = (
    '<row r="1"><c r="A1"><v>1</v></c></row><row r="600000"><c r="Z600000" t="inlineStr"><is>'
    f"<t>{SECRET}</t></is></c></row>"
)
BOMB = xlsx(FAR)
"""A thousand bytes, and 15,600,000 cells."""
SMALL = Limits(memory_bytes=64 << 20, session_bytes=256 << 20, unpacked_bytes=100_000_000)
LAUGHS = (
    f'{DECLARATION}<!DOCTYPE x [<!ENTITY a0 "{SECRET}">'
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
    + "]>"
)
CORNER = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
REPEATED = (
    '<table:table-row table:number-rows-repeated="1000000000"><table:table-cell office:value-type="string" '
    f'table:number-columns-repeated="1000"><text:p>{SECRET}</text:p></table:table-cell></table:table-row>'
)
PRIVATE = sheet_rows([["name", "pay"], [SECRET, 1]])


def stata(change: Callable[[bytes], bytes]) -> bytes:
    """A file of Stata with a secret in it, changed."""
    with tempfile.TemporaryDirectory() as folder:
        name = f"{folder}/p.dta"
        pyreadstat.write_dta(pd.DataFrame({"name": [SECRET] * 50, "pay": np.arange(50.0)}), name)
        return change(Path(name).read_bytes())


def arrow(change: Callable[[bytes], bytes], *, names: Sequence[str] = (SECRET,) * 50) -> bytes:
    """A file of Arrow with a secret in it, compressed and then changed."""
    stream = io.BytesIO()
    feather.write_feather(pa.table({"name": list(names)}), stream, compression="zstd")
    return change(stream.getvalue())


def with_code_out_of_range() -> bytes:
    """A file of Arrow in which one code has no label: unchecked, it was read as a missing value."""
    stream = io.BytesIO()
    table = pa.table({"name": pa.array([SECRET, "a", SECRET]).dictionary_encode()})
    feather.write_feather(table, stream, compression="uncompressed")
    before, codes, after = stream.getvalue().rpartition(np.array([0, 1, 0], dtype=np.int32).tobytes())
    return before + codes[:4] + np.int32(-3).tobytes() + codes[8:] + after


BROKEN = "its contents are damaged or cut short."
MEMORY = "it needs more than the 64 MB of memory that reading may take."
HOSTILE: dict[str, tuple[str, Callable[[], bytes], tuple[str, ...]]] = {
    "a sheet with two far corners": ("b.xlsx", lambda: BOMB, (MEMORY,)),
    "10^10 declared cells": ("b.xlsx", lambda: xlsx(sheet_rows([[SECRET]]) + CORNER), (MEMORY, BROKEN)),
    "billion laughs": (
        "b.xlsx",
        lambda: xlsx('<row r="1"><c r="A1" t="str"><v>&a9;</v></c></row>', head=LAUGHS),
        (BROKEN, MEMORY, "it is empty, or its sheet 1 is."),
    ),
    "a zip bomb": (
        "b.xlsx",
        lambda: xlsx(PRIVATE, extra={f"xl/{i}.xml": "0" * (32 << 20) for i in range(5)}),
        ("it unpacks to more than 100,000,000 bytes, and no more are read.",),
    ),
    "a sheet that repeats its rows": ("b.ods", lambda: ods([["a", SECRET]], more=REPEATED), (MEMORY, BROKEN)),
    "a workbook cut short": ("b.xlsx", lambda: xlsx(PRIVATE)[:-200], (BROKEN,)),
    "a zip without a workbook": ("b.xlsx", lambda: ods([["a", SECRET]]), (BROKEN,)),
    "a workbook with torn XML": ("b.xlsx", lambda: xlsx(PRIVATE + "<row><c r="), (BROKEN,)),
    "an empty workbook": ("b.xlsx", lambda: xlsx(""), ("it is empty, or its sheet 1 is.",)),
    "a workbook with a password": (
        "b.xlsx",
        lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + SECRET.encode() * 99,
        ("it is an old workbook, or has a password: save it as .xlsx without a password.",),
    ),
    "a text called a workbook": ("b.ods", SECRET.encode, ("the name says .ods, but the content is text.",)),
    "Stata cut short": ("p.dta", lambda: stata(lambda whole: whole[: len(whole) // 2]), (BROKEN,)),
    "Stata with ruined counts": (
        "p.dta",
        lambda: stata(lambda whole: whole.replace(b"<N>" + whole.split(b"<N>")[1][:8], b"<N>" + b"\xff" * 7 + b"\x7f")),
        (BROKEN, "it has more than 100,000,000 cells (rows times columns), and no more are read."),
    ),
    "Arrow cut short": ("p.arrow", lambda: arrow(lambda whole: whole[: len(whole) // 2]), (BROKEN,)),
    "Arrow with a ruined footer": (
        "p.feather",
        lambda: arrow(lambda whole: whole[:-10] + b"\xff\xff\xff\x7f" + whole[-6:]),
        (BROKEN, MEMORY),
    ),
    "Arrow with a code out of range": ("p.arrow", with_code_out_of_range, (BROKEN,)),
    "an Arrow bomb": (
        "p.feather",
        lambda: arrow(lambda whole: whole, names=[SECRET * 1_000] * 20_000),
        (MEMORY, BROKEN),
    ),
    "Arrow as a stream": (
        "p.arrow",
        lambda: b"\xff\xff\xff\xff" + SECRET.encode() * 9,
        ("the name says .arrow, but the content is an Arrow stream.",),
    ),
    "SPSS of noise": ("p.sav", lambda: b"$FL2@(#) " + SECRET.encode() * 999, (BROKEN, MEMORY)),
    "too many columns": (
        "b.xlsx",
        lambda: xlsx(sheet_rows([["a"] * 1_001])),
        ("it has more than 1,000 columns, and no more are read.",),
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_refused_in_one_sentence(
    what: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    name, make, sentences = HOSTILE[what]
    with pytest.raises(DataError) as caught:
        read_table(make(), name=name, header=True, limits=SMALL)
    error: BaseException | None = caught.value
    assert str(error) in {f"{name}: {sentence}" for sentence in sentences}
    while error is not None:
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(PREFIX)]
    assert SECRET not in caplog.text + "".join(capfd.readouterr())


def test_without_the_limit_of_memory_the_bomb_is_read(tmp_path: Path) -> None:
    """What refuses the first of the hostile files is the limit: with a large one the same child reads it."""
    (tmp_path / "b.xlsx").write_bytes(BOMB)
    arguments = [str(tmp_path / each) for each in ("b.xlsx", "out.csv", "about.json")]
    command = [sys.executable, "-I", conversion_process.__file__, *arguments]
    codes = []
    for memory in (64 << 20, 3 << 30):
        numbers = (memory, 60, 100_000_000, 1_000, 1 << 30, 1)
        done = subprocess.run([*command, *map(str, numbers)], capture_output=True, check=False)
        codes.append(done.returncode)
    assert codes[0] != 0
    assert codes[1] == 0
    assert json.loads((tmp_path / "about.json").read_text()) == {"sheets": 1}
    assert SECRET in (tmp_path / "out.csv").read_text()[-100:]


def test_a_reader_that_takes_too_long_is_ended() -> None:
    start = time.monotonic()
    with pytest.raises(DataError, match=r"^b\.xlsx: it took longer than 0\.01 seconds\.$"):
        read_table(xlsx(PRIVATE), name="b.xlsx", header=True, limits=Limits(seconds=0.01))
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("name", ["../../etc/x.xlsx", "-rf; $(reboot).xlsx", "a\nb\u202e.xlsx", f"{'x' * 300}.XLSX"])
def test_a_hostile_name_is_no_path_and_no_option(name: str) -> None:
    table = read_table(xlsx(PRIVATE), name=name, header=True)
    assert table.row_count == 1
    assert "\n" not in table.name
    assert "\u202e" not in table.name


def test_the_readers_are_never_imported_by_the_app() -> None:
    statements = (
        "import sys; from dpcore.data.reading.tables import read_table; "
        "read_table(sys.stdin.buffer.read(), name='b.xlsx', header=True); "
        "print({'python_calamine', 'pyreadstat'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", statements], input=xlsx(PRIVATE), capture_output=True, check=True)
    assert done.stdout.decode().strip() == "set()"
