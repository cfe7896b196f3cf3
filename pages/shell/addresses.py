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
    "halfspaces": "directions",
    "sparse": "random-privacy",
}
"""Where each went, below the app's own address; the empty one is the first page."""


def routes(base: str) -> list[Route]:
    """One for each address that moved, for an app served below `base`."""
    return [Route(f"{base.rstrip('/')}/{old}", _sent_to(new)) for old, new in MOVED.items()]


def _sent_to(new: str) -> Callable[[Request], RedirectResponse]:
    def answer(request: Request) -> RedirectResponse:
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"./{new}{query}")  # relative: a proxy may have the app below another path

    return answer
