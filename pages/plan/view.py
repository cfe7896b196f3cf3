"""The Plan page: statistics, their total cost, their expected errors, and the plan's file."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import ParameterError
from dplab.solve import HIGHEST
from dprelease.ledger.units import BudgetMeasure
from dprelease.plan.errors import GRID, Losses, Prediction, Predictions, known_predictions, predict
from dprelease.plan.planned_question import WHOLE_TABLE, PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.plan.shares import Ranked, SolvedPlan, for_targets, for_total
from dprelease.plan.titles import question_title
from dprelease.release import cost
from pages.charts.component import draw_while_open, draw_with_table
from pages.data.picker import OWN_FILE
from pages.data.upload import plural, session_file
from pages.plan.add_questions import add_question, paste_questions
from pages.plan.figure import missed_targets, planned_errors
from pages.plan.frontier import frontier, suggest_noise
from pages.plan.last_release import changes_since_release, planned_account
from pages.plan.margin_words import wide_margins
from pages.plan.plan_table import (
    NEXT_TABLE,
    NOTE,
    OPENED,
    SHOWN_NOTE,
    TABLE,
    PlanTable,
    open_plan_file,
    pick_table,
    to_release,
)
from pages.plan.preview import preview
from pages.plan.questions import (
    MAX_EPSILON,
    earlier_questions,
    edit_questions,
    fill_compared,
    fill_errors,
    fill_pinned,
    initial_questions,
    questions_of,
    store_questions,
    target_of,
    undo,
)
from pages.plan.stored_plan import restore_opened_plan, store_plan
from pages.plan.synthetic_table import show_synthetic_table
from pages.shell.ledger.spent import spent_words
from pages.shell.private.data_in_use import escaped, link_to_data
from pages.shell.releasable import forget_plan, keep_plan
from pages.shell.request import show_code
from pages.shell.state import SessionKey
from pages.shell.status import unit_help, write_status
from pages.shell.tasks.jobs import in_background, stop
from pages.shell.tasks.memory import remember
from pages.shell.theorem import all_digits

BADGE = "theory and mock data: no values of your data"
SOLVE_REQUEST = SessionKey("plan_wish", ("", "", 0.0))
"""Goal, plan and total of a pressed button; also the key of its job."""
MIN_TOTAL, MAX_TOTAL = 0.01, 100.0
COSTS = SessionKey("plan_costs", 0.0)
"""The plan's cost when the total was typed."""
TOTAL = SessionKey("plan_total", 0.0)
"""The control of the total."""
FITTED = SessionKey("plan_fitted", "")
"""The control of a target for all statistics."""
NO_TARGET = "Type a ± such as 1% or 50 people, or a target behind “⋯”."
COMPARED = SessionKey[float | None]("plan_second_total", None)
"""The control of a second total, whose errors are compared."""
PINNED = SessionKey[Plan | None]("plan_pinned_plan", None)
"""A plan whose errors stand beside those of the one that is edited, whatever its table."""
FORECAST = " No error of synthetic rows is guaranteed before their release. Their dot is an expected error."
ONE_SUM = 1 - 1e-6
"""A plan below this share of the sum of its ε is charged as one Gaussian vector."""
SNIPPET = """from pathlib import Path

from dplab.measure import finish
from dprelease.plan.errors import predict
from dprelease.plan.questions import Plan
from dprelease.plan.shares import for_targets, for_total

plan = Plan.read(Path("plan.json").read_text())
print(plan.cost.sentence())
for question, errors in zip(plan.questions, finish(predict(plan))):
    print(question.columns, question.queries, errors.worst, errors.promised, "if n is right" * errors.if_n)

cheapest = finish(for_targets(plan)).plan    # the smallest ε that meets the targets
balanced = finish(for_total(plan, 1.0))      # ε = 1, divided so that errors are about the same multiple of targets
"""


def show_plan() -> None:
    """Draw the controls, run a pressed button's job, then show the plan's cost and errors."""
    head = st.container()
    if next_table := NEXT_TABLE.pop():
        TABLE.value = next_table
    restore_opened_plan()
    with st.sidebar:
        plan_table = pick_table()
        open_plan_file()
    questions = questions_of(plan_table)
    form, lines = st.tabs(["Add a statistic", "Paste statistics"])
    with form:
        add_question(plan_table, questions)
    with lines:
        paste_questions(plan_table, questions)
    if not questions:
        _show_empty(plan_table, head)
        return
    pinned, compared = PINNED.value, COMPARED.value
    heading = "± as pinned" if pinned else f"± at ε = {compared:g}" if compared else ""
    questions, cells = edit_questions(plan_table, questions, compared=heading)
    plan = plan_table.plan(questions)
    keep_plan(plan_table.key, plan)
    store_plan(plan_table, plan)
    action_row = _solve_buttons(plan_table, plan)
    _answer_request(plan_table, plan)
    cached_predictions: Predictions = remember("predicted", dict)
    predictions = _predict(plan, cached_predictions, place="predicted")
    fill_errors(plan, predictions, cells)
    if pinned:
        fill_pinned(plan, pinned, _predict(pinned, cached_predictions, place="compared"), cells)
    elif compared:
        other = _at_total(plan, compared)
        fill_compared(other, _predict(other, cached_predictions, place="compared"), cells)
    missed = missed_targets(plan, predictions)
    _chip(plan_table)
    with head:
        _show_cost(plan_table, plan)
    sum_of_epsilons = sum(plan.guarantee(question).epsilon for question in questions)
    if plan.cost.epsilon < sum_of_epsilons * ONE_SUM:
        st.caption(
            "All noise is Gaussian, so the plan is charged as one Gaussian vector. The sum would be ε = "
            f"{sum_of_epsilons:.3g}."
        )
    suggest_noise(plan_table, plan)
    changes_since_release(plan_table, plan)
    if missed:
        places = ", ".join(str(place + 1) for place in missed)
        st.caption(
            f"No theorem guarantees the target of statistic{'s' * (len(missed) > 1)} {places}."
            + (FORECAST if any(plan.questions[place].entry_key == WHOLE_TABLE for place in missed) else "")
        )
    if wide := wide_margins(plan, predictions):
        places = ", ".join(str(place + 1) for place in wide)
        st.caption(f"The margin of a group is above the target of statistic{'s' * (len(wide) > 1)} {places}.")
    picture = planned_errors(plan, predictions, titles=[question_title(plan.table, each) for each in questions])
    draw_with_table(picture, key="plan", badge=BADGE, title="errors of the plan", download=True)
    title, content = "Every mechanism, at every ε or n", partial(frontier, plan_table, plan)
    draw_while_open(title, key="plan_frontier", content=content)
    draw_while_open("Example of a release", key="plan_preview", content=partial(preview, plan))
    _offer_synthetic_table(plan_table, questions)
    show_code("The same in Python", key="plan_code", write=lambda: SNIPPET)
    with action_row:
        _undo_button(plan_table)
        st.button(
            "Pin this plan" if PINNED.value is None else "Unpin", key="plan_pin", on_click=PINNED.set,
            args=(plan if PINNED.value is None else None,),
            help="Keeps its ± as a second column, beside those of what you change, open or plan next.",
        )  # fmt: skip
        st.download_button(
            "Download the plan", lambda: plan.text, file_name="plan.json", mime="application/json",
            key="plan_download",  # made on a click: an interrupted run would delete a file that the browser requests
            help="The statistics with their mechanisms and ε. The file contains no rows.",
        )  # fmt: skip
        help_text = (
            "One release of all statistics, charged to the ledger. Until the data owner publishes it, it "
            "is a private preview."
        )
        if st.button("Release it", key="plan_release", help=help_text):
            to_release(plan_table, plan)


def _at_total(plan: Plan, epsilon: float) -> Plan:
    """Return the same plan at another total ε, each statistic with the same share of it."""
    factor = epsilon / plan.cost.epsilon
    return plan.with_losses({at: min(factor * each.epsilon, MAX_EPSILON) for at, each in enumerate(plan.questions)})


def _predict(plan: Plan, known: Predictions, *, place: str) -> list[Prediction]:
    """Predict the errors of a plan in the background."""
    key, label = f"planned|{plan.text.decode()}", "Predicting the error of every statistic."
    work = partial(predict, plan, known=known)
    return in_background(key, work, so_far=lambda: known_predictions(plan, known=dict(known)), label=label, place=place)


def _show_empty(plan_table: PlanTable, head: DeltaGenerator) -> None:
    """Draw a plan without statistics: what can be done first."""
    forget_plan(plan_table.key)
    if note := NOTE.pop():
        st.info(note)
    with head:
        st.header(f"Statistics of {_table_name(plan_table)} · protects {_protected_unit(plan_table)}")
        _chip(plan_table)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("No statistic yet: add one above.", width="content")
        load = partial(store_questions, plan_table, initial_questions(plan_table.table), reset_controls=True)
        st.button("Load an example", key="plan_example", on_click=load)
        _undo_button(plan_table)
    store_plan(plan_table, None)
    _offer_synthetic_table(plan_table, ())


def _offer_synthetic_table(plan_table: PlanTable, questions: Sequence[PlannedQuestion]) -> None:
    content = partial(show_synthetic_table, plan_table, questions)
    draw_while_open("A synthetic table", key="plan_whole", content=content)


def _undo_button(plan_table: PlanTable) -> None:
    """Draw the button that takes the last change back; none before a change."""
    if earlier_questions(plan_table):
        st.button("Undo", key="plan_undo", on_click=undo, args=(plan_table,), help="Takes the last change back.")


def _show_cost(plan_table: PlanTable, plan: Plan) -> None:
    """Draw the number of statistics, their cost, the budget of the rows' account and the unit of protection."""
    relation = plan.cost.relation
    account = planned_account(plan_table)
    budget = account.spent.budget if account and account.spent.budget.measure is BudgetMeasure.SUMS else None
    of_budget = f" of {budget.amount}" if budget else ""
    st.header(
        f"{plural(len(plan.questions), 'statistic')} of {_table_name(plan_table)} · "
        f"{plan.cost.sentence().removesuffix(f' ({relation})')}{of_budget} · "
        f"protects {_protected_unit(plan_table)}",
        help=f"{unit_help(plan.cost.neighbours, plan.cost.person_rows)} {all_digits(plan.cost) or ''}",
    )
    if account and budget:
        total = account.spent.spent + cost(plan.request(), account.registration)
        too_little = "" if total.within(budget) else " Too little is left."
        st.progress(
            min(1.0, total.epsilon_or_rho / max(1, budget.epsilon_or_rho)),
            f"Spent {spent_words(account.spent)}. With this plan: ε {total.amount}.{too_little}",
        )


def _table_name(plan_table: PlanTable) -> str:
    """Return the table's name in a header."""
    return plan_table.title.partition(" (")[0]


def _protected_unit(plan_table: PlanTable) -> str:
    table = plan_table.table
    return f"one person (up to {plural(table.person_rows, 'row')})" if table.person else "one row"


def _chip(plan_table: PlanTable) -> None:
    """Show the planned table in the top bar; an opened plan's table is not available here."""
    file = session_file() if plan_table.key == OWN_FILE else None
    if plan_table.key == OPENED:
        return
    kind = "Private" if file and file.provenance.is_private else "Public"
    n = f"{'assumed ' if plan_table.is_assumed else ''}n = {plan_table.n:,}"
    link_to_data(f"{kind} · {escaped(file.table.name if file else plan_table.title)} · {n}")
    write_status("")  # a plan shows no rows, whoever looks


def _solve_buttons(plan_table: PlanTable, plan: Plan) -> DeltaGenerator:
    """Draw the two buttons that compute ε; return the container beside them for further buttons."""
    costs = min(max(float(f"{plan.cost.epsilon:.4g}"), MIN_TOTAL), MAX_TOTAL)
    # Set in every run: the browser never receives a value that an interrupted run has set.
    TOTAL.value = TOTAL.value if TOTAL.is_set and COSTS.value == costs else costs
    COSTS.value = costs
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "± of each", key=FITTED, placeholder="as targets", max_chars=20, width=130,
            help="A target for all statistics: 1% of n or of their scale, 50 people for counts, or a margin in the "
                 "unit of statistics by group. Without it, each has its own target, behind “⋯”. Of counts it is for "
                 "the worst error, so that their ± becomes smaller.",
        )  # fmt: skip
        st.button(
            "Fit ±", key="plan_targets", type="primary", on_click=_request_fit, args=(plan_table, plan),
            disabled=all(each.pinned for each in plan.questions),
            help="Finds for each target the mechanism that meets it with the smallest ε, up to "
                 f"{HIGHEST:g}. A target that a theorem proves is met on all data; a simulated one is not proved. "
                 "Mechanisms with δ are used only for tables and values that already have a δ.",
        )  # fmt: skip
        st.number_input("Total ε", MIN_TOTAL, MAX_TOTAL, step=None, format="%g", key=TOTAL, width=110)
        st.button(
            "Fit ε", key="plan_share", on_click=_request_solve, args=("total",),
            help="Statistics with a fixed ε keep it. The others share the rest so that each error is about the "
                 f"same multiple of its target. No ε exceeds {GRID[-1]:g}.",
        )  # fmt: skip
        if PINNED.value is None:  # there is one second column
            st.number_input(
                "Compare with ε", MIN_TOTAL, MAX_TOTAL, None, step=None, format="%g", key=COMPARED, width=130,
                placeholder="none", help="Adds a second column with the ± at this total, divided in the same shares.",
            )  # fmt: skip
        return st.container(horizontal=True, width="content")


def _request_fit(plan_table: PlanTable, plan: Plan) -> None:
    """Callback: give all statistics the typed target, and request the smallest ε that meets all targets."""
    text = FITTED.value.strip()
    targets = [None if each.pinned else target_of(plan_table, each, text) for each in plan.questions]
    new = [
        each if target is None else replace(each, target=target)
        for each, target in zip(plan.questions, targets, strict=True)
    ]
    if (text and not any(targets)) or not any(each.target and not each.pinned for each in new):
        NOTE.value = NO_TARGET
        return
    if any(targets):
        store_questions(plan_table, new, reset_controls=True)
    _request_solve("targets")


def _request_solve(goal: str) -> None:
    SOLVE_REQUEST.value = goal, "", 0.0


def _answer_request(plan_table: PlanTable, plan: Plan) -> None:
    """Run a pressed button's job in the background; a change of the plan cancels it."""
    text = plan.text.decode()
    if note := NOTE.pop():
        SHOWN_NOTE.value = note, text
    elif SHOWN_NOTE.value[1] != text:
        SHOWN_NOTE.pop()
    if sentence := SHOWN_NOTE.value[0]:  # also in the runs that work in the background asks for
        st.info(sentence)
    goal, plan_text, total = SOLVE_REQUEST.value
    if goal and not plan_text:  # a new request
        plan_text, total = text, TOTAL.value if TOTAL.is_set else plan.cost.epsilon
        SOLVE_REQUEST.value = goal, plan_text, total
        stop(SOLVE_REQUEST)
    if plan_text != text:
        SOLVE_REQUEST.pop()
        stop(SOLVE_REQUEST)
        return
    try:
        solution = _solve(plan, goal, total)
    except ParameterError as problem:
        SOLVE_REQUEST.pop()
        st.error(str(problem))
        return
    if solution is not None:
        SOLVE_REQUEST.pop()
        if isinstance(solution, SolvedPlan):
            NOTE.value = _solution_sentence(solution)
        store_questions(
            plan_table, (solution.plan if isinstance(solution, SolvedPlan) else solution).questions, reset_controls=True
        )
        st.rerun()


def _solve(plan: Plan, goal: str, total: float) -> SolvedPlan | Plan | None:
    """Return the solution of a request; None while it runs. Intermediate results are kept for the next one."""
    text, label = plan.text.decode(), "Computing ε."
    if goal == "targets":
        ranked_mechanisms: Ranked = remember("ranked", dict)
        solver: Callable[[], Generator[float, None, SolvedPlan | Plan | None]] = partial(
            for_targets, plan, known=ranked_mechanisms
        )
    else:
        losses: Losses = remember("losses", dict)
        solver = partial(for_total, plan, total, known=losses)
    return in_background(f"{goal}|{total!r}|{text}", solver, so_far=lambda: None, label=label, place=SOLVE_REQUEST)


def _solution_sentence(solved: SolvedPlan) -> str:
    """Return a solution in one or two sentences."""
    target_count = sum(each.target is not None and not each.pinned for each in solved.plan.questions)
    met_count = target_count - len(solved.unmet)
    text = f"{met_count} target{'s' * (met_count != 1)} met with the smallest ε."
    if solved.confidence < 1:
        text += (
            f" Targets without a theorem are met in simulated releases, with {100 * solved.confidence:.0f}% confidence."
        )
    fitted = [each for each in solved.plan.questions if each.target is not None and not each.pinned]
    if any(not each.statistic and not each.quantity for each in fitted):
        text += " Of counts the target is for the largest of their errors: the ± of one number is smaller."
    if any(each.statistic for each in fitted):
        text += " Margins of statistics by group are predictions."
    if solved.unmet:
        places = ", ".join(str(place + 1) for place in solved.unmet)
        text += f" Up to ε = {HIGHEST:g}, no tried mechanism surely meets the target of "
        text += f"statistics {places}: they are" if len(solved.unmet) > 1 else f"statistic {places}: it is"
        text += " unchanged."
        if any(solved.plan.questions[place].entry_key == WHOLE_TABLE for place in solved.unmet):
            text += FORECAST
    return text
