"""A private rule on the Tables page: which rule of the user's class predicts an attribute, chosen by few errors."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import DataError, Floats, Integers, rounded_up
from dpcore.core.sizes import MAX_CLASS_ATTRIBUTES, MAX_LITERALS
from dpcore.data.product import Product
from dpcore.limits.attacks.class_text import read_class
from dpcore.mechanisms import entry
from dpcore.mechanisms.marginals.learner import LearnerState, PrivateLearner
from dpcore.queries.hypotheses import INTERVALS, KINDS, TABLE, Hypotheses
from dpcore.randomness import Preview
from dplab.printed.population import sample_error
from pages.charts.picture import Axis, Curve, Picture, Rule
from pages.charts.words import as_code, percent, printable_labels
from pages.charts.worst import TrialNouns
from pages.shell.controls import choice, settings, whole
from pages.shell.private.data_in_use import show_data_in_use
from pages.shell.private.offer import draw_offer, offer_of
from pages.shell.private.twin import drawn
from pages.shell.request import PageRequest
from pages.shell.tasks.memory import with_progress
from pages.shell.theorem import BETA
from pages.shell.workbench import Workbench
from pages.tables.shares.controls import choose_attributes
from pages.tables.worst_error import ErrorWords, render_headline, render_worst_error

LEAD = (
    "**Which rule predicts one attribute best?** You write a class of rules; one of them is released.",
    "The exponential mechanism chooses a rule. The fewer rows it errs on, the more likely it is. The rows need not "
    "follow any rule: such a learner is called *agnostic* (Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith "
    "2011).",
)
TRIALS = 2000
ROWS_AROUND = 100.0
"""Factor by which the picture's numbers of rows lie below and above n."""
THEORY = "theory: depends on public numbers only"


class LearnerResult:
    """Errors of all rules, counted once, and one previewed release.

    Attributes:
        request: the settings.
        problem: the public problem.
        mechanism: the mechanism at these settings.
        state: rows on which each rule errs.
        key: everything that these errors depend on.
    """

    def __init__(self, request: PageRequest[Hypotheses]) -> None:
        """Count the errors of every rule."""
        self.request, dataset = request, request.dataset()
        self.problem, self.mechanism = request.problem(dataset.n), request.mechanism_of(PrivateLearner)
        queries = request.queries
        self.key = f"{request.source.key}|{queries.label}|{queries.kind}|{queries.literals}|{hash(queries.packed)}"
        errors: Integers = with_progress(
            f"rules|{self.key}", lambda: queries.errors(dataset.records), label="Counting the errors of every rule."
        )
        self.state = LearnerState(problem=self.problem, errors=errors)
        self.chosen = int(self.mechanism.run(self.state, Preview(request.seed)).chosen[0])

    def error(self, rule: int) -> float:
        """Return the share of n on which a rule errs."""
        return float(self.state.errors[rule]) / self.problem.n

    @property
    def best(self) -> int:
        """The rule with the fewest errors."""
        return int(np.argmin(self.state.errors))


def _draw_controls(side: DeltaGenerator, bar: DeltaGenerator) -> PageRequest[Hypotheses] | None:
    """Draw the controls, ε in the bar; return None as long as attributes or the matrix are missing."""
    with side:
        rows = choose_attributes()
        if rows is None:
            return None
        source = drawn(rows)
        show_data_in_use(source)
        queries = _class(source.on(Product))
        chosen = settings(entry("learner"), bar)
    if queries is None:
        return None
    return PageRequest(rows=rows, source=source, queries=queries, **chosen)


def _class(domain: Product) -> Hypotheses | None:
    """Draw the controls of the class of rules; None with a message for an invalid matrix."""
    names = printable_labels(domain.names)
    label = int(choice("Attribute to predict", {str(i): name for i, name in enumerate(names)}, key="rule-label"))
    kind = choice(
        "Rules", KINDS, key="rule-kind",
        help_text="Thresholds: name attributes such as “>= 20” and “>= 40” of one column. One of them is a threshold; "
        "one and not another is an interval.",
    )  # fmt: skip
    if kind != TABLE:
        literals = 2 if kind == INTERVALS else whole("Attributes of a rule, up to k", 1, MAX_LITERALS, 2, key="rule-k")
        return Hypotheses(domain=domain, label=label, kind=kind, literals=literals)
    others = min(domain.attributes - 1, MAX_CLASS_ATTRIBUTES)
    text = st.text_area(
        f"One line per rule: what it says, 0 or 1, to each of {1 << others} rows that there may be",
        "\n".join(",".join(str(cell >> place & 1) for cell in range(1 << others)) for place in range(others)),
        key=f"rule-matrix-{others}",
        help=f"At most {MAX_CLASS_ATTRIBUTES} attributes and the label. Column c stands for the row whose attributes "
        "are the binary digits of c − 1, the first attribute last.",
    )
    try:
        return Hypotheses.of(read_class(text), domain=domain, label=label)
    except DataError as problem:
        st.error(str(problem))
        return None


def _draw_promise(request: PageRequest[Hypotheses]) -> None:
    """Draw what holds for private rows that may not be shown."""
    about = f"{request.queries.count}|{request.queries.kind}"
    draw_offer(offer_of(request, about=about, of="rule", covers="for the released rule", beta=BETA))


def _headline(result: LearnerResult) -> None:
    rule = as_code(result.request.queries.describe(result.chosen))
    guarantee = result.mechanism.guarantee(result.problem)
    text = f"Released: {rule}. It errs on {percent(result.error(result.chosen))} of the rows"
    render_headline(text, guarantee, of=f"{result.request.queries.count:,} rules")


def _rules(result: LearnerResult) -> None:
    """Draw the chance of each error rate, and the best rule without privacy."""
    st.subheader("Error of the released rule")
    best = as_code(result.request.queries.describe(result.best))
    st.markdown(
        f"Without privacy, the best rule is {best}: it errs on **{percent(result.error(result.best))}**. "
        ":gray-badge[true]"
    )
    law = result.mechanism.law(result.state.errors)
    result.request.draw(
        error_chances(result.state.errors / result.problem.n, law), key="learner_errors", title="errors of the rule",
        badge=result.request.badge("exact law"),
    )  # fmt: skip
    st.latex(result.request.entry.weights)


def error_chances(errors: Floats, law: Floats) -> Picture:
    """Return the chance that the released rule errs on at most a share of the rows.

    Args:
        errors: share of the rows on which each rule errs, (|H|,).
        law: chance of each rule, (|H|,).
    """
    shares, where = np.unique(errors, return_inverse=True)
    chances = np.minimum(1, np.cumsum(np.bincount(where, weights=law)))
    best, half = float(shares[0]), float(shares[np.searchsorted(chances, 0.5)])
    high = max(float(shares[np.searchsorted(chances, min(0.999, float(chances[-1])))]), best + 0.01)
    return Picture(
        title="Error of the released rule",
        x=Axis(title="rows on which the rule errs, share of n", low=best * 0.98, high=high, form=".3~p"),
        y=Axis(title="chance of at most that", low=0, high=1.2, form=".0%", ticks=(0, 0.25, 0.5, 0.75, 1)),
        marks=[
            Curve(role="mechanism:learner", name="released rule", x=shares, y=chances, step=True),
            Rule(role="true", x=best, label="best rule, no privacy"),
        ],
        sentence=f"In half of the releases the rule errs on at most {percent(half)} of the rows; the best rule of the "
        f"class on {percent(best)}.",
        table={"error, share of n": shares.tolist(), "chance of at most that": chances.tolist()},
    )


def _population(result: LearnerResult) -> None:
    """Draw the error above the population's best rule against the rows, without privacy and with it."""
    st.subheader("About the population")
    request = result.request
    picture = population_excess(request.queries.count, n=result.problem.n, epsilon=result.mechanism.epsilon)
    request.draw(picture, key="learner_population", title="error about the population", badge=THEORY)


def population_excess(rules: int, *, n: int, epsilon: float) -> Picture:
    """Return bounds on the error above the best rule of the population, by the number of rows.

    Without privacy twice the sample's error, as both rules are compared in the sample. With privacy, the choice's
    loss is added, and each gets half of β.
    """
    rows = np.geomspace(max(2.0, n / ROWS_AROUND), n * ROWS_AROUND, 80)
    sampled = 2 * sample_error(rules, rows, beta=BETA)
    private = 2 * sample_error(rules, rows, beta=BETA / 2) + 2 / (epsilon * rows) * math.log(2 * rules / BETA)
    at = int(np.argmin(np.abs(rows - n)))
    return Picture(
        title="Error above the best rule of the population",
        x=Axis(title="rows n", log=True, form="~s"),
        y=Axis(title="guaranteed error above the best", log=True, low=1e-3, high=10, form="~p"),
        marks=[
            Curve(role="other-1", name="best rule of the sample, no privacy", x=rows, y=np.clip(sampled, 1.05e-3, 9.5)),
            Curve(role="mechanism:learner", name="private rule", x=rows, y=np.clip(private, 1.05e-3, 9.5)),
            Rule(role="ink", x=n, label=f"n = {n:,}"),
        ],
        sentence=f"With n = {n:,} independent rows and {rules:,} rules, the best rule of the sample errs on at most "
        f"{rounded_up(100 * float(sampled[at]))}% more of the population than the population's best. The private rule: "
        f"{rounded_up(100 * float(private[at]))}%.",
        table={"rows": rows.tolist(), "without privacy": sampled.tolist(), "with privacy": private.tolist()},
    )


def _worst_error(result: LearnerResult) -> None:
    dots = "A dot is the error of the released rule above that of the best one."
    observed_on = "the best rule of the class"
    words = ErrorWords(observed_on=observed_on, dots=dots, called=TrialNouns(query="rule", over="the best rule"))

    def work() -> Generator[float, None, Floats]:
        chosen = result.mechanism.run(result.state, Preview(result.request.seed), TRIALS).chosen
        yield 1.0
        above: Floats = (result.state.errors[chosen] - result.state.errors.min()) / result.problem.n
        return above

    key = f"{result.key}|{result.mechanism!r}|{result.problem.n}|{result.request.seed}"
    render_worst_error(result.request, result.problem, result.mechanism, words, beta=BETA, key=key, work=work)


def _code(result: LearnerResult) -> str:
    queries = result.request.queries
    arguments = f", label={queries.label}, kind={queries.kind!r}, literals={queries.literals}"
    if queries.packed:
        arguments += f", packed={queries.packed!r}"
    return result.request.code_of_release("print(release.frame())", arguments=arguments)


LEARNER = Workbench(
    title="Tables",
    lead=LEAD,
    key="learner",
    controls=_draw_controls,
    promise=_draw_promise,
    compute=LearnerResult,
    headline=_headline,
    views={"Rule and guarantee": (_rules, _worst_error), "About the population": _population},
    slow=(_worst_error,),
    code=_code,
)
