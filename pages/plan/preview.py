"""Preview of a release of one statistic of a plan, on mock data."""

from __future__ import annotations

import streamlit as st

from dpcore.core.safe_csv import escape_frame
from dpcore.data.product import is_map
from dprelease.plan.errors import QuestionRehearsal, rehearse_question
from dprelease.plan.questions import Plan
from dprelease.plan.titles import question_title
from pages.charts.component import draw
from pages.charts.histogram import histogram, playable_releases
from pages.charts.maps import MAX_FRAMES, released_map
from pages.shell.controls import audit_link
from pages.shell.tasks.memory import remember

SEED = 1
MAX_ROWS = 500
BADGE = f"mock data · released: simulated, preview sampler, seed {SEED}"


def preview(plan: Plan) -> None:
    """Draw mock data and their simulated releases for one statistic, only while the expander is open."""
    expander = st.expander("Example of a release", key="plan_preview", on_change="rerun")
    if not expander.open:
        return
    with expander:
        chosen = st.selectbox(
            "Statistic", range(len(plan.questions)), key="plan_previewed",
            format_func=lambda at: f"{at + 1}. {question_title(plan.table, plan.questions[at])}",
        )  # fmt: skip
        question = plan.questions[chosen]
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
