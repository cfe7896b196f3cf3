"""Shares of a chosen label: what is counted, what plan, request, report and certificate say, and the mirror image."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.core import ParameterError, Provenance, ProvenanceKind
from dpcore.data.columns import LabelAndRest, Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.frames import read_frame
from dpcore.mechanisms.grouped.release import GroupRelease, GroupState
from dpcore.queries.groups import GroupStatistics
from dplab.intervals.groups import group_interval
from dplab.intervals.released import noise_law
from dprelease.certificate import certificate, verify
from dprelease.downloads import downloads_of
from dprelease.downloads.statistics import released_statistics
from dprelease.engines.embedded import Embedded
from dprelease.engines.tables import open_table
from dprelease.plan.group_lines import read_group_line
from dprelease.plan.planned_question import (
    PlannedQuestion,
    group_question,
    place_of_complement,
    questions_of_lines,
    shared,
)
from dprelease.plan.predicates import read_lines
from dprelease.plan.questions import Plan
from dprelease.plan.released_part import plan_of_part, released_dictionary
from dprelease.plan.titles import part_title, question_title
from tests.kit.ledgers import released_in

SMOKER, REGION = Labels(yes_no=True), Labels(labels=("N", "S", "E"))
TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="region", on=REGION),
        DeclaredColumn(name="sex", on=Labels(labels=("F", "M"), missing=False)),
        DeclaredColumn(name="smoker", on=SMOKER),
        DeclaredColumn(name="age", on=Number(high=100, bins=10)),
    )
)
ROWS = pd.DataFrame(
    {
        "region": ["N", "S", "E", "S", "", "W"] * 100,
        "sex": ["F", "M", "M", "F", "F", "M"] * 100,
        "smoker": ["no", "no", "yes", "no", "", "yes"] * 100,
    }
)


def share(column: str, label: str, *by: str) -> PlannedQuestion:
    return replace(group_question("share", (column,), by, epsilon=0.5), label=label)


def plan(*questions: PlannedQuestion) -> Plan:
    return Plan(table=TABLE, n=600, questions=questions)


def counts(question: PlannedQuestion) -> dict[str, list[int]]:
    """The counters (rest, label) of the groups by sex; rows without a declared label are in none."""
    planned = plan(question)
    rows = planned.reading(question).from_frame(ROWS)
    state = planned.mechanism(question).prepare(rows, planned.problem(question))
    assert isinstance(state, GroupState)
    return dict(zip("FM", state.counters.tolist(), strict=True))


def test_the_rows_with_the_label_are_counted_against_the_other_declared_labels() -> None:
    assert counts(share("smoker", "no", "sex")) == {"F": [0, 200], "M": [200, 100]}
    assert counts(share("smoker", "", "sex")) == {"F": [200, 0], "M": [100, 200]}
    assert counts(share("region", "S", "sex")) == {"F": [100, 100], "M": [100, 100]}
    assert counts(share("region", "E", "sex")) == {"F": [200, 0], "M": [100, 100]}


def test_without_a_cell_for_anything_else_such_values_are_with_the_first_label_as_declared() -> None:
    for label, other in (("F", 1), ("M", 0)):
        domain = LabelAndRest(labels=("F", "M"), missing=False, label=label)
        cells = domain.encode(np.array([0, 1, 2, -1]))
        assert cells.tolist() == [int(label == "F"), int(label == "M"), other, other] and domain.size == 2
    assert LabelAndRest(labels=("F", "M"), label="F").encode(np.array([0, 1, 2])).tolist() == [1, 0, 2]


def test_the_second_of_two_labels_is_the_column_as_it_was() -> None:
    """So its request keeps its digest, however the label is named."""
    assert plan(share("sex", "M", "region")).request().digest == plan(share("sex", "", "region")).request().digest
    assert plan(share("sex", "F", "region")).request().digest != plan(share("sex", "", "region")).request().digest


def test_the_share_of_the_other_label_is_the_mirror_image_with_its_interval() -> None:
    """Of the same counters: 1 minus the share, and the ends of the interval exchanged."""
    found = {}
    for label in ("no", ""):
        question = share("smoker", label, "sex")
        planned = plan(question)
        problem, mechanism = planned.problem(question), planned.mechanism(question)
        noisy = np.array([[[3, 200], [190, 95]]])
        drawn = GroupRelease(
            problem=problem, guarantee=mechanism.guarantee(problem), sampler="", refused=np.zeros(1, dtype=np.bool_),
            counters=noisy if label else noisy[:, :, ::-1],
        )  # fmt: skip
        interval = group_interval(drawn, noise_law(mechanism, problem), "proportion", level=0.95)
        found[label] = drawn.statistics()["proportion"], interval.low, interval.high
    (first, low, high), (second, other_low, other_high) = found.values()
    np.testing.assert_allclose(first, 1 - second, rtol=1e-12)
    np.testing.assert_allclose(low, 1 - other_high, atol=1e-9)
    np.testing.assert_allclose(high, 1 - other_low, atol=1e-9)
    assert (low < first).all() and (first < high).all() and (first > 0.5).tolist() != (second > 0.5).tolist()


@pytest.mark.parametrize(("column", "label"), [("smoker", "no"), ("region", "S"), ("sex", "F")])
def test_plan_request_and_lines_agree(column: str, label: str) -> None:
    question = share(column, label, "age")
    planned = plan(question)
    assert json.loads(planned.text)["questions"][0]["label"] == label
    assert Plan.read(planned.text) == planned
    title = question_title(TABLE, question)
    assert title == f"Share with {column} = {label} by age"
    [pasted] = questions_of_lines(read_lines(title, TABLE), epsilon=0.5)
    assert pasted == question
    request = planned.request()
    assert part_title(request, request.parts[0]) == title
    again = plan_of_part(request, request.parts[0], name="proportion")
    assert again is not None and again.questions[0].label == label
    assert again.request().parts[0].document == request.parts[0].document


def test_a_plan_s_file_with_a_wrong_label_is_refused() -> None:
    for question, words in (
        (share("smoker", "perhaps", "sex"), "one of the declared labels"),
        (share("age", "3", "sex"), "one of the declared labels"),
        (share("region", "", "sex"), "a share is of one label"),
    ):
        with pytest.raises(ParameterError, match=f"(?i){words}"):
            plan(question)
    for settings, words in (({"label": 3}, "must be a string"), ({"statistic": "mean"}, "Only a share is of a label")):
        document = json.loads(plan(share("smoker", "no", "sex")).text)
        document["questions"][0] |= settings
        with pytest.raises(ParameterError, match=words):
            Plan.read(json.dumps(document))
    with pytest.raises(ParameterError, match="a cell for each label"):
        DeclaredColumn(name="sex", on=LabelAndRest(labels=("F", "M"), label="F"))
    for labels in (("F",), ("M", "X")):
        with pytest.raises(ParameterError, match="one of several declared labels"):
            LabelAndRest(labels=labels, label="F")


def test_shares_of_different_labels_share_no_draw_and_the_other_of_two_needs_none() -> None:
    no, yes = share("smoker", "no", "sex"), share("smoker", "", "sex")
    assert shared(no, yes, TABLE) is None and shared(no, no, TABLE) == no
    assert place_of_complement([share("sex", "F", "region"), yes], no, TABLE) == 2
    assert place_of_complement([no], yes, TABLE) == 1 and place_of_complement([no], no, TABLE) == 0
    assert place_of_complement([share("region", "S", "sex")], share("region", "N", "sex"), TABLE) == 0
    assert place_of_complement([yes], share("smoker", "no", "region"), TABLE) == 0
    people = group_question("people", (), ("age",), epsilon=0.5)
    both = shared(share("sex", "F", "age"), people, TABLE)
    assert both is not None and both.label == "F" and both.also == ("people",)
    assert question_title(TABLE, both) == "Share with sex = F, people by age"


def test_a_release_says_the_label_everywhere_and_is_verified(tmp_path: Path) -> None:
    questions = (share("smoker", "no", "sex"), share("region", "S", "sex"))
    table = read_frame(ROWS)
    stored = released_in(tmp_path, plan(*questions).request(), rows=table, public_n=600)
    assert verify(certificate(stored), stored.files) == []
    truth = {"smoker = no": (1.0, 1 / 3), "region = S": (0.5, 0.5)}
    for part, document, (words, shares) in zip(
        plan(*questions).request().parts, stored.body["parts"], truth.items(), strict=True
    ):
        [found, *_] = released_statistics(part, stored.files[document["files"][0]])
        assert found.title == f"Share with {words} by sex" and found.low is not None and found.high is not None
        assert ((found.low <= found.values) & (found.values <= found.high)).all()
        assert (np.abs(found.values / 100 - shares) < 0.15).all(), "ten standard deviations"
    report = next(text for name, text in downloads_of(stored).items() if name.endswith("report.html")).decode()
    assert "Share with smoker = no" in report and "Share with region = S" in report
    described = released_dictionary([stored], max_labels=50)
    assert {each.name: each.labels for each in described.columns} == {
        "sex": ("F", "M"), "smoker": (), "region": ("N", "S", "E"),
    }  # fmt: skip


def test_an_engine_s_snapshot_counts_the_same(tmp_path: Path) -> None:
    ROWS.to_parquet(tmp_path / "rows.parquet", index=False)
    table = open_table(Embedded(path=tmp_path), name="rows")
    declared = DeclaredTable(columns=TABLE.columns[:3])
    snapshot = table.snapshot(replace(declared, columns=declared.columns[:2]))
    provenance = Provenance(kind=ProvenanceKind.STAND_IN, title="rows")
    question = share("region", "S", "sex")
    planned = Plan(table=declared, n=600, questions=(question,))
    for counted in (table, snapshot):
        rows = planned.reading(question).dataset(counted, provenance)
        state = planned.mechanism(question).prepare(rows, planned.problem(question))
        assert dict(zip("FM", state.counters.tolist(), strict=True)) == {"F": [100, 100], "M": [100, 100]}


def test_a_line_of_a_share_is_a_question_with_its_label() -> None:
    line = read_group_line("share of smoker is No by sex", TABLE)
    assert line is not None and line.label == "no"
    queries = plan(share("smoker", "no", "sex")).problem(share("smoker", "no", "sex")).queries
    assert isinstance(queries, GroupStatistics) and queries.domain.columns[1].describe(1) == "no"


def test_an_empty_label_has_no_share() -> None:
    """It would be taken for a column without one: `label_of_share` is empty there."""
    with pytest.raises(ParameterError, match="one of several declared labels"):
        LabelAndRest(labels=("", "F"), label="")
