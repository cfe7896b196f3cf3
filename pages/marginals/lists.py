"""The third view of the Tables page: private lists of rules, and what share of them says yes to an input."""

from __future__ import annotations

import dataclasses

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.data.lists import DecisionLists
from dpcore.data.sources import STUDENTS, Generated, generated_lists
from dpcore.mechanisms import entry
from dpcore.mechanisms.marginals.decision_list_release import DecisionListMarginals
from dpcore.mechanisms.marginals.plans import BETA
from dpcore.queries.inputs import Inputs
from dplab.marginals_lists import list_shares, true_shares, worst_biases, worst_of_lists
from pages.charts.words import percent, printable_labels
from pages.charts.worst import TrialNouns
from pages.data.picker import BY_PERSON, NOT_SENT, OWN_FILE, choose_data
from pages.data.upload import session_file
from pages.marginals.figures import shares_scatter
from pages.marginals.promise import Promised, beside, heading
from pages.marginals.upload import own_lists
from pages.shell.asked import Asked, show_code
from pages.shell.controls import audit_this, settings, stops, whole
from pages.shell.private.chip import chip
from pages.shell.private.promises import Offer, ask_rows, headline, promises
from pages.shell.private.twin import drawn
from pages.shell.session import remembered
from pages.shell.status import may_show, views

ROWS = (1_000, 3_000, 10_000, 30_000, 100_000)
VIEWS = ("All inputs and promise", "Three ways", "More")
FIRST = {0, 7}
"""What holds in the input that is asked about first, as far as there are so many variables."""
HOW_LISTS = (
    "Each row is a private **decision list**: *if it is in the top ten: yes; else if rural: no; else yes*. "
    "What share of the lists says yes to an input, such as a college?",
    "Whether a list says yes hangs on its first rule that holds. A polynomial in the literals of a list comes near "
    "that, and its coefficients, added up over all lists and released with noise, answer every input at once (Thaler, "
    "Ullman and Vadhan 2012).",
)


def decision_lists(beside: DeltaGenerator) -> None:
    """Read the controls in their place beside, then show what they do."""
    bar = st.container(key="epsilon_bar")
    head = bar.container()
    with beside:
        asked = _ask(bar)
    if asked is None:
        return
    asked.keep("Tables")
    if may_show(asked.source):
        _shown(asked, head)
    else:
        _known(asked)


def _ask(bar: DeltaGenerator) -> Asked[Inputs] | None:
    """Everything that is asked; None as long as an own file's lists are open."""
    held = session_file()
    chosen = choose_data(
        "Rows of decision lists",
        {STUDENTS: "Generated: how students choose colleges"},
        key="lists-of",
        own_title="Your file: columns with rules" if held and not held.by_person else "",
        missing_reason=BY_PERSON if held else NOT_SENT,
        help_text="Generated rows are nobody's: previews on them cost nothing. The Data page takes a file of yours.",
    )
    rules = whole("Rules of a list k", 1, 5, 3, key="rules")
    if chosen == OWN_FILE and held:
        rows = own_lists(held, rules)
        if rows is None:
            return None
    else:
        rows = generated_lists(n=int(stops("Lists n", ROWS, 30_000, key="students")), rules=rules)
    source = drawn(rows)
    chip(source)
    machine = entry("marginals-decision-lists")
    values, relation, coins = settings(machine, bar)
    queries = Inputs(domain=source.on(DecisionLists))
    return Asked(
        rows=rows, source=source, queries=queries, entry=machine, values=values, neighbours=relation, seed=coins
    )


def _known(asked: Asked[Inputs]) -> None:
    """What is promised of private lists that nobody may see."""
    n, domain = ask_rows(asked.source, asked.neighbours), asked.queries.domain
    offer = Offer(
        about=f"{domain.variables}|{domain.rules}|{asked.values}|{asked.neighbours}",
        problem=dataclasses.replace(asked.problem(n), n=n),
        makers={asked.entry.key: lambda epsilon: asked.entry.make(**{**asked.values, "epsilon": epsilon})},
        titles={asked.entry.key: asked.entry.title},
        chosen=asked.entry.key,
        epsilon=float(asked.values["epsilon"]),
        beta=BETA,
        of="input",
        person_rows=0,
        covers="for all inputs together",
        references=asked.entry.references,
    )
    st.header(headline(offer, offer.epsilon))
    promises(offer, key="promises")


def _shown(asked: Asked[Inputs], head: DeltaGenerator) -> None:
    """One release beside the truth, many releases beside the promise, and how the polynomials come about."""
    dataset, domain = asked.dataset(), asked.queries.domain
    problem, mechanism = asked.problem(dataset.n), asked.made(DecisionListMarginals)
    memory = f"{asked.source.key}|{asked.neighbours}|{problem.n}"
    truth = remembered(f"yes|{memory}", lambda: true_shares(dataset, problem))
    state = mechanism.prepare(dataset, problem)
    shares = list_shares(mechanism, state, truth=truth, seed=asked.seed)
    guarantee, inputs = mechanism.guarantee(problem), f"{asked.queries.count:,} inputs"
    with head:
        off = float(np.quantile(np.abs(shares.released - truth), 0.95))
        heading(f"95 in 100 inputs are off by at most {percent(off)}", guarantee, of=inputs)
    every, ways, more = views(*VIEWS, key="lists-seen")
    with every:
        left, right = st.columns(2)
    with left:
        st.subheader("All inputs")
        index = _picked(asked)
        true, released = float(truth[index]), float(shares.released[index])
        st.markdown(
            f"**{percent(true)}** of the lists say yes; released **{percent(released)}**, off by "
            f"{percent(abs(released - true))}."
        )
        # What a variable is called was typed: a sentence does without.
        name = problem.queries.describe(index) if _is_students(asked) else "the chosen input"
        picture = shares_scatter(shares, n=problem.n, chosen=index, name=name)
        asked.draw(picture, key="marginals_lists", title="all inputs")
    with ways:
        _three_ways(domain.rules, min(mechanism.degree, domain.rules))
    with more:
        if _is_students(asked):
            st.markdown(f"One student's rules: *{domain.sentence(dataset.records[0])}*.")
        audit_this(asked.entry, asked.values, asked.neighbours)
        show_code("Code", key="lists_code_open", write=lambda: _code(asked))
    with right:
        bound = mechanism.accuracy(problem, BETA)
        beside(
            Promised(
                problem=problem,
                guarantee=guarantee,
                bound=bound,
                details=bound.statement,
                looked_at=f"all {inputs}",
                dots="Answers are moved into 0 to 1: if n is the number of rows, none gets further from the truth.",
                called=TrialNouns(query="input", over="all inputs"),
                badge=asked.badge(),
                private=asked.private,
            ),
            memory=f"{memory}|{mechanism!r}|{asked.seed}",
            work=lambda: worst_of_lists(mechanism, state, truth=truth, seed=asked.seed),
        )


def _is_students(asked: Asked[Inputs]) -> bool:
    """Whether the lists are generated ones."""
    return isinstance(asked.source.origin, Generated)


def _picked(asked: Asked[Inputs]) -> int:
    """The input that is asked about, by its number."""
    names = asked.queries.domain.names
    picked = st.multiselect(
        "An input with",
        range(len(names)),
        default=sorted(FIRST & set(range(len(names)))),
        key=f"list-input-{len(names)}",
        format_func=printable_labels(names).__getitem__,
    )
    return sum(1 << place for place in picked)


def _three_ways(rules: int, degree: int) -> None:
    """The bias of the worst list by each construction."""
    paper, prefix, program = worst_biases(rules=rules, degree=degree)
    st.markdown(
        f"| {rules} rules, degree {degree} | worst bias |\n|---|---|\n"
        f"| rule by rule, as in the paper | {paper:.3f} |\n| paying only where the output changes | {prefix:.3f} |\n"
        f"| linear program over all patterns (used) | {program:.3f} |\n\n:orange-badge[theory]"
    )


def _code(asked: Asked[Inputs]) -> str:
    """The snippet."""
    return asked.code(
        queries="Inputs(domain=dataset.domain)",
        imports=["from dpcore.queries.inputs import Inputs"],
        then=[
            f"release = mechanism.run(state, dpcore.Preview({asked.seed}))",
            "print(release.frame().head())",
            "print(mechanism.guarantee(problem).sentence())",
        ],
    )
