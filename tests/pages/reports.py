"""Reports to draw: small data, all query classes, labels that attack."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore import Cells, Dataset, Intervals, Number, Preview, Problem, Provenance, ProvenanceKind, Thresholds, entry
from dpcore.core import Domain, Queries
from dpcore.data.columns import Labels
from dplab.measure import ErrorReport, finish, measure
from pages.charts.picture import Picture
from pages.charts.plotly import PlotlyFigure
from tests.pages.picture_checks import valid, whole

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
    (Intervals, Number(bits=10), np.random.Generator(np.random.SFC64(1)).integers(0, 1024, 3000).tolist()),
    (Thresholds, Number(low=-5, high=5, bits=3, missing=True), [0, 1, 1, 7, 8, 8]),
    (Thresholds, Number(bits=7), [5] * 100),
    (Cells, Number(bits=4, missing=True, clamp=False, unit="<b>"), [16, 16]),
    (Cells, Labels(labels=HOSTILE), [0, 1, 2, 3, 4, 5, 6, 7, 7]),
    (Intervals, Number(bits=1), [0]),
    (Cells, Labels(labels=("only",), missing=False), [0]),
    (Cells, Labels(labels=tuple(f"label {i}" for i in range(100))), list(range(100))),
]
NAMES = [f"{kind.key}, {domain.size} cells, {len(records)} rows" for kind, domain, records in SETTINGS]


def check(picture: Picture, *, dark: bool = False) -> PlotlyFigure:
    """What is drawn of a picture that is sound in every way."""
    return valid(whole(picture), badge=BADGE, dark=dark)
