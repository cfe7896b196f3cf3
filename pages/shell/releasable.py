"""What Play, a page beside it, or Plan showed last, as it may be released on the page Release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpcore.core import Entry, Queries
from dpcore.data.sources import Source
from dplab.recipe import Recipe
from dprelease.plan.questions import Plan
from pages.shell.state import SessionKey


@dataclass(frozen=True, kw_only=True)
class OnPage:
    """A statistic that a page beside Play shows, as it may be released.

    Attributes:
        place: the page's title.
        source: the rows themselves, also where mock data are shown in their place.
        queries: their class of queries.
        entry: of the catalogue.
        values: the mechanism's parameters.
    """

    place: str
    source: Source
    queries: Queries
    entry: Entry
    values: Mapping[str, Any]


SHOWN, ELSEWHERE = SessionKey[Recipe | None]("shown", None), SessionKey[OnPage | None]("shown_elsewhere", None)
"""What Play showed last, and what a page beside it did."""
PLAN_SHOWN = SessionKey[tuple[str, Plan] | None]("plan_shown", None)
"""What Plan showed last, and the key of its table."""
SHOWN_LAST = SessionKey[str | None]("shown_last", None)
"""Which of the three was shown last."""


def keep_shown(recipe: Recipe) -> None:
    """Note what Play shows."""
    SHOWN.value, SHOWN_LAST.value = recipe, "play"


def keep_on_page(shown_here: OnPage) -> None:
    """Note what a page beside Play shows."""
    ELSEWHERE.value, SHOWN_LAST.value = shown_here, "elsewhere"


def keep_plan(table: str, plan: Plan) -> None:
    """Note what Plan shows, of a table by its key."""
    PLAN_SHOWN.value, SHOWN_LAST.value = (table, plan), "plan"


def forget_plan(table: str) -> None:
    """Note that Plan shows no statistic of a table."""
    if PLAN_SHOWN.value and PLAN_SHOWN.value[0] == table:
        PLAN_SHOWN.pop()


def place_key(page: OnPage) -> str:
    """Return the key of Release's control between what this page shows and what Play or Plan does."""
    return f"release_place-{page.place}-{SHOWN_LAST.value}"


def query_on_release() -> OnPage | None:
    """Return what a page beside Play showed, if the user releases that, by the control's last value."""
    page = ELSEWHERE.value
    if page is None:
        return None
    page_option, first = f"What {page.place} shows", SHOWN_LAST.value == "elsewhere"
    chosen = SessionKey(place_key(page), page_option if first else "").value
    return page if chosen == page_option else None
