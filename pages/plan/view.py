"""The Plan page: questions, what they cost together, how wrong their answers will be, and the file of it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import ParameterError
from dplab.solve import HIGHEST
from dprelease.plan.errors import GRID, Losses, Predictions, known_predictions, predict
from dprelease.plan.questions import WHOLE_TABLE, Plan
from dprelease.plan.shares import Ranked, SolvedPlan, for_targets, for_total
from pages.charts.component import draw_with_table
from pages.data.picker import OWN_FILE
from pages.data.upload import held_file
from pages.plan.add import add_question, paste_questions
from pages.plan.figure import missing, planned_errors
from pages.plan.frontier import frontier
from pages.plan.preview import preview
from pages.plan.rows import edited, keep, questions_of, title
from pages.plan.since import since_release
from pages.plan.table import NOTE, OPENED, TABLE, WANTED_TABLE, Declared, open_file, pick_table, to_release
from pages.plan.whole import whole_table
from pages.shell.private.data_in_use import escaped, link_to_data
from pages.shell.releasable import keep_plan
from pages.shell.request import show_code
from pages.shell.state import SessionKey
from pages.shell.theorem import all_digits
from pages.shell.work.jobs import in_background, stop
from pages.shell.work.memory import remember

BADGE = "theory and made-up rows: nothing of your data"
WISH = SessionKey("plan_wish", ("", "", 0.0))
"""What a button asked for, of which plan and which total; and its place on the page."""
LEAST_TOTAL, MAX_TOTAL = 0.01, 100.0
COSTS = SessionKey("plan_costs", 0.0)
"""The loss of the plan that the typed total is for."""
TOTAL = SessionKey("plan_total", 0.0)
"""The control of the total."""
FORECAST = " Of rows of nobody nothing is promised before they are made: their dot is a forecast."
ONE_SUM = 1 - 1e-6
"""A plan that costs less than this share of what its questions cost alone is charged as one vector."""
SNIPPET = """from pathlib import Path

from dplab.measure import finish
from dprelease.plan.errors import predict
from dprelease.plan.questions import Plan
from dprelease.plan.shares import for_targets, for_total

plan = Plan.read(Path("plan.json").read_text())
print(plan.cost.sentence())
for question, errors in zip(plan.questions, finish(predict(plan))):
    print(question.columns, question.queries, errors.worst, errors.promised, "if n is right" * errors.if_n)

cheapest = finish(for_targets(plan)).plan    # the least ε for the targets
balanced = finish(for_total(plan, 1.0))      # ε = 1, shared so that errors are about the same multiple of their targets
"""


def planning() -> None:
    """Read the controls, do what a button asked for, then show what the plan costs and gives."""
    head = st.container()
    if wanted := WANTED_TABLE.pop():
        TABLE.value = wanted
    with st.sidebar:
        declared = pick_table()
        questions = questions_of(declared)
        add_question(declared, questions)
        paste_questions(declared, questions)
        open_file()
    questions = edited(declared, questions)
    plan = Plan(
        table=declared.table, n=declared.n, questions=questions, neighbours=declared.neighbours, beta=declared.beta,
        file_format=declared.file_format,
    )  # fmt: skip
    keep_plan(declared.key, plan)
    ways_on = _wishes(plan)
    _wished(declared, plan)
    known: Predictions = remember("predicted", dict)
    predictions = in_background(
        f"planned|{plan.text.decode()}",
        lambda: predict(plan, known=known),
        so_far=lambda: known_predictions(plan, known=dict(known)),
        label="Predicting every question's error.",
        place="predicted",
    )
    many = f"{len(questions)} question{'s' * (len(questions) > 1)}"
    late = missing(plan, predictions)
    _chip(declared)
    with head:
        st.header(
            f"{many} of {declared.title.partition(' (')[0]} cost{'s' * (len(questions) == 1)} {plan.cost.sentence()}",
            help=all_digits(plan.cost),
        )
    losses = sum(plan.guarantee(question).epsilon for question in questions)
    if plan.cost.epsilon < losses * ONE_SUM:
        st.caption(f"All noise is Gaussian: charged as one vector, not as the sum ε = {losses:.3g}.")
    since_release(declared, plan)
    if late:
        places = ", ".join(str(place + 1) for place in late)
        st.caption(
            f"No theorem promises the target of question{'s' * (len(late) > 1)} {places}."
            + (FORECAST if any(plan.questions[place].entry_key == WHOLE_TABLE for place in late) else "")
        )
    picture = planned_errors(plan, predictions, titles=[title(plan.table, each) for each in questions])
    draw_with_table(picture, key="plan", badge=BADGE, title="errors of the plan", download=True)
    frontier(declared, plan)
    preview(plan)
    whole_table(declared, questions)
    show_code("The same in Python", key="plan_code", write=lambda: SNIPPET)
    with ways_on:  # last: the file of a run that is broken off would be gone before the browser asks for it
        st.download_button(
            "Download the plan", plan.text, file_name="plan.json", mime="application/json", key="plan_download",
            help="What is asked, by which mechanism, at which loss; no row of any data.",
        )  # fmt: skip
        help_text = (
            "One draw of all questions, charged to the ledger: a private preview until the data owner publishes it."
        )
        if st.button("Release it", key="plan_release", help=help_text):
            to_release(declared, plan)


def _chip(declared: Declared) -> None:
    """Which table is planned for, in the bar on top; an opened plan's is not here."""
    held = held_file() if declared.key == OWN_FILE else None
    if declared.key == OPENED:
        return
    kind = "Private" if held and held.provenance.is_private else "Public"
    link_to_data(f"{kind} · {escaped(held.table.name if held else declared.title)} · n = {declared.n:,}")


def _wishes(plan: Plan) -> DeltaGenerator:
    """The two ways to have ε worked out; gives the place beside them of the ways on: the page is one screen."""
    costs = min(max(float(f"{plan.cost.epsilon:.4g}"), LEAST_TOTAL), MAX_TOTAL)
    if not TOTAL.is_set or COSTS.value != costs:
        COSTS.value = TOTAL.value = costs
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            "Least ε for the targets", key="plan_targets", type="primary", on_click=_wish, args=("targets",),
            disabled=not any(each.target and not each.pinned for each in plan.questions),
            help=f"For each target: the mechanism that keeps it on all data for the least ε, up to {HIGHEST:g}. "
            "Mechanisms with δ are tried only for tables and values that have a δ already.",
        )  # fmt: skip
        st.number_input("Total ε", LEAST_TOTAL, MAX_TOTAL, step=None, format="%g", key=TOTAL, width=110)
        st.button(
            "Share this total", key="plan_share", on_click=_wish, args=("total",),
            help="Pinned questions keep their ε. The others share the rest: each error becomes about the same multiple "
            f"of its target, with an ε of at most {GRID[-1]:g}.",
        )  # fmt: skip
        return st.container(horizontal=True, width="content")


def _wish(what: str) -> None:
    WISH.value = what, "", 0.0


def _wished(declared: Declared, plan: Plan) -> None:
    """Do what a button asked for, without holding up the page; a plan that is changed meanwhile takes it back."""
    told = NOTE.pop()
    if told:
        st.info(told)
    what, about, total = WISH.value
    text = plan.text.decode()
    if what and not about:  # pressed just now
        about, total = text, TOTAL.value if TOTAL.is_set else plan.cost.epsilon
        WISH.value = what, about, total
        stop(WISH)
    if about != text:
        WISH.pop()
        stop(WISH)
        return
    try:
        found = _worked_out(plan, what, total)
    except ParameterError as problem:
        WISH.pop()
        st.error(str(problem))
        return
    if found is not None:
        WISH.pop()
        if isinstance(found, SolvedPlan):
            NOTE.value = _told(found)
        keep(declared, (found.plan if isinstance(found, SolvedPlan) else found).questions, anew=True)
        st.rerun()


def _worked_out(plan: Plan, what: str, total: float) -> SolvedPlan | Plan | None:
    """What comes of a wish; None while it is under way. What is worked out is kept for the next wish."""
    text, label = plan.text.decode(), "Working it out."
    if what == "targets":
        ranked: Ranked = remember("ranked", dict)
        solving: Callable[[], Generator[float, None, SolvedPlan | Plan | None]] = partial(
            for_targets, plan, known=ranked
        )
    else:
        losses: Losses = remember("losses", dict)
        solving = partial(for_total, plan, total, known=losses)
    return in_background(f"{what}|{total!r}|{text}", solving, so_far=lambda: None, label=label, place=WISH)


def _told(solved: SolvedPlan) -> str:
    """What was found, in a sentence or two."""
    wanted = sum(each.target is not None and not each.pinned for each in solved.plan.questions)
    met = wanted - len(solved.unmet)
    text = f"{met} target{'s' * (met != 1)} met at the least ε."
    if solved.confidence < 1:
        text += f" Where no theorem promises it, simulated releases do, at confidence {100 * solved.confidence:.0f}%."
    if solved.unmet:
        places = ", ".join(str(place + 1) for place in solved.unmet)
        text += f" No mechanism that was tried surely keeps that of question {places}, up to ε = {HIGHEST:g}: "
        text += "it stays as it was."
        if any(solved.plan.questions[place].entry_key == WHOLE_TABLE for place in solved.unmet):
            text += FORECAST
    return text
