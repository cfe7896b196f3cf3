"""Conversation: one question at a time, answered for nothing from a belief, or from the data at a price."""

from __future__ import annotations

from pages.conversation.workbench import CONVERSATION

CONVERSATION.run()
