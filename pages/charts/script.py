"""Routes that serve the chart library from this app, compressed once and cached by browsers."""

from __future__ import annotations

import asyncio
import gzip
from functools import cache, partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

HERE = Path(__file__).resolve().parent
CARTESIAN_FILE = HERE.parents[1] / "assets" / "plotly-cartesian.min.js.gz"
"""Plotly's own cartesian bundle, a third of the full library."""
FOREVER = "public, max-age=31536000, immutable"
FOLDER = f"charts-{version('plotly')}"
"""First part of the addresses, which contains the library's version."""
LIBRARY, FULL_LIBRARY, MODULE, LIVE = (
    f"{FOLDER}/{name}" for name in ("plotly-cartesian.min.js", "plotly.min.js", "chart.js", "live.js")
)


declare_component = partial(st.components.v2.component, isolate_styles=False)
"""Declares a component that has the styles of the page."""


@cache
def _content(address: str) -> bytes:
    """Return a script's content, compressed with gzip."""
    if address == LIBRARY:
        return CARTESIAN_FILE.read_bytes()
    if address == FULL_LIBRARY:  # for the few three-dimensional pictures
        return gzip.compress(files("plotly").joinpath("package_data/plotly.min.js").read_bytes(), compresslevel=6)
    return gzip.compress((HERE / address.rpartition("/")[2]).read_bytes())


async def _serve(address: str, request: Request) -> Response:
    """Serve a script, compressed if the browser accepts gzip."""
    content = await asyncio.to_thread(_content, address)
    headers = {
        "Cache-Control": FOREVER if address in (LIBRARY, FULL_LIBRARY) else "no-cache",
        "Vary": "Accept-Encoding",
    }
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        content = gzip.decompress(content)
    return Response(content, media_type="text/javascript", headers=headers)


ROUTES = [Route(f"/{address}", partial(_serve, address)) for address in (LIBRARY, FULL_LIBRARY, MODULE, LIVE)]
"""Routes that the launcher adds to the app."""
