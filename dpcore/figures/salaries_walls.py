"""Promise, observation and wall over epsilon: refusals of the stable median, and ranks of the exponential one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.core import Floats, Problem, exactly
from dpcore.figures.figure import Figure, Records, framed, palette, percent, shortened, significant
from dpcore.figures.salaries import EPSILONS, Comparison
from dpcore.figures.salaries_body import over_epsilon_body
from dpcore.limits.chance import binomial_interval
from dpcore.limits.rank import hard_data, rank_bound
from dpcore.limits.refusal import most_answers
from dpcore.mechanisms.exponential_median import ExponentialMedian, scores
from dpcore.mechanisms.stable_median import StableMedian, answer_chance, rank_errors
from dpcore.queries import Thresholds

CURVE = np.geomspace(EPSILONS[0], EPSILONS[-1], 81)
"""Losses at which promise and wall are drawn."""
BETA = 0.05
"""Failure chance of the promised rank: 95 in 100 answers are as near."""
HATCHES, SLANT = 60, 0.12
"""Lines of hatching across the picture, and how far they lean over."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A vertical axis from 0 to the top: equal steps, or equal factors from one unit on."""

    top: float
    unit: float | None = None

    def height(self, values: Floats) -> Floats:
        """How far up values lie, from 0 to 1."""
        if self.unit is None:
            return values / self.top
        heights: Floats = np.log1p(values / self.unit) / np.log1p(self.top / self.unit)
        return heights

    def value(self, heights: Floats) -> Floats:
        """The inverse of height()."""
        if self.unit is None:
            return heights * self.top
        values: Floats = self.unit * np.expm1(heights * np.log1p(self.top / self.unit))
        return values

    def spec(self) -> dict[str, Any]:
        """The same for the picture."""
        kind: dict[str, Any] = {} if self.unit is None else {"type": "symlog", "constant": self.unit}
        return kind | {"domain": [0, self.top], "nice": False}


def refusals_over_epsilon(*, found: Comparison, epsilon: float, badge: str, dark: bool) -> Figure:
    """The stable median's chance of a refusal: exact, observed, and the least anybody can have who is never wrong."""
    exact, least = np.empty_like(CURVE), np.empty_like(CURVE)
    for place, at in enumerate(CURVE.tolist()):
        threshold = StableMedian(epsilon=at, delta=found.delta).threshold
        exact[place] = 1 - float(answer_chance(found.stable, epsilon=at, threshold=threshold))
        least[place] = 1 - float(most_answers(found.stable, epsilon=at, delta=found.delta))
    low, high = binomial_interval(np.rint(found.refused[0] * found.trials), found.trials)
    return _over_epsilon(
        seen=(found.refused[0], low, high), promise=exact, wall=least, scale=Scale(top=1.0), epsilon=epsilon,
        badge=badge, dark=dark, title="Refusals", axis="runs without an answer",
        told=("refused", "exact chance", "impossible"),
        sentence=f"Only the stable median refuses. Its stability is {found.stable:,} here: it answers in 95 of 100 "
        f"runs {_from(CURVE[exact <= 0.05])}. Hatched is impossible for whoever never gives a wrong answer with "
        f"δ = {exactly(found.delta)}: the best that could be would do so {_from(CURVE[least <= 0.05])}.",
    )  # fmt: skip


def _from(losses: Floats) -> str:
    """From which loss on."""
    return f"from ε = {significant(float(losses[0]))} on" if len(losses) else "at no ε shown"


def ranks_over_epsilon(*, found: Comparison, epsilon: float, badge: str, dark: bool) -> Figure:
    """Rows between the exponential median and the true one: promised, observed, and what nobody can promise."""
    problem = Problem(domain=found.domain, queries=Thresholds(domain=found.domain), n=found.n)

    def known(at: float) -> tuple[float, float]:
        """What is promised and what nobody can promise."""
        mechanism = ExponentialMedian(epsilon=at)
        bound = rank_bound(problem, mechanism.guarantee(problem), beta=BETA)
        return mechanism.accuracy(problem, BETA).value, 0.0 if bound is None else bound.value

    promise, wall = np.array([known(at) for at in CURVE.tolist()]).T
    column = int(np.argmin(np.abs(np.log(np.array(EPSILONS) / epsilon))))
    promised, impossible = known(EPSILONS[column])
    seen, low, high = found.rank
    hard = np.array([hardest(problem, epsilon=at, wall=known(at)[1]) for at in EPSILONS])
    nobody = f"; nobody who always answers can promise less than {percent(impossible)} for all data (hatched)"
    alone = (
        " One data set may do better than anybody can promise for all: dots in the hatched part are no contradiction."
    )
    return _over_epsilon(
        seen=(seen, low, high), hard=hard, promise=promise, wall=wall,
        scale=Scale(top=1.05 * max(float(line.max()) for line in (promise, high, hard)), unit=1 / found.n),
        epsilon=epsilon, badge=badge, dark=dark, title="Rows between answer and median", axis="rows off, share of n",
        told=("95 in 100 runs", "promised", "impossible to promise"),
        sentence=f"Near ε = {EPSILONS[column]:g}, 95 in 100 exponential medians "
        f"{missed(float(seen[column]), problem.n)} (dots; strokes: 95% interval). On the hardest data known they "
        f"{missed(float(hard[column]), problem.n)} (diamonds). Promised: {percent(promised)}"
        f"{nobody if impossible else ''}.{alone if wall.any() else ''}",
    )  # fmt: skip


def missed(off: float, n: int) -> str:
    """How far answers lie from the median, as a share and as rows; none in between is its own cell."""
    if off <= 0:
        return "fall in the median's own cell"
    count = f"{off * n:,.0f}" if off * n >= 10 else f"{off * n:.3g}"
    return f"miss by up to {percent(off)} of the rows, {count} {'row' if count == '1' else 'rows'}"


def hardest(problem: Problem, *, epsilon: float, wall: float) -> float:
    """Share of the rows that 95 in 100 exponential medians are off by on the wall's own data: exact."""
    mechanism, cells, off = ExponentialMedian(epsilon=epsilon), problem.domain.ordered, []
    for place in (0, cells // 2):
        histogram = hard_data(place=place, moved=round(2 * problem.n * wall), n=problem.n, cells=cells)
        score = scores(histogram, domain=problem.domain, share=mechanism.share)
        law = np.exp(epsilon * (score - score.max()) / (2 * mechanism.sensitivity(problem.neighbours)))
        missed = rank_errors(histogram, np.arange(cells), domain=problem.domain)
        order = np.argsort(missed, kind="stable")
        enough = int(np.searchsorted(np.cumsum(law[order]) / law.sum(), 1 - BETA))
        off.append(float(missed[order][min(enough, cells - 1)]))
    return max(off)


def hatches_below(wall: Floats, scale: Scale) -> Records:
    """Slanted lines under a curve that nowhere rises: each leans to the right and so meets it once."""
    edges, levels, heights = np.log(CURVE), np.linspace(0, 1, 201), scale.height(wall)
    lines: Records = []
    for foot in np.arange(-SLANT, 1, 1 / HATCHES):
        along = foot + SLANT * levels
        at = edges[0] + (edges[-1] - edges[0]) * along
        inside = (along >= 0) & (along <= 1) & (levels <= np.interp(at, edges, heights))
        if inside.sum() > 1:
            ends = np.flatnonzero(inside)[[0, -1]]
            (left, right), (low, high) = shortened(np.exp(at[ends])), shortened(scale.value(levels[ends]))
            lines.append({"epsilon": left, "to": right, "y": low, "y2": high})
    return lines


def _over_epsilon(
    *,
    seen: tuple[Floats, Floats, Floats],
    hard: Floats | None = None,
    promise: Floats,
    wall: Floats,
    scale: Scale,
    epsilon: float,
    badge: str,
    dark: bool,
    title: str,
    axis: str,
    told: tuple[str, str, str],
    sentence: str,
) -> Figure:
    """Points with intervals (E,), points on hard data, a curve and a wall (CURVE,), a rule at the page's epsilon."""
    colours = palette(dark=dark)
    low_to_high = zip(EPSILONS, *(shortened(each) for each in seen), strict=True)
    along = shortened(CURVE)
    middle = int(np.argmax(scale.height(promise) <= 0.5))  # 0 if it never falls so far
    word = scale.height(wall)[len(CURVE) // 8] > 0.2  # room for it
    datasets: dict[str, Records] = {
        "seen": [
            {"epsilon": at, "y": share, "low": low, "high": high, "text": f"{told[0]}: {percent(share or 0.0)}"}
            for at, share, low, high in low_to_high
        ],
        "hard": [] if hard is None else [
            {"epsilon": at, "y": share, "text": percent(share or 0.0)}
            for at, share in zip(EPSILONS, shortened(hard), strict=True)
        ],
        "curves": [
            {"epsilon": at, "promise": promised, "wall": nobody}
            for at, promised, nobody in zip(along, shortened(promise), shortened(wall), strict=True)
        ],
        "hatches": hatches_below(wall, scale),
        "word": [{"epsilon": along[1], "y": 0.0}] if word else [],
        "label": [
            {"epsilon": along[middle or -1], "y": shortened(promise)[middle or -1],
             "side": "left" if middle else "right", "shift": 8 if middle else 0}
        ],
        "vacuous": [{"y": 1.0, "y2": scale.top}] if scale.top > 1 else [],
        "here": [{"epsilon": min(max(epsilon, EPSILONS[0]), EPSILONS[-1])}],
    }  # fmt: skip
    body = over_epsilon_body(
        colours, scale=scale.spec(), title=axis, promised=told[1], hatched=told[2], epsilons=EPSILONS
    )
    points = [int(np.argmin(np.abs(np.log(CURVE / at)))) for at in EPSILONS]
    exact = {} if hard is None else {f"{told[0]}, hard data": shortened(hard)}
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=280, datasets=datasets),
        sentence=sentence,
        table={
            "epsilon": list(EPSILONS), told[0]: shortened(seen[0]), "from": shortened(seen[1]),
            "to (95% confidence)": shortened(seen[2]), f"{told[1]}, near": shortened(promise[points]),
            "impossible below, near": shortened(wall[points]), **exact,
        },
        title=title,
    )  # fmt: skip
