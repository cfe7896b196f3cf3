"""The Robust answers page: the chance of an answer, what one person moves, what came out, and real salaries."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import streamlit as st

from dpcore.core import Dataset, Guarantee, Neighbours, Problem
from dpcore.domains import Line
from dpcore.figures.figure import Figure, percent
from dpcore.figures.outcomes import answers, in_100, nearly, outcomes
from dpcore.figures.robust import Mark, Seen, Wall, chance_curve, places
from dpcore.limits.chance import binomial_interval
from dpcore.limits.refusal import most_answers, most_right
from dpcore.mechanisms import entry
from dpcore.mechanisms.exponential_median import ExponentialMedian
from dpcore.mechanisms.stable_median import StableMedian, answer_chance, rank, stability
from dpcore.mechanisms.subsample_aggregate import SubsampleAggregate
from dpcore.mechanisms.unbounded_mean import UnboundedMean
from dpcore.randomness import Preview
from pages.ui.charts import draw, hide_toolbars, is_dark, numbers
from pages.ui.robust_controls import Asked, ask
from pages.ui.robust_mean import mean_without_bounds
from pages.ui.robust_salaries import real_salaries
from pages.ui.robust_subsamples import subsamples
from pages.ui.session import is_steward, remembered

TRIALS = 1000


def robust() -> None:
    """Read the controls, then show what they do."""
    st.markdown(
        "Some answers no few people could move: those may be given **exactly**. For all other data the mechanism gives "
        "**no answer at all**. A refusal is an outcome like any other, and what it gives away is bounded too."
    )
    asked = ask()
    if asked.source.provenance.is_private and not is_steward():
        st.info(
            "These data are private. Their stability would reveal them, so nothing is computed here. Preview on a "
            "public stand-in or on generated data of the same size, or, if you are their steward, say so above."
        )
    else:
        if asked.source.provenance.is_private:
            hide_toolbars()
        dataset = remembered(f"dataset|{asked.source.key}", asked.source.dataset)
        problem = asked.problem(dataset.n)
        mechanism, trials = asked.entry.make(**asked.values), TRIALS
        if isinstance(mechanism, StableMedian):
            _stable(asked, mechanism, dataset, problem)
        elif isinstance(mechanism, SubsampleAggregate):
            trials = subsamples(asked, mechanism, dataset, problem)
        elif isinstance(mechanism, UnboundedMean):
            mean_without_bounds(asked, mechanism, dataset, problem)
        _code(asked, trials=trials)
    real_salaries(epsilon=float(asked.values["epsilon"]), seed=asked.seed)


def privacy(guarantee: Guarantee, *, text: str) -> None:
    """The guarantee, printed exactly."""
    st.markdown(f"Privacy: {guarantee.sentence()}, for each single answer. {text} :orange-badge[theory]")


def _stable(asked: Asked, mechanism: StableMedian, dataset: Dataset, problem: Problem) -> None:
    """The stable quantile."""
    domain, dark = problem.domain, is_dark()
    cell, stable = stability(
        dataset.histogram, domain=domain, quantile=mechanism.quantile, neighbours=problem.neighbours
    )
    epsilon, threshold = mechanism.epsilon, mechanism.threshold

    def chance(rows: int) -> float:
        return float(answer_chance(rows, epsilon=epsilon, threshold=threshold))

    guarantee = mechanism.guarantee(problem)
    what = "median" if mechanism.quantile == 0.5 else f"{mechanism.quantile:g}-quantile"
    refusing = in_100(1 - chance(stable))
    st.header(f"{refusing[0].upper()}{refusing[1:]} runs refuse")
    st.markdown(
        f"**{stable:,}** of {dataset.n:,} rows would have to change before the {what} "
        f"({domain.describe(cell)}) is another one; an answer needs about **{threshold:,}**, noise included. "
        f":gray-badge[true]\n\nWith a stability of **{mechanism.stability_needed(0.05):,}** or more, 95 in 100 runs "
        "answer. More rows, a coarser grid, a larger ε or a larger δ bring it nearer."
    )
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(asked.seed), TRIALS)
    left, right = st.columns(2)
    with left:
        st.subheader("The chance of an answer")
        figure = _stability_curve(
            asked, chance, stable=stable, mechanism=mechanism, problem=problem,
            answered=int((~release.refused).sum()), dark=dark,
        )  # fmt: skip
        draw(figure, key="robust_chance_chart")
        numbers(figure, title="chance of an answer", key="robust_chance_numbers")
    with right:
        st.subheader("What came out")
        drawn = outcomes(refused=float(release.refused.mean()), wrong=0.0, badge=asked.badge(), dark=dark)
        draw(drawn, key="robust_outcomes_chart")
        numbers(drawn, title="outcomes", key="robust_outcomes_numbers")
    left, right = st.columns(2)
    with left:
        st.subheader("When one person changes")
        st.markdown(_neighbours_table(chance, stable=stable))
        privacy(
            guarantee,
            text="δ is exact: it is the chance of an answer at the edge, where one person could change it, and no "
            "smaller number would do.",
        )
    with right:
        st.subheader("Where an answer would have been wrong")
        st.markdown("An answer of the stable median never is. One that must always answer may err instead:")
        if isinstance(domain, Line) and cell < domain.ordered:
            other = entry("exponential_median").make(epsilon=epsilon, quantile=mechanism.quantile)
            assert isinstance(other, ExponentialMedian)
            values = other.run(other.prepare(dataset, problem), Preview(asked.seed), TRIALS).values
            wrong = answers(domain=domain, truth=cell, values=np.asarray(values), badge=asked.badge(), dark=dark)
            draw(wrong, key="robust_wrong_chart")
            numbers(wrong, title="answers of the exponential median", key="robust_wrong_numbers")


def _stability_curve(
    asked: Asked,
    chance: Callable[[int], float],
    *,
    stable: int,
    mechanism: StableMedian,
    problem: Problem,
    answered: int,
    dark: bool,
) -> Figure:
    """The curve with the data and the data of two neighbours on it, what previews did, and what nobody can do."""
    epsilon, threshold, delta = mechanism.epsilon, mechanism.threshold, mechanism.guarantee(problem).delta
    # Two data sets with different answers are both so stable: where rows are replaced, only if there are enough.
    place, n = rank(problem.n, quantile=mechanism.quantile), problem.n
    reach = min(place, n - place + 1) if problem.neighbours is Neighbours.REPLACE_ONE else math.inf
    marks = [Mark(name="your data", x=stable, chance=chance(stable))]
    for step, name in ((-1, "one person changed, against it"), (1, "one person changed, in its favour")):
        if stable + step >= 1:
            marks.append(Mark(name=name, x=stable + step, chance=chance(stable + step)))
    x = places(stable=stable, threshold=threshold)
    low, high = (float(edge) for edge in binomial_interval(answered, TRIALS))
    most = float(most_answers(stable, epsilon=epsilon, delta=delta))
    return chance_curve(
        x=x,
        chances={"answer": answer_chance(x.astype(np.int64), epsilon=epsilon, threshold=threshold)},
        marks=marks,
        threshold=threshold,
        wall=Wall(
            silent=most_answers(x, epsilon=epsilon, delta=delta),
            anybody=np.array(
                [most_right(int(each), epsilon=epsilon, delta=delta) if each <= reach else math.nan for each in x]
            ),
        ),
        seen=Seen(share=answered / TRIALS, low=low, high=high),
        title="stability: rows that must change",
        # The most that can be is 1 where its closed form says so: no rounding.
        sentence=f"Data of stability {stable:,} get an answer with chance {nearly(chance(stable))}; {answered:,} of "
        f"{TRIALS:,} previews got one ({percent(low)} to {percent(high)} with 95% confidence). Hatched: nobody who "
        f"never gives a wrong answer can answer so often; on these data the most is {nearly(most, certain=most >= 1)}. "
        "Dotted: the most for those who may be wrong, on the worst data of that stability. Diamonds: your data with "
        "one row changed.",
        badge=asked.badge(),
        dark=dark,
    )


def _neighbours_table(chance: Callable[[int], float], *, stable: int) -> str:
    """Chances of an answer: the data, the worst neighbour, the edge."""
    lines = ["| data | stability | chance of an answer |", "|---|---|---|"]
    lines.append(f"| yours | {stable:,} | {nearly(chance(stable), digits=4)} |")
    if stable > 1:
        lines.append(f"| one person changed, against it | {stable - 1:,} | {nearly(chance(stable - 1), digits=4)} |")
    lines.append(f"| at the edge: one person can change the answer | 1 | {chance(1):.4g} = δ |")
    return "\n".join(lines)


def _code(asked: Asked, *, trials: int) -> None:
    """The snippet, copyable."""
    place = st.expander("The code that reproduces these runs", key="robust_code_open", on_change="rerun")
    if not place.open:
        return
    queries = "Thresholds" if isinstance(asked.source.domain, Line) else "Cells"
    values = ", ".join(f"{name}={value!r}" for name, value in asked.values.items())
    # Where rows come and go their number is private, and a public one is named.
    rows = "dataset.n" if asked.neighbours is Neighbours.REPLACE_ONE else str(asked.source.public_rows)
    lines = [
        "import dpcore",
        *asked.source.code(),
        "",
        "problem = dpcore.Problem(",
        f"    domain=dataset.domain, queries=dpcore.{queries}(domain=dataset.domain), n={rows},",
        f"    neighbours=dpcore.Neighbours.{asked.neighbours.name},",
        ")",
        f"mechanism = dpcore.entry({asked.entry.key!r}).make({values})",
        "state = mechanism.prepare(dataset, problem)",
        f"release = mechanism.run(state, dpcore.Preview({asked.seed}), {trials})",
        'print(f"{release.refused.mean():.1%} refuse; {mechanism.guarantee(problem).sentence()}")',
    ]
    place.code("\n".join(lines), language="python")
