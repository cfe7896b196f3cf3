"""A plan survives a reload: the tab stores its file, which is public, and restores it for the same table."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpcore.core import ParameterError
from dprelease.plan.questions import Plan
from pages.data.engines import is_engine_table
from pages.data.picker import OWN_FILE
from pages.data.tab_storage import PLAN_ITEM, TabItem
from pages.data.upload import session_file
from pages.plan.plan_table import MAX_BYTES, NOTE, OPENED, PLAN_OPENED, TABLE, PlanTable, open_plan
from pages.plan.questions import refusal_reason, store_questions
from pages.shell.private.data_in_use import escaped
from pages.shell.state import SessionKey, set_controls

MAX_N = 10**9
"""Largest public n of the control on this page."""
LINKED = SessionKey("plan_linked", False)
"""Whether the link named the opened plan while this session had none: it was opened before a reload."""
RESTORED = "Your plan is restored. Check it."


def store_plan(plan_table: PlanTable, plan: Plan | None) -> None:
    """Store the plan that is shown in the tab; if this session has had none, restore that of the same table."""
    file = session_file() if plan_table.key == OWN_FILE else None
    if file is not None and is_engine_table(file):
        return  # the next user of the tab may have no right to see a database's columns
    text = plan.text.decode() if plan else ""
    item = _item(plan_table.key, file.table.name if file else "")
    item.store(text, at_most=MAX_BYTES, on_restored=partial(_restore, plan_table))


def restore_opened_plan() -> None:
    """Restore the plan that was opened from a file if the link names it; called before the table is selected."""
    if PLAN_OPENED.value is None:
        LINKED.value |= st.query_params.get(TABLE) == OPENED
        if LINKED.value:
            _item(OPENED, "").store("", at_most=MAX_BYTES, on_restored=_restore_opened)


def _item(key: str, name: str) -> TabItem:
    return TabItem(item=f"{PLAN_ITEM}-{key}", key=f"plan_tab_{key}", name=name)


def _restore(plan_table: PlanTable, stored: str) -> None:
    """Callback: plan what the tab stored, as far as the table still has its columns."""
    plan = _read(stored)
    if plan is None:
        return
    fitting = [each for each in plan.questions if not refusal_reason(plan_table, each)]
    set_controls({"confidence": f"{100 * plan.level:g}"})
    if plan.n <= MAX_N:
        set_controls({f"plan_n_{plan_table.key}": plan.n})
    store_questions(plan_table, fitting, reset_controls=True)
    NOTE.value = RESTORED
    if len(fitting) < len(plan.questions):
        NOTE.value = (
            f"{len(fitting)} of {len(plan.questions)} statistics are restored. The others do not fit the table."
        )


def _restore_opened(stored: str) -> None:
    """Callback: open the plan that the tab stored."""
    if (plan := _read(stored)) is not None:
        open_plan(plan, note=RESTORED)


def _read(stored: str) -> Plan | None:
    """Return the plan that the tab stored, which may be anything; if it is none, say so."""
    try:
        return Plan.read(stored[:MAX_BYTES])
    except ParameterError as problem:
        NOTE.value = f"The plan in this tab is not restored. {escaped(str(problem))}"
        return None
