"""Addresses that pages had before: a link made then opens what it opened, its controls as they were."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route

MOVED = {
    "start": "",
    "explore": "",
    "marginals": "tables",
    "robust": "one-number",
    "ask": "conversation",
    "limits": "learn",
    "halfspaces": "directions-workbench",
    "directions": "directions-workbench",
    "sparse": "random-privacy-workbench",
    "random-privacy": "random-privacy-workbench",
}
"""Where each went, below the app's own address; the empty one is the first page."""
LESSONS = {"halfspaces": "directions", "directions": "directions", "sparse": "random", "random-privacy": "random"}
"""Lessons to which such an address leads that says nothing more; with settings it opens the page that has them all."""


def routes(base: str) -> list[Route]:
    """One for each address that moved, for an app served below `base`."""
    return [Route(f"{base.rstrip('/')}/{old}", _sent_to(old)) for old in MOVED]


def _sent_to(old: str) -> Callable[[Request], RedirectResponse]:
    def answer(request: Request) -> RedirectResponse:
        query = f"?{request.url.query}" if request.url.query else ""
        new = f"learn?lesson={LESSONS[old]}" if old in LESSONS and not query else f"{MOVED[old]}{query}"
        return RedirectResponse(f"./{new}")  # relative: a proxy may have the app below another path

    return answer
