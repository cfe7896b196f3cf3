"""The One number page: the chance of an answer, what one person moves, what came out, and real salaries."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Bound, Dataset, Guarantee, Problem, Queries, describe_error, rounded_up
from dpcore.data.columns import is_number
from dpcore.mechanisms.robust.stable_median import StableMedian
from dpcore.mechanisms.robust.unbounded_mean import UnboundedMean
from dpcore.mechanisms.subsamples.aggregate import SubsampleAggregate
from dpcore.queries.ranges import Thresholds
from dplab.robust import TRIALS, StableRuns, always_answering, present_rows, stable_runs
from pages.charts.picture import Picture
from pages.charts.words import percent
from pages.one_number.accounts import accounts
from pages.one_number.chance import Place, chance_curve, stability_axis
from pages.one_number.controls import GROUPS, ask
from pages.one_number.mean import mean_without_bounds
from pages.one_number.promise import known_before
from pages.one_number.runs import answers, outcomes
from pages.one_number.salaries import real_salaries
from pages.one_number.subsamples import subsamples
from pages.one_number.words import in_100, nearly
from pages.shell.controls import audit_this
from pages.shell.present import on_stage, presenting
from pages.shell.request import PageRequest, show_code
from pages.shell.status import may_show, views
from pages.shell.theorem import all_digits, conditions

SALARIES = ("Real salaries", "Rows off")
BETA = 0.05
"""Failure chance of the promise shown."""


def robust(beside: DeltaGenerator) -> None:
    """Read the controls in their place beside, then show what they do."""
    bar = st.container(key="epsilon_bar")
    head = bar.container()
    request = ask(beside, bar)
    request.keep("One number")
    if not may_show(request.source):
        known_before(request)
        return
    dataset = request.dataset()
    problem = request.problem(dataset.n)
    mechanism, trials = request.entry.make(**request.values), TRIALS
    missing = isinstance(mechanism, UnboundedMean) and problem.domain.missing
    if missing:
        dataset = present_rows(dataset)
        assert is_number(dataset.domain)
        queries = Thresholds(domain=dataset.domain)
        problem = Problem(domain=dataset.domain, queries=queries, n=dataset.n, neighbours=problem.neighbours)
    if isinstance(mechanism, UnboundedMean):
        first, salaries, ranked, more = views("Answer", *SALARIES, "More", key="robust-seen")
        with first:
            mean_without_bounds(request, mechanism, dataset, problem, head=head)
    else:
        first, second, salaries, ranked, more = views(
            "Answer", "One person changes", *SALARIES, "More", key="robust-seen"
        )
        if isinstance(mechanism, StableMedian):
            _stable(request, mechanism, dataset, problem, places=(head, first, second))
        elif isinstance(mechanism, SubsampleAggregate):
            trials = subsamples(request, mechanism, dataset, problem, places=(head, first, second))
    with first:
        _theorem(mechanism.accuracy(problem, BETA), problem)
    with more:
        if isinstance(mechanism, SubsampleAggregate):
            accounts(mechanism, mechanism.plan(problem), n=problem.n)
        # Which groups are compared is about the data; the audit has its own.
        audit_this(
            request.entry,
            {name: value for name, value in request.values.items() if name not in GROUPS},
            request.neighbours,
        )
        show_code("Code", key="robust_code_open", write=lambda: _code(request, trials=trials, present=missing))
    with salaries:
        real_salaries(epsilon=float(request.values["epsilon"]), seed=request.seed, ranked=ranked)


def _theorem(bound: Bound, problem: Problem) -> None:
    """What the mechanism promises of itself: on the stage, or on demand; the number first, where there is one."""
    with on_stage("theorem") if presenting() else st.expander("What is promised"):
        said = describe_error(bound, n=problem.n, subject="no answer", of_range=problem.domain.describe_distance)
        words = () if bound.vacuous else (bound.statement, *conditions(bound))
        st.markdown(" ".join((said, ":orange-badge[theory]", *words)))  # one paragraph: the stage has to hold all
        if bound.formula:
            st.latex(bound.formula)


def privacy(guarantee: Guarantee, *, text: str) -> None:
    """The guarantee, rounded up; all its digits on demand."""
    st.markdown(
        f"Privacy: {guarantee.sentence()}, for each single answer. :orange-badge[theory]",
        help=" ".join(part for part in (text, all_digits(guarantee)) if part),
    )


def _stable(
    request: PageRequest[Queries],
    mechanism: StableMedian,
    dataset: Dataset,
    problem: Problem,
    *,
    places: Sequence[DeltaGenerator],
) -> None:
    """The stable quantile: headline, what came out, and what one person moves."""
    head, first, second = places
    domain, threshold = problem.domain, mechanism.threshold
    runs = stable_runs(mechanism, dataset, problem, seed=request.seed)
    what = "median" if mechanism.quantile == 0.5 else f"{mechanism.quantile:g}-quantile"
    refusing = in_100(1 - runs.chance[runs.stable])
    head.header(f"{refusing[0].upper()}{refusing[1:]} runs refuse")
    head.markdown(
        f"**{runs.stable:,}** of {problem.n:,} rows would have to change before the {what} "
        f"({domain.describe(runs.cell)}) is another one; where about **{threshold:,}** would, half of the runs "
        "answer. :gray-badge[true]",
        help=f"With a stability of **{mechanism.stability_needed(0.05):,}** or more, 95 in 100 runs "
        "answer. More rows, a coarser grid, a larger ε or a larger δ bring it nearer.",
    )
    left, right = first.columns(2)
    with left:
        st.subheader("The chance of an answer")
        request.draw(_stability_curve(runs, threshold=threshold), key="robust_chance", title="chance of an answer")
    with right:
        st.subheader("What came out")
        request.draw(outcomes(refused=1 - runs.seen.share, wrong=0.0), key="robust_outcomes", title="outcomes")
        privacy(
            mechanism.guarantee(problem),
            text="δ is exact: it is the chance of an answer at the edge, where one person could change it, and no "
            "smaller number would do.",
        )
    left, right = second.columns(2)
    with left:
        st.subheader("When one person changes")
        st.markdown(_neighbours_table(runs))
    with right:
        st.subheader(
            "One that must always answer",
            help="An answer of the stable median is never wrong. One that must always answer may err instead.",
        )
        if is_number(domain) and runs.cell < domain.ordered:
            values = always_answering(
                dataset, problem, epsilon=mechanism.epsilon, quantile=mechanism.quantile, seed=request.seed
            )
            wrong = answers(domain=domain, truth=runs.cell, values=values)
            request.draw(wrong, key="robust_wrong", title="answers of the exponential median")


def _stability_curve(runs: StableRuns, *, threshold: int) -> Picture:
    """The curve with the data and the data of two neighbours on it, what previews did, and what nobody can do."""
    stable, seen, mine = runs.stable, runs.seen, runs.chance[runs.stable]
    names = {
        stable: "these data",
        stable - 1: "one person changed, against it",
        stable + 1: "one person changed, in its favour",
    }
    return chance_curve(
        curves={"chance of an answer": runs.curve},
        data=[Place(name=name, x=rows, chance=runs.chance[rows]) for rows, name in names.items() if rows >= 1],
        x=stability_axis(runs.curve.x, threshold=threshold),
        threshold=threshold,
        seen=seen,
        # The most that can be is 1 where its closed form says so: no rounding.
        sentence=f"Data of stability {stable:,} get an answer with chance {nearly(mine)}; {seen.answered:,} of "
        f"{seen.trials:,} previews got one ({percent(seen.low)} to {percent(seen.high)} with 95% confidence). Hatched: "
        "nobody who never gives a wrong answer can answer so often; on these data the most is "
        f"{nearly(runs.most, certain=runs.most >= 1)}. "
        "Dotted: the most for those who may be wrong, on the worst data of that stability. Diamonds: these data with "
        "one row changed.",
    )


def _neighbours_table(runs: StableRuns) -> str:
    """Chances of an answer: the data, the worst neighbour, the edge."""
    stable = runs.stable
    lines = ["| data | stability | chance of an answer |", "|---|---|---|"]
    lines.append(f"| yours | {stable:,} | {nearly(runs.chance[stable], digits=4)} |")
    if stable > 1:
        against = nearly(runs.chance[stable - 1], digits=4)
        lines.append(f"| one person changed, against it | {stable - 1:,} | {against} |")
    lines.append(f"| at the edge: one person can change the answer | 1 | {rounded_up(runs.edge)} = δ |")
    return "\n".join(lines)


def _code(request: PageRequest[Queries], *, trials: int, present: bool) -> str:
    """The snippet; ``present`` says whether rows without a number are left out."""
    return request.code(
        imports=["from dplab.robust import present_rows"] * present,
        prepared=["dataset = present_rows(dataset)"] * present,
        queries=f"dpcore.{type(request.queries).__name__}(domain=dataset.domain)",
        then=[
            f"release = mechanism.run(state, dpcore.Preview({request.seed}), {trials})",
            'print(f"{release.refused.mean():.1%} refuse; {mechanism.guarantee(problem).sentence()}")',
            "print(release.frame())",
        ],
    )
