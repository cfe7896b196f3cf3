"""Conversation: one question at a time, answered for nothing from a belief, or from the data at a price."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataError, ParameterError
from pages.conversation.workbench import ask
from pages.shell.session import require_gate
from pages.shell.status import rail
from pages.shell.theorem import lead

require_gate()
beside, head = rail(), st.container(horizontal=True, vertical_alignment="center", key="page_head")
with head:
    st.title("Conversation", width="content")
    lead(
        "All of it, however many questions, costs one ε.",
        "Each question may depend on the answers so far. The mechanism **guesses** from what it has said before, and "
        "checks privately whether the guess is near enough. If it is, the answer is **free**. If not, the answer comes "
        "from the data and is **paid for** with one of a fixed number of updates.",
    )
try:
    ask(beside)
except (DataError, ParameterError) as problem:
    st.error(str(problem))
