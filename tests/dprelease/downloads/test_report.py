"""The report: standalone, complete, escaped, and of what was released alone."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Neighbours
from dpcore.data.columns import Labels, Number
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Coded, Columns, Several
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import Cells, Thresholds
from dprelease.certificate import certificate, verify
from dprelease.downloads import REPORT, downloads_of, zip_files
from dprelease.downloads.report import MAX_BARS, report
from dprelease.downloads.statistics import released_statistics
from dprelease.ledger.records import Stored
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.release import SAW_TRUE_VALUES, release
from dprelease.requests.parts import Request
from pages.release.figure import released_counts
from tests.kit.ledgers import (
    ANALYST,
    NOMINAL,
    STEWARD,
    few_rows,
    plan_of,
    registered,
    released_in,
    request_of,
    stored_release,
)
from tests.kit.sources import csv_of

VOID = {"meta"}
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "h4", "p", "table", "tr", "td", "th", "div"),
    "code",
}


class Page(HTMLParser):
    """Checks that tags are known, closed in order and lead nowhere, and keeps what is read."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """See HTMLParser."""
        assert tag in ALLOWED
        names = {name for name, _ in attrs}
        assert not names & {"src", "href", "srcset", "action"} and not any(name.startswith("on") for name in names)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """See HTMLParser."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """See HTMLParser."""
        if not self.open or self.open[-1] != "style":
            self.texts.append(data)

    @property
    def words(self) -> str:
        """All that is read."""
        return " ".join(self.texts)


def page(stored: Any) -> Page:
    """The report of a release."""
    assert isinstance(stored, Stored)
    assert report(stored) == report(stored) == downloads_of(stored)[REPORT]
    return Page(report(stored).decode())


def released(folder: Path, asked: Any, **changed: Any) -> Stored:
    """A release of few rows."""
    ledger, dataset_id = registered(folder, **changed)
    return stored_release(ledger, dataset_id, asked, changed.get("rows") or few_rows())


def test_it_says_what_of_whom_under_which_promise_and_how_wrong(tmp_path: Path) -> None:
    words = page(released(tmp_path, request_of(epsilon=1.5, n=3000), public_n=3000)).words
    for told in (
        "Releases from “ages”",
        "Each row in it is protected, as the data owner stated.",
        "ε = 1.5 and δ = 0",
        "at most 4.49 times as likely",  # e^1.5
        "The budget is ε = 2",
        "A person with several rows is protected less.",
        "Intervals: rows between a and b. Mechanism: Identity histogram.",
        "With confidence 95%, no interval has an error above",
        "0 to 5",
        "run.py verify certificate.json counts.csv",
        "Randomness the operating system's random numbers, by exact samplers",
    ):
        assert told in words, told
    assert "number of rows" not in words and "owner saw" not in words
    assert not {STEWARD.name, ANALYST.name} & {*re.findall(r"\w+", words)}, "accounts of the machine"


def test_a_plan_has_a_section_and_a_picture_for_each_question(tmp_path: Path) -> None:
    stored = released(tmp_path, plan_of(pure=False).request(), delta=1e-6)
    text, words = report(stored).decode(), page(stored).words
    assert text.count("<h3>") == 2 and text.count('class="bar') == 8
    assert "plus a probability of 0.0000001" in words and "Privacy budget of this statistic: ε = 0.25" in words
    for name in stored.files:
        for row in csv.DictReader(io.StringIO(stored.files[name].decode())):
            assert f'<td class="n">{float(row["rows"]):,.6g}</td>' in text


def test_a_planned_median_is_told_with_its_interval_beside_the_counts_that_it_follows_from(
    tmp_path: Path,
) -> None:
    planned: dict[str, Any] = {"columns": ("age",), "statistic": "quantiles", "quantiles": (0.5,), "epsilon": 1.0}
    question = PlannedQuestion(queries="group-quantiles", entry_key="group-quantiles", **planned)
    request = replace(plan_of(), questions=(question,)).request()
    stored = released(tmp_path, request)
    median, _ = released_statistics(request.parts[0], stored.files["quantiles.csv"])
    assert "<h3>Median of age</h3>" in report(stored).decode() and median.title == "Median of age"
    assert "The file answers.csv has the estimated number of rows in each cell of each group." in page(stored).words


def test_a_mean_is_told_with_the_interval_of_its_card(tmp_path: Path) -> None:
    stored = released(tmp_path, request_of(key="counted-mean", queries=Thresholds(domain=Number(high=20.0, bits=2))))
    [mean] = released_statistics(Request.of(stored.body["request"]).parts[0], stored.files["value.csv"])
    assert mean.sentence.startswith("Mean of age: ") and f"{mean.sentence}. They cover the noise" in page(stored).words


def test_persons_a_public_n_previews_and_what_the_steward_saw_are_told(tmp_path: Path) -> None:
    stored = released(
        tmp_path / "1", plan_of(person="person", rows=3).request(), person_column="person", rows_a_person=3
    )
    assert "At most 3 rows of each person counted" in page(stored).words
    assert "in which any one person is not in the table" in page(stored).words
    settings: dict[str, Any] = {"neighbours": Neighbours.REPLACE_ONE, "n": 20}
    ledger, dataset_id = registered(tmp_path / "2", neighbours=Neighbours.REPLACE_ONE, public_n=20)
    release(ledger, dataset_id, request_of(**settings), few_rows(), ANALYST)
    ledger.record_access(dataset_id, SAW_TRUE_VALUES, STEWARD)
    words = page(release(ledger, dataset_id, request_of(draw=2, **settings), few_rows(), ANALYST)).words
    for told in ("Not protected, because it is public: number of rows: 20", "in which any one row has other values"):
        assert told in words
    assert "The data owner saw true values" in words
    assert "other charged release of these data was not published at the time of this release." in words


def test_a_net_is_not_said_to_have_noise(tmp_path: Path) -> None:
    """A net is chosen at random: nothing is added to it."""
    words = page(released(tmp_path, request_of(key="net", values={"epsilon": 1.0}))).words
    assert "Mechanism: " in words and "Randomness" in words and "Noise" not in words


def test_a_refusal_and_a_single_value_are_told(tmp_path: Path) -> None:
    domain = Number(high=20.0, bits=2)
    for place, (key, values, said) in enumerate(
        [
            ("stable_median", {"epsilon": 0.01, "delta": 1e-12}, "gave no answer"),
            (
                "exponential_median",
                {"epsilon": 20.0},
                "Released: the cell “10 to 15”. It is one of 4 cells that numbers are rounded to.",
            ),
        ]
    ):
        request = request_of(key=key, values=values, queries=Thresholds(domain=domain))
        rows = few_rows((12.0,) * 30) if place else few_rows()
        assert said in page(released(tmp_path / str(place), request, epsilon=20.0, delta=1e-6, rows=rows)).words


def test_many_cells_are_added_up_to_few_bars(tmp_path: Path) -> None:
    domain = Number(high=20.0, bins=300)
    request = request_of(epsilon=2.0, reading=Columns(names=("age",), on=domain), queries=Cells(domain=domain))
    stored = released(tmp_path, request)
    text = report(stored).decode()
    assert text.count('class="bar') == 300 // (-(-300 // MAX_BARS)) + 1 <= MAX_BARS
    numbers = [float(row["rows"]) for row in csv.DictReader(io.StringIO(stored.files["counts.csv"].decode()))]
    size = -(-300 // MAX_BARS)
    for start in range(0, 300, size):
        assert f'<td class="n">{sum(numbers[start : start + size]):,.6g}</td>' in text
    assert "Adjacent lines are added up" in page(stored).words


HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;</td></table>"


def test_hostile_names_and_labels_are_only_read(tmp_path: Path) -> None:
    label = f"cook {HOSTILE}"
    rows = read_table(csv_of([["job"], *[[label]] * 30]), name="x.csv", header=True)
    domain = Labels(labels=(label, "nurse"))
    request = request_of(reading=Columns(names=("job",), on=domain), queries=Cells(domain=domain))
    stored = released(tmp_path, request, rows=rows, name=f"jobs {HOSTILE}")
    body: dict[str, Any] = json.loads(json.dumps(stored.body))
    body["request"]["parts"][0]["reading"]["names"] = [HOSTILE]
    hostile = replace(stored, body=body)
    text, read = report(hostile).decode(), page(hostile)
    assert "<script" not in text and "<img" not in text
    assert sum(told.count(HOSTILE) for told in read.texts) >= 4
    assert label in read.words and f"jobs {HOSTILE}" in read.words


def test_no_label_turns_or_hides_what_stands_beside_it(tmp_path: Path) -> None:
    labels = ("\u202eεvil", "a\rb", "\x1b[31m", "\u2066x", "\x00", "می\u200cخواهم")
    domain = Labels(labels=labels)
    rows = read_table(b"job\nx\ny\n", name="jobs.csv", header=True)
    reading = Columns(names=("job",), on=domain)
    words = page(released(tmp_path, request_of(reading=reading, queries=Cells(domain=domain)), rows=rows)).words
    assert all(f"\ufffd{rest}" in words for rest in ("εvil", "b", "[31m", "x")) and labels[-1] in words
    assert not [each for each in words if not each.isprintable() and each not in "\n\u200c"]


@pytest.mark.parametrize("name", ["value", "first", "place", "cell", "share", "outcome", "refused", "rows", "age"])
def test_tables_are_told_whatever_their_columns_are_called(tmp_path: Path, name: str) -> None:
    """A column of the data may have the name of one that this program writes; its release holds together as any."""
    attributes = (Coded(column="age", name=name, labels=("1", "2")), Coded(column="person", name="p", labels=("7",)))
    reading = Several(attributes=attributes)
    request = request_of(
        reading=reading, queries=Marginals(domain=reading.domain, ways=2), key="residual-planner",
        values={"epsilon": 1.0},
    )  # fmt: skip
    rows = read_table(b"age,person\n" + b"1,7\n2,8\n" * 10, name="x.csv", header=True)
    stored = released(tmp_path, request, rows=rows, delta=1e-3)
    words = page(stored).words
    assert verify(certificate(stored), stored.files) == []
    assert f"{name} × p" in words and all(label in words for label in ("1 × 7", "2 × 7", "2 × any other value"))
    (contents,) = stored.files.values()
    assert released_counts(pd.read_csv(io.BytesIO(contents))) is None, "two columns are no bars of one"


def test_no_true_value_and_no_secret_is_in_the_zip(tmp_path: Path) -> None:
    count, secret = 7919, "s3cr3t"  # rows: no other number here has these digits
    coins = np.random.Generator(np.random.PCG64(8))
    ages = coins.integers(0, 20, count)
    text = "age,name\n" + "\n".join(f"{age},{secret}{place}" for place, age in enumerate(ages))
    rows = read_table(text.encode(), name=f"{secret}.csv", header=True)
    stored = released(tmp_path, request_of(), rows=rows)
    counts = np.bincount(ages // 5, minlength=4)
    lines = csv.DictReader(io.StringIO(stored.files["counts.csv"].decode()))
    noisy = {row[name].removesuffix(".0") for row in lines for name in ("rows", "rows low", "rows high")}
    whole = b"".join(downloads_of(stored).values())
    packed = re.sub(rb"[0-9a-f]{32,}", b"", whole)  # digests and salts: any four digits stand in one of them sometimes
    assert len(packed) > len(whole) / 2
    for told in (secret, str(count), f"{count:,}", *(str(each) for each in counts if str(each) not in noisy)):
        assert told.encode() not in packed
    assert str(NOMINAL).encode() in packed, "the search finds what is there"
    assert secret.encode() not in zip_files(downloads_of(stored))


def test_a_factor_that_protects_nobody_is_not_printed(tmp_path: Path) -> None:
    nobody = "possibly far more likely, which is no protection"
    for epsilon, words in ((13.8, "at most 985000 times as likely"), (14.0, nobody)):
        stored = released_in(tmp_path / str(epsilon), request_of(epsilon=epsilon), epsilon=100.0)
        assert f"Every set of results is then {words}" in " ".join(report(stored).decode().split())


def test_numbers_below_0_are_left_as_they_were_drawn_and_said_to_be(tmp_path: Path) -> None:
    told = "Numbers below 0 are not changed."
    seen: set[bool] = set()
    for place in range(40):  # two in three have one: 40 without any would be a fault
        if True in seen and place > 2:
            break
        epsilon = 2.0 if place == 2 else 0.05
        stored = released(tmp_path / str(place), request_of(epsilon=epsilon))
        numbers = [float(row["rows"]) for row in csv.DictReader(io.StringIO(stored.files["counts.csv"].decode()))]
        below = [each for each in numbers if each < 0]
        assert (told in page(stored).words) == bool(below)
        assert all(f'<td class="n">{each:,.6g}</td>' in report(stored).decode() for each in below)
        seen.add(bool(below))
    assert True in seen
