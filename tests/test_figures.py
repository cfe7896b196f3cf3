"""Pictures as specifications: valid, small, true to their report, unmoved by hostile labels, painted in place."""

from __future__ import annotations

import json
from typing import Any

import altair
import numpy as np
import pytest

from dpcore import (
    Categories,
    Cells,
    Dataset,
    Intervals,
    Line,
    Preview,
    Problem,
    Provenance,
    ProvenanceKind,
    Thresholds,
    entry,
)
from dpcore.core import Domain, Queries
from dpcore.experiment import ErrorReport, finish, measure, sweep
from dpcore.figures.data import binned, histogram
from dpcore.figures.errors import error_band, worst_error
from dpcore.figures.figure import Figure
from dpcore.figures.tradeoff import tradeoff
from dpcore.mechanisms import serving

PUBLIC = Provenance(kind=ProvenanceKind.GENERATED, title="test")
BADGE = "true: generated · released: simulated, preview sampler, seed 1"
HOSTILE = ('");alert(1);("', "datum['x']", "{{7*7}}", "<script>alert(1)</script>", "a\\b\"c'd\n", "=1+1", "日本")


def reported(
    kind: type[Queries], domain: Domain, records: list[int], *, epsilon: float = 1.0, trials: int = 200
) -> tuple[Dataset, ErrorReport]:
    dataset = Dataset(domain, np.array(records), PUBLIC)
    problem = Problem(domain=domain, queries=kind(domain=domain), n=dataset.n)
    mechanism = entry("identity").make(epsilon=epsilon)
    state = mechanism.prepare(dataset, problem)
    return dataset, finish(measure(mechanism, dataset, state, Preview(3), trials=trials))


def figures(dataset: Dataset, report: ErrorReport, *, dark: bool) -> list[Figure]:
    entries = serving(report.problem.queries)
    shared = {"alpha": 0.5}
    curve = finish(sweep(entries, dataset, report.problem, shared=shared, trials=3, epsilons=(0.1, 1.0)))
    titles = {found.key: found.title for found in entries}
    return [
        histogram(
            problem=report.problem, truth=dataset.histogram, frames=report.frames, badge=BADGE, dark=dark, brush=True
        ),
        error_band(report=report, badge=BADGE, dark=dark),
        worst_error(report=report, bound_lower=None, badge=BADGE, dark=dark),
        tradeoff(
            sweep=curve, titles=titles, weaker={found.key: "" for found in entries}, chosen="identity", epsilon=1.0,
            alpha=0.1, badge=BADGE, dark=dark,
        ),
    ]  # fmt: skip


SETTINGS = [
    (Intervals, Line(bits=10), list(np.random.Generator(np.random.SFC64(1)).integers(0, 1024, 3000))),
    (Thresholds, Line(low=-5, high=5, bits=3, missing=True), [0, 1, 1, 7, 8, 8]),
    (Cells, Categories(labels=HOSTILE), [0, 1, 2, 3, 4, 5, 6, 7, 7]),
    (Intervals, Line(bits=1), [0]),
    (Cells, Categories(labels=tuple(f"label {i}" for i in range(100))), list(range(100))),
]


@pytest.mark.parametrize(("kind", "domain", "records"), SETTINGS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_picture_is_a_valid_small_specification(
    kind: type[Queries], domain: Domain, records: list[int], dark: bool
) -> None:
    dataset, report = reported(kind, domain, records)
    for figure in figures(dataset, report, dark=dark):
        altair.Chart.from_dict(figure.spec, validate=True)
        text = json.dumps(figure.spec, allow_nan=False, ensure_ascii=False)
        assert len(text) < 150_000
        assert BADGE in text and figure.sentence and figure.title != "Chart"
        columns = {len(column) for column in figure.table.values()}
        assert len(columns) == 1, "the table's columns have different lengths"


def expressions(spec: Any) -> list[str]:
    """Every place of a specification that Vega would run."""
    found = []
    if isinstance(spec, dict):
        for key, value in spec.items():
            if key in ("filter", "calculate", "expr", "test", "labelExpr", "format") and isinstance(value, str):
                found.append(value)
            if key != "datasets":
                found += expressions(value)
    elif isinstance(spec, list):
        for value in spec:
            found += expressions(value)
    return found


def test_labels_are_data_and_never_run() -> None:
    dataset, report = reported(Cells, Categories(labels=HOSTILE), [0, 1, 2, 3, 4, 5, 6, 7])
    for figure in figures(dataset, report, dark=False):
        body = json.dumps({key: value for key, value in figure.spec.items() if key != "datasets"})
        for label in HOSTILE:
            assert json.dumps(label)[1:-1] not in body
            assert all(label not in run for run in expressions(figure.spec))


def test_moving_epsilon_changes_only_the_data_sets() -> None:
    bodies = []
    for epsilon in (0.2, 1.0, 5.0):
        dataset, report = reported(*SETTINGS[0], epsilon=epsilon)
        shown = figures(dataset, report, dark=False)[:3]
        bodies.append([{key: value for key, value in figure.spec.items() if key != "datasets"} for figure in shown])
    assert bodies[0] == bodies[1] == bodies[2]


def test_bars_add_up_to_the_rows_and_keep_the_missing_apart() -> None:
    domain = Line(bits=10, missing=True)
    records = np.random.Generator(np.random.SFC64(2)).integers(0, 1025, 5000)
    counts = np.bincount(records, minlength=1025)[None, :].astype(float)
    bars = binned(counts, domain)[0]
    assert bars.sum() == 5000 and bars[-1] == counts[0, -1] and len(bars) == 65


def test_sentences_say_the_report_s_numbers() -> None:
    dataset, report = reported(*SETTINGS[0])
    band, worst = figures(dataset, report, dark=False)[1:3]
    assert f"{100 * np.quantile(report.answered, 0.84):.3g}%" in worst.sentence
    assert f"{report.failures:,} of {len(report.answered):,}" in worst.sentence
    assert f"{100 * np.abs(report.band[[0, -1]]).max():.3g}%" in band.sentence


def test_refusing_every_time_is_a_picture_too() -> None:
    dataset, report = reported(*SETTINGS[0], trials=5)
    refused = np.ones(5, dtype=bool)
    nothing = np.full(5, np.nan)
    report = ErrorReport(
        **{
            **{name: getattr(report, name) for name in report.__dataclass_fields__},
            "refused": refused,
            "worst": nothing,
            "typical": nothing,
            "frames": np.full((5, 1024), np.nan),
        }
    )
    for figure in (
        histogram(problem=report.problem, truth=dataset.histogram, frames=report.frames, badge=BADGE, dark=False),
        error_band(report=report, badge=BADGE, dark=False),
        worst_error(report=report, bound_lower=None, badge=BADGE, dark=False),
    ):
        altair.Chart.from_dict(figure.spec, validate=True)
        json.dumps(figure.spec, allow_nan=False)
        assert "refuse" in figure.sentence
