"""The chart library as this app serves it: compressed once, kept by browsers, from this machine alone."""

from __future__ import annotations

import asyncio
import gzip
from functools import cache, partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

HERE = Path(__file__).resolve().parent
CARTESIAN_FILE = HERE.parents[1] / "assets" / "plotly-cartesian.min.js.gz"
"""The part of the library, of its makers' making, that draws pictures in the plane: a third of the whole."""
FOREVER = "public, max-age=31536000, immutable"
FOLDER = f"charts-{version('plotly')}"
"""First part of the addresses; a new version of the library has a new one."""
LIBRARY, FULL_LIBRARY, MODULE, LIVE = (
    f"{FOLDER}/{name}" for name in ("plotly-cartesian.min.js", "plotly.min.js", "chart.js", "live.js")
)


@cache
def _content(address: str) -> bytes:
    """A script, compressed."""
    if address == LIBRARY:
        return CARTESIAN_FILE.read_bytes()
    if address == FULL_LIBRARY:  # for the few pictures in space
        return gzip.compress(files("plotly").joinpath("package_data/plotly.min.js").read_bytes(), compresslevel=6)
    return gzip.compress((HERE / address.rpartition("/")[2]).read_bytes())


async def _serve(address: str, request: Request) -> Response:
    """A script, compressed where the browser takes that."""
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
"""For the launcher."""
