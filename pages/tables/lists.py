"""Decision lists on the Tables page: the share of private lists of rules that says yes to an input."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Floats
from dpcore.data.lists import DecisionLists
from dpcore.data.sources import STUDENTS, Generated, generated_lists
from dpcore.mechanisms import entry
from dpcore.mechanisms.marginals.decision_list_release import DecisionListMarginals
from dpcore.mechanisms.marginals.plans import BETA
from dpcore.queries.inputs import Inputs
from dplab.marginals_lists import list_shares, true_shares, worst_biases, worst_of_lists
from pages.charts.words import percent, percent_up, printable_labels
from pages.charts.worst import TrialNouns
from pages.data.picker import BY_PERSON, NOT_SENT, OWN_FILE, choose_data
from pages.data.upload import session_file
from pages.shell.controls import settings, stops, whole
from pages.shell.private.data_in_use import show_data_in_use
from pages.shell.private.offer import draw_offer, offer_of
from pages.shell.private.twin import drawn
from pages.shell.request import PageRequest
from pages.shell.tasks.memory import remember
from pages.shell.workbench import Workbench
from pages.tables.own_file import own_lists
from pages.tables.shares.charts import shares_scatter
from pages.tables.worst_error import ErrorWords, render_headline, render_worst_error

ROWS = (1_000, 3_000, 10_000, 30_000, 100_000)
FIRST_INPUT = {0, 7}
"""The variables that hold in the first input, as far as there are so many."""
LEAD = (
    "Each row is a private **decision list**: *if it is in the top ten: yes; else if rural: no; else yes*. "
    "For an input, such as a college: which share of the lists says yes?",
    "The first rule that holds decides the output of a list. A polynomial in the literals of the list "
    "approximates that output. Its coefficients, added up over all lists and released with noise, answer "
    "every input (Thaler, Ullman and Vadhan 2012).",
)


class ListResult:
    """The true and the released share of lists that say yes to each input.

    Attributes:
        request: the settings.
        dataset: the lists.
        problem: the public problem.
        mechanism: the mechanism at these settings.
        state: the lists as its releases need them.
        key: everything that the true shares depend on.
        shares: shares of the lists that say yes, true and released.
        inputs: the number of inputs in words.
        is_generated: whether the lists are generated.
    """

    def __init__(self, request: PageRequest[Inputs]) -> None:
        """Count the true shares, and preview one release."""
        self.request, self.dataset = request, request.dataset()
        self.problem = request.problem(self.dataset.n)
        self.mechanism = request.mechanism_of(DecisionListMarginals)
        self.state = self.mechanism.prepare(self.dataset, self.problem)
        self.key = f"{request.source.key}|{request.neighbours}|{self.problem.n}"
        truth: Floats = remember(f"yes|{self.key}", lambda: true_shares(self.dataset, self.problem))
        self.shares = list_shares(self.mechanism, self.state, truth=truth, seed=request.seed)
        self.inputs = f"{request.queries.count:,} inputs"
        self.is_generated = isinstance(request.source.origin, Generated)


def _draw_controls(side: DeltaGenerator, bar: DeltaGenerator) -> PageRequest[Inputs] | None:
    """Draw the controls, ε in the bar; return None as long as the lists of a user's file are not declared."""
    with side:
        file = session_file()
        key = choose_data(
            "Rows of decision lists",
            {STUDENTS: "Generated: how students choose colleges"},
            key="lists-of",
            own_title="Your file: columns with rules" if file and not file.by_person else "",
            missing_reason=BY_PERSON if file else NOT_SENT,
            help_text="Generated rows are synthetic: previews on them spend no privacy budget. On the Data page you "
            "can upload a file.",
        )
        rules = whole("Rules per list k", 1, 5, 3, key="rules")
        if key == OWN_FILE and file:
            rows = own_lists(file, rules)
            if rows is None:
                return None
        else:
            rows = generated_lists(n=int(stops("Number of lists n", ROWS, 30_000, key="students")), rules=rules)
        source = drawn(rows)
        show_data_in_use(source)
        chosen = settings(entry("marginals-decision-lists"), bar)
    queries = Inputs(domain=source.on(DecisionLists))
    return PageRequest(rows=rows, source=source, queries=queries, **chosen)


def _draw_promise(request: PageRequest[Inputs]) -> None:
    """Draw what holds for private lists that may not be shown."""
    domain = request.queries.domain
    about = f"{domain.variables}|{domain.rules}"
    draw_offer(offer_of(request, about=about, of="input", covers="for all inputs together", beta=BETA))


def _headline(result: ListResult) -> None:
    error = float(np.quantile(np.abs(result.shares.released - result.shares.truth), 0.95))
    guarantee = result.mechanism.guarantee(result.problem)
    render_headline(f"95 in 100 inputs have an error of at most {percent_up(error)}", guarantee, of=result.inputs)


def _all_inputs(result: ListResult) -> None:
    """Draw all inputs in one release, and the user's input in words."""
    st.subheader("All inputs")
    index = _input(result.request.queries.domain.names)
    true, released = float(result.shares.truth[index]), float(result.shares.released[index])
    st.markdown(
        f"**{percent(true)}** of the lists say yes; released **{percent(released)}**, error "
        f"{percent(abs(released - true))}."
    )
    # The names of a user's variables are typed text, which stays out of the sentence of a picture.
    name = result.problem.queries.describe(index) if result.is_generated else "the chosen input"
    picture = shares_scatter(result.shares, n=result.problem.n, chosen=index, name=name)
    result.request.draw(picture, key="marginals_lists", title="all inputs")


def _input(names: tuple[str, ...]) -> int:
    """Draw the control for an input; return its number."""
    places = st.multiselect(
        "An input with",
        range(len(names)),
        default=sorted(FIRST_INPUT & set(range(len(names)))),
        key=f"list-input-{len(names)}",
        format_func=printable_labels(names).__getitem__,
    )
    return sum(1 << place for place in places)


def _worst_error(result: ListResult) -> None:
    request, mechanism = result.request, result.mechanism
    dots = "Answers are clipped to 0–1. If n is the number of rows, this increases no error."
    observed_on = f"all {result.inputs}"
    words = ErrorWords(observed_on=observed_on, dots=dots, called=TrialNouns(query="input", over="all inputs"))

    def work() -> Generator[float, None, Floats]:
        return worst_of_lists(mechanism, result.state, truth=result.shares.truth, seed=request.seed)

    key = f"{result.key}|{mechanism!r}|{request.seed}"
    render_worst_error(request, result.problem, mechanism, words, beta=BETA, key=key, work=work)


def _three_ways(result: ListResult) -> None:
    """Draw the bias of the worst list by each construction."""
    rules = result.request.queries.domain.rules
    degree = min(result.mechanism.degree, rules)
    paper, prefix, program = worst_biases(rules=rules, degree=degree)
    st.markdown(
        f"| {rules} rules, degree {degree} | worst bias |\n|---|---|\n"
        f"| rule by rule, as in the paper | {paper:.3f} |\n| only where the output changes | {prefix:.3f} |\n"
        f"| linear program over all patterns (used) | {program:.3f} |\n\n:orange-badge[theory]"
    )


def _one_list(result: ListResult) -> None:
    """Draw one generated list in words."""
    if result.is_generated:
        sentence = result.request.queries.domain.sentence(result.dataset.records[0])
        st.markdown(f"One student's rules: *{sentence}*.")


def _code(result: ListResult) -> str:
    return result.request.code_of_release("print(release.frame().head())")


DECISION_LISTS = Workbench(
    title="Tables",
    lead=LEAD,
    key="lists",
    controls=_draw_controls,
    promise=_draw_promise,
    compute=ListResult,
    headline=_headline,
    views={"All inputs and guarantee": (_all_inputs, _worst_error), "Three ways": _three_ways},
    slow=(_worst_error,),
    more=_one_list,
    code=_code,
)
