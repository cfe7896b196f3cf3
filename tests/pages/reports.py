"""Reports to draw: small data, all query classes, labels that attack."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpcore import Cells, Dataset, Intervals, Line, Preview, Problem, Provenance, ProvenanceKind, Thresholds, entry
from dpcore.core import Domain, Queries
from dpcore.data.domains import Categories
from dpcore.experiments.measure import ErrorReport, finish, measure
from pages.charts.picture import Picture
from pages.charts.plotly import Drawn, render

PUBLIC = Provenance(kind=ProvenanceKind.GENERATED, title="test")
BADGE = "true: generated · released: simulated, preview sampler, seed 1"
HOSTILE = (
    '");alert(1);("', "datum['x']", "{{7*7}}", "<script>alert(1)</script>", "a\\b\"c'd\n", "=1+1", "日本", "]]",
    "%{x}", "__proto__", "x" * 500, "x" * 501, "", "3 others", "\u202eabc",
)  # fmt: skip


def reported(
    kind: type[Queries], domain: Domain, records: list[int], *, epsilon: float = 1.0, trials: int = 200
) -> tuple[Dataset, ErrorReport]:
    """Some rows, and the errors of releases of their histogram."""
    dataset = Dataset(domain, np.array(records), PUBLIC)
    problem = Problem(domain=domain, queries=kind(domain=domain), n=dataset.n)
    mechanism = entry("identity").make(epsilon=epsilon)
    state = mechanism.prepare(dataset, problem)
    return dataset, finish(measure(mechanism, dataset, state, Preview(3), trials=trials))


SETTINGS: list[tuple[Any, Domain, list[int]]] = [
    (Intervals, Line(bits=10), np.random.Generator(np.random.SFC64(1)).integers(0, 1024, 3000).tolist()),
    (Thresholds, Line(low=-5, high=5, bits=3, missing=True), [0, 1, 1, 7, 8, 8]),
    (Thresholds, Line(bits=7), [5] * 100),
    (Cells, Line(bits=4, missing=True, clamp=False, unit="<b>"), [16, 16]),
    (Cells, Categories(labels=HOSTILE), [0, 1, 2, 3, 4, 5, 6, 7, 7]),
    (Intervals, Line(bits=1), [0]),
    (Cells, Categories(labels=("only",), missing=False), [0]),
    (Cells, Categories(labels=tuple(f"label {i}" for i in range(100))), list(range(100))),
]
NAMES = [f"{kind.key}, {domain.size} cells, {len(records)} rows" for kind, domain, records in SETTINGS]


def check(picture: Picture, *, dark: bool = False) -> Drawn:
    """Valid for Plotly, with a sentence and a table that has as many of each; gives what is drawn."""
    drawn = render(picture, badge=BADGE, dark=dark)
    layout = {name: value for name, value in drawn.layout.items() if name != "uirevision"}
    go.Figure(data=drawn.data, layout=layout)  # raises where a name or a value is not Plotly's
    for frame in drawn.frames:
        assert len(frame["traces"]) == len(frame["data"])
    sentences = [picture.sentence, *(frame.sentence for frame in picture.frames)]
    assert all(sentence.endswith(".") and "nan" not in sentence for sentence in sentences)
    assert len({len(column) for column in picture.table.values()}) == 1
    assert len(picture.frame()) == len(next(iter(picture.table.values())))
    assert "<script" not in json.dumps([drawn.data, drawn.layout], allow_nan=False)
    return drawn
