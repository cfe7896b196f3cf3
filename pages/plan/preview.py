"""Preview of a release of one statistic of a plan, on mock data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from dpcore.core.safe_csv import escape_frame
from dpcore.data.product import is_map
from dplab.sweep import EPSILON_GRID
from dprelease.downloads.statistics import printable_shares, printed_table
from dprelease.plan.errors import QuestionRehearsal, rehearse_question
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.plan.titles import question_title
from dprelease.requests.parts import Request
from dprelease.requests.work import request_seconds
from pages.charts.component import draw
from pages.charts.histogram import histogram, playable_releases
from pages.charts.maps import MAX_FRAMES, released_map
from pages.charts.picture import Axis, Curve, Picture, Rule
from pages.charts.words import percent, short_numbers
from pages.shell.controls import audit_link
from pages.shell.tasks.memory import remember

if TYPE_CHECKING:
    import pandas as pd

SEED = 1
MAX_ROWS = 500
MAX_SECONDS = 10.0
"""Estimated time that an example's intervals may take; beyond it the released numbers are shown without them."""
BADGE = f"mock data · released: simulated, preview sampler, seed {SEED}"


def preview(plan: Plan) -> None:
    """Draw mock data and their simulated releases for one statistic, only while the expander is open."""
    chosen = st.selectbox(
        "Statistic", range(len(plan.questions)), key="plan_previewed",
        format_func=lambda at: f"{at + 1}. {question_title(plan.table, plan.questions[at])}",
    )  # fmt: skip
    question = plan.questions[chosen]
    if question.statistic and (printed := _printed(plan, question)) is not None:
        labels = escape_frame(printed[["group"]].head(MAX_ROWS))  # the other texts are this program's own
        st.dataframe(printed.head(MAX_ROWS).assign(group=labels["group"]), height=240, hide_index=True)
        st.caption(f"{BADGE}. As a report prints it: each number ± its margin, and no group of too few rows.")
        if question.by and question.releases == "groups":
            draw(_printable(plan, question), key="plan_printable_chart", badge=BADGE)
        return
    rehearsal = remember(
        f"rehearsed|{chosen}|{plan.text.decode()}", lambda: rehearse_question(plan, question, seed=SEED)
    )
    if not isinstance(rehearsal, QuestionRehearsal):
        table = escape_frame(rehearsal.drop(columns="trial", errors="ignore").head(MAX_ROWS))
        st.dataframe(table, height=240, hide_index=True)
        st.caption(f"{BADGE}. The table contains no values of your data.")
        return
    domain = plan.problem(question).domain
    options = {"limit": MAX_FRAMES} if is_map(domain) else {}
    frames = playable_releases(rehearsal.frames, n=plan.n, clean=False, **options)
    truth = rehearsal.rows.histogram
    if is_map(domain):
        picture = released_map(domain=domain, n=plan.n, truth=truth, frames=frames)
    else:
        picture = histogram(domain=domain, n=plan.n, truth=truth, frames=frames)
    draw(picture, key="plan_preview_chart", badge=BADGE, download=True)
    audit_query = audit_link(question.entry, {**question.values, "epsilon": question.epsilon}, plan.neighbours)
    st.page_link("learn/page.py", label="Test this privacy claim", query_params=audit_query)
    st.caption("“True” means mock data with your declared columns. The picture contains no values of your data.")


def _printable(plan: Plan, question: PlannedQuestion) -> Picture:
    """Return the share of groups that a report prints against ε, of mock data."""
    part = plan.part(question)
    request = Request(parts=(part,), level=plan.level)
    shares = remember(f"printable|{request.digest}", lambda: printable_shares(part, EPSILON_GRID))
    now = float(np.interp(np.log(question.epsilon), np.log(EPSILON_GRID), shares))
    return Picture(
        title="Share of groups that are printed",
        x=Axis(title="ε of this statistic", log=True),
        y=Axis(title="groups printed", low=0.0, high=1.0, form=".0%"),
        marks=[
            Curve(role=f"mechanism:{question.entry_key}", name="groups printed", x=np.array(EPSILON_GRID), y=shares),
            Rule(role="ink", x=question.epsilon, label=f"ε = {question.epsilon:g}", dash="dot"),
        ],
        sentence=f"At ε = {question.epsilon:g}, about {percent(now)} of the groups have enough rows to be printed.",
        table={"ε": list(EPSILON_GRID), "groups printed": short_numbers(shares)},
        height=220,
    )  # fmt: skip


def _printed(plan: Plan, question: PlannedQuestion) -> pd.DataFrame | None:
    """Return the table of a statistic by group as a report prints it, of mock data; None where it is not known soon."""
    part = plan.part(question)
    request = Request(parts=(part,), level=plan.level)
    if request_seconds(request) > MAX_SECONDS:  # its intervals take that long, and nothing could stop them
        return None
    digest = request.digest
    return remember(f"printed|{digest}", lambda: printed_table(part, digest=digest))
