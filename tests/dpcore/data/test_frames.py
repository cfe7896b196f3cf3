"""DataFrames go in as files do and come out of everything; no value of private rows gets into a message."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore
from dpcore.core import (
    DataError,
    Dataset,
    HistogramRelease,
    ParameterError,
    PointsRelease,
    Release,
    ValueRelease,
)
from dpcore.core.release import NOTHING
from dpcore.data.bundled import bundled, survey_of, vectors_of, yes_no_of
from dpcore.data.columns import Column, Labels, Number, is_number
from dpcore.data.frames import read_frame
from dpcore.data.predicates import Predicate
from dpcore.data.product import Product
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Coded, Columns, Measure, Several, Vectors, YesNo
from dpcore.data.sources import Source, Uploaded, generated_attributes, generated_rows, generated_vectors
from dpcore.mechanisms.online.conversation import Transcript
from dplab.measure import finish, measure
from dplab.recipe import Recipe
from dplab.sweep import sweep
from tests.cases import full_but
from tests.kit.sources import own

MESSY = '''name,pay,age,day,job,grade
Ada,1200.5,41,2024-01-31,nurse,1
Bert,,17,2024-02-01,cook,2
Cleo,NaN,-5,not a day,  nurse ,3
Dora,1e3,200,2024-02-01,pilot,
Emil,"12,000",64.0,,,2
"Fay, ""F""",inf,n/a,2024-01-31,"cook",1
'''
AGE = Number(high=128, bits=7, missing=True, clamp=False)
PAY = Number(high=2048, bits=11, missing=True)
DAY = Labels(labels=("2024-01-31", "2024-02-01"))
JOB = Labels(labels=("cook", "nurse"))
GRADE = Labels(labels=("1", "2", "3"))
CASES: list[tuple[Sequence[str], Column | Product, Any]] = [
    (["pay"], PAY, [1200, 2048, 2048, 1000, 2047, 2048]),
    (["age"], AGE, [41, 17, 128, 128, 64, 128]),
    (["age"], Number(high=128, bits=7, missing=True), [41, 17, 0, 127, 64, 128]),
    (["day"], DAY, [0, 1, 2, 1, 2, 0]),
    (["job"], JOB, [1, 0, 1, 2, 2, 0]),
    (["grade"], GRADE, [0, 1, 2, 3, 1, 0]),
    (["age", "grade"], Product.map(Number(high=128, bits=1), Number(high=4, bits=2)), [1, 2, 3, 4, 6, 1]),
    (
        ["job", "age"],
        Product.map(Labels(labels=JOB.labels), AGE, names=("group", "number")),
        [169, 17, 256, 256, 256, 256],
    ),
    (
        ["job", "grade"],
        Product(names=("job", "grade"), columns=(JOB, GRADE)),
        [[1, 0], [0, 1], [1, 2], [2, 3], [2, 1], [0, 0]],
    ),
]
SECRET = "4817263"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "domain", "records"),
    [pytest.param(*case, marks=[pytest.mark.full] * (place % 3 > 0)) for place, case in enumerate(CASES)],
)
def test_upload_file_and_frame_make_the_same_records(
    tmp_path: Path, columns: Sequence[str], domain: Column | Product, records: Any
) -> None:
    path = tmp_path / "messy.csv"
    path.write_text(MESSY, encoding="utf-8")
    stored = io.BytesIO()
    pd.read_csv(path).to_parquet(stored)
    tables = [
        read_table(MESSY.encode(), name="messy.csv"),
        read_table(path, name="messy.csv"),
        read_table(stored.getvalue(), name="messy.parquet"),
    ]
    provenance = dpcore.Provenance(kind=dpcore.ProvenanceKind.PRIVATE, title="messy")
    datasets = [Columns(names=tuple(columns), on=domain).dataset(table, provenance) for table in tables]
    frames = [
        pd.read_csv(path),
        pd.read_csv(path, dtype=str, keep_default_na=False),
        pd.read_csv(path, dtype=object),
        pd.read_csv(path, dtype="category", index_col="name"),
        pd.read_csv(path).convert_dtypes(),
    ]
    datasets += [dpcore.from_frame(frame, columns, domain) for frame in frames]
    for dataset in datasets:
        np.testing.assert_array_equal(dataset.records, records)
        assert dataset.domain == domain and dataset.provenance.is_private


@pytest.mark.slow
def test_typed_columns_read_as_from_parquet() -> None:
    days = pd.to_datetime(["2024-01-31", None, "2024-02-01"])
    frame = pd.DataFrame({"day": days, "yes": [True, False, True], 3: [1, None, 2.5]})
    stored = io.BytesIO()
    frame.set_axis(["day", "yes", "3"], axis="columns").to_parquet(stored)
    table, file = read_frame(frame), read_table(stored.getvalue(), name="x.parquet")
    assert table.columns == file.columns == ("day", "yes", "3")
    for column in table.columns:
        assert table.distinct(column, 9) == file.distinct(column, 9)
    assert read_frame(frame.astype(object)).distinct("yes", 9) == ["true", "false"]
    assert dpcore.from_frame(frame, 3, GRADE, private=False).records.tolist() == [0, 3, 3]


def test_a_column_may_be_called_anything() -> None:
    frame = pd.DataFrame({"<b>pay</b>": [1, 2], "b_pay_/b": [3, 4]})
    line = Number(high=8, bits=3)
    assert dpcore.from_frame(frame, "<b>pay</b>", line).records.tolist() == [1, 2]
    assert dpcore.from_frame(frame, "b_pay_/b", line).records.tolist() == [3, 4]


class Loud:
    def __str__(self) -> str:
        raise ValueError(SECRET)


@pytest.mark.parametrize(
    ("frame", "columns", "domain"),
    [
        (pd.DataFrame({"a": [SECRET]}), "b", GRADE),
        (pd.DataFrame([[SECRET, SECRET]], columns=["a", "a"]), "a", GRADE),
        (pd.DataFrame({"a": [SECRET]}), ["a", "a"], GRADE),
        (pd.DataFrame({"a": [SECRET + "\ud800"]}, dtype=object), "a", GRADE),
        (pd.DataFrame({"a": [Loud()]}), "a", GRADE),
        (pd.DataFrame({"a": [complex(int(SECRET), 1)]}), "a", GRADE),
        (pd.DataFrame({"a": pd.interval_range(int(SECRET), periods=1)}), "a", GRADE),
        (pd.DataFrame({"a": [SECRET], "b": [SECRET]}), ["a", "b"], AGE),
        (pd.DataFrame({"a": [SECRET]}), "a", Product.map(Number(bits=5), Number(bits=5))),
        (pd.DataFrame({"a": [SECRET]}).iloc[:0], "a", GRADE),
        (pd.DataFrame(index=[SECRET]), [], GRADE),
    ],
)
def test_a_refusal_shows_no_record(frame: pd.DataFrame, columns: Any, domain: Column | Product) -> None:
    with pytest.raises((DataError, ParameterError)) as caught:
        dpcore.from_frame(frame, columns, domain)
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__


def test_what_is_made_of_a_frame_prints_no_record() -> None:
    frame = pd.DataFrame({"a": [SECRET, "1"]})
    dataset = dpcore.from_frame(frame, "a", Labels(labels=("1",)))
    assert SECRET not in repr(dataset) + repr(read_frame(frame)) + repr(dataset.provenance)


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "domain", "records"), CASES[:6])
def test_a_data_set_comes_out_and_goes_back(columns: Sequence[str], domain: Column | Product, records: Any) -> None:
    dataset = dpcore.from_frame(pd.read_csv(io.StringIO(MESSY)), columns, domain)
    frame = dataset.frame()
    assert frame["value"].isna().tolist() == [cell == domain.ordered for cell in records]
    np.testing.assert_array_equal(dpcore.from_frame(frame, "value", domain).records, records)


def grade_problem(n: int = 4) -> dpcore.Problem:
    return dpcore.Problem(domain=GRADE, queries=dpcore.Cells(domain=GRADE), n=n)


SOME: dict[str, Any] = {
    "problem": grade_problem(),
    "guarantee": dpcore.Guarantee(epsilon=1.0, neighbours=dpcore.Neighbours.REPLACE_ONE),
    "sampler": "preview",
    "refused": np.array([False, True]),
}


def test_releases_as_frames() -> None:
    counts = HistogramRelease(**SOME, counts=np.array([[1, -2, 3, 4], [9, 9, 9, 9]])).frame()
    assert counts["rows"][:4].tolist() == [1, -2, 3, 4] and counts["rows"][4:].isna().all()
    assert counts["value"][:3].tolist() == ["1", "2", "3"] and counts["cell"].tolist() == [0, 1, 2, 3] * 2
    value = ValueRelease(**SOME, values=np.array([2, 1])).frame()
    assert value["cell"].tolist() == [2, NOTHING] and value["value"][0] == "3" and value["value"].isna()[1]
    release = PointsRelease(
        **SOME, points=np.array([[0, 1, 3], [2, 2, 2]]), weights=np.array([[0.5, 0.0, 0.5], [1.0, 0.0, 0.0]])
    )
    points = release.frame()
    assert points["cell"].tolist() == [0, 3, NOTHING] and points["trial"].tolist() == [0, 0, 1]
    assert points["share"][:2].tolist() == [0.5, 0.5] and points["share"].isna()[2]
    assert points["value"][0] == "1" and points["value"][1:].isna().all()


def test_a_pair_of_numbers_has_two_columns() -> None:
    grid = Product.map(Number(high=2, bits=1, missing=True), Number(high=4, bits=2))
    frame = Dataset(
        grid, np.array([0, 7, 8]), dpcore.Provenance(kind=dpcore.ProvenanceKind.GENERATED, title="")
    ).frame()
    assert frame.to_numpy()[:2].tolist() == [[0.5, 0.5], [1.5, 3.5]] and frame.isna().to_numpy()[2].all()


def test_whatever_publishes_has_a_frame() -> None:
    """The default: every published number of every trial."""
    source = generated_rows("bimodal", n=500, bits=4, seed=1)
    dataset = source.dataset()
    assert is_number(dataset.domain)
    problem = dpcore.Problem(domain=dataset.domain, queries=dpcore.Intervals(domain=dataset.domain), n=dataset.n)
    mechanism = dpcore.entry("identity").make(epsilon=1.0)
    release = mechanism.run(mechanism.prepare(dataset, problem), dpcore.Preview(3), 2)
    frame = Release.frame(release)
    np.testing.assert_array_equal(frame.pivot(index="trial", columns="place", values="outcome"), release.outcomes())


def test_reports_sweeps_and_transcripts_as_frames() -> None:
    dataset = generated_rows("bimodal", n=500, bits=4, seed=1).dataset()
    assert is_number(dataset.domain)
    problem = dpcore.Problem(domain=dataset.domain, queries=dpcore.Intervals(domain=dataset.domain), n=dataset.n)
    mechanism = dpcore.entry("identity").make(epsilon=1.0)
    report = finish(measure(mechanism, dataset, mechanism.prepare(dataset, problem), dpcore.Preview(3), trials=7))
    np.testing.assert_array_equal(report.frame()["worst"], report.worst)
    entries = [dpcore.entry("identity"), dpcore.entry("gaussian")]
    swept = finish(sweep(entries, dataset, problem, shared={"delta": 1e-6}, trials=5, epsilons=(0.5, 1.0)))
    row = swept.frame().set_index(["mechanism", "epsilon"]).loc[("gaussian", 0.5)]
    assert row["promised"] == swept.promised[1, 0] and row["worst_95%"] == swept.worst[1, 0, 2]
    assert row["mean_error_5%"] == swept.typical[1, 0, 0]
    asking = dpcore.entry("median").make(questions=5)
    transcript = asking.run(asking.prepare(dataset, problem), dpcore.Preview(3), 2)
    assert isinstance(transcript, Transcript)
    frame = transcript.frame()
    assert frame["turn"].tolist() == [0, 1, 2, 3, 4] * 2
    np.testing.assert_array_equal(frame["answer"].isna(), transcript.declined.ravel())
    np.testing.assert_array_equal(frame["query"], transcript.query_indices.ravel())


def executed(source: Any) -> dict[str, Any]:
    """Return the values of the names after a source's snippet."""
    names: dict[str, Any] = {}
    exec("\n".join(["import dpcore", *source.code()]), names)  # the page's promise is that this runs
    return names


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        generated_rows("bimodal", n=500, bits=9, seed=3),
        bundled("penguins", "bill_length_mm", bits=6),
        bundled("pets", "zip_code"),
        bundled("penguins", "bill_length_mm", "flipper_length_mm", bits=4),
        bundled("penguins", "species", "bill_length_mm", bits=4),
        generated_rows("clouds", n=500, bits=4, seed=3),
        generated_attributes(n=500, attributes=7, seed=3),
        generated_vectors(n=500, dimensions=5, margin=0.2, seed=3),
        yes_no_of("census"),
        survey_of("penguins"),
        survey_of("census", answers=True, chosen=("married", "female")),
        vectors_of("digits"),
    ],
    ids=lambda source: f"{source.origin.key}-{source.reading.title}",
)
def test_a_source_s_snippet_goes_through_a_frame(source: Source) -> None:
    names = executed(source)
    assert isinstance(names["df"], pd.DataFrame)
    np.testing.assert_array_equal(names["dataset"].records, source.dataset().records)
    assert names["dataset"].domain == source.domain


def parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


ARRIVALS: dict[str, tuple[bytes, bool | None]] = {
    "plain.csv": (b"a,b\n1,2\n,3\n5,x\n\n3,4\n", True),
    "quotes.csv": (b'a,b\n1, "2"\n"",3\n5,"x, ""y"""\n 3 ,4\n', True),
    "repeated.csv": (b"a,a,a,b\n1,9,9,2\n3,9,9,4\n", True),
    "semicolons.csv": (b"\n\na;b\n1,5;2\n3;4\n", True),
    "wide.csv": ("a,b\n1,2\n3,4\n".encode("utf-16"), True),
    "marked.csv": (b"\xef\xbb\xbfa,b\n1,2\n3,4\n", True),
    "nameless.csv": (b"1,2\n3,4\n", False),
    "tabs.tsv": (b"a\tb\n1\t2\n3\t4\n", True),
    "typed.parquet": (parquet(pd.DataFrame({"a": [1, None, 3], "b": [1.5, 2, np.inf]})), None),
    "renamed.parquet": (parquet(pd.DataFrame({"span": [[1], [2]], "<a>": [1, 2], "b": [3, 4]})), None),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", full_but(ARRIVALS, "quotes.csv", "nameless.csv", "typed.parquet"))
def test_an_upload_s_snippet_reads_the_reader_s_own_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents, header = ARRIVALS[name]
    (tmp_path / name).write_bytes(contents)
    monkeypatch.chdir(tmp_path)
    table = read_table(contents, name=name, header=header)
    first, last = table.columns[0], table.columns[-1]
    line = Number(high=8, bits=3, missing=True, clamp=False)
    origin = Uploaded(table=table, private=True, digest="0")
    predicates = (Predicate(column=first), Predicate(column=last, kind="below", value=3.0))
    measures = (Measure(column=first, low=0, high=8), Measure(column=last, low=0, high=8))
    coded = Coded(column=first, name="coded", labels=("few", "many"), cuts=(2,))
    sources = [
        own(table, last, on=line, private=True),
        own(table, first, on=Labels(labels=("1", "3")), private=True),
        own(table, last, first, on=Product.map(line, line), private=True),
        Source(origin=origin, reading=YesNo(predicates=predicates)),
        Source(origin=origin, reading=Vectors(measures=measures)),
        Source(origin=origin, reading=Several(attributes=(coded, *predicates))),
    ]
    for source in sources:
        dataset = executed(source)["dataset"]
        np.testing.assert_array_equal(dataset.records, source.dataset().records)
        assert dataset.provenance.is_private


@pytest.mark.slow
@pytest.mark.parametrize("contents", [b"a\n1\n\n3\n", b"\n\na\n1\n\n3\n\n", b"1\n\n3\n"])
def test_an_empty_line_of_one_column_is_a_row_in_the_snippet_too(
    contents: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.csv").write_bytes(contents)
    monkeypatch.chdir(tmp_path)
    table: Table = read_table(contents, name="one.csv", header=b"a" in contents)
    source = own(table, table.columns[0], on=Number(high=4, bits=2, missing=True), private=True, digest="0")
    assert executed(source)["dataset"].records.tolist() == source.dataset().records.tolist()
    assert source.dataset().n >= 3


@pytest.mark.parametrize("key", ["identity", "intervals-anchored"])
def test_a_recipe_s_snippet_ends_in_a_released_frame(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    source = generated_rows("bimodal", n=500, bits=4, seed=1)
    recipe = Recipe(source=source, queries="intervals", entry_key=key, values=(("epsilon", 1.0),), trials=20)
    names: dict[str, Any] = {}
    exec(recipe.code(), names)
    mechanism, dataset = recipe.mechanism(), source.dataset()
    release = mechanism.run(mechanism.prepare(dataset, recipe.problem(dataset)), dpcore.Preview(recipe.seed))
    pd.testing.assert_frame_equal(names["released"], release.frame())
    assert str(release.frame()) in capsys.readouterr().out
