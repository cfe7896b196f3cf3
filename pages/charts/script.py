"""The chart library as this app serves it: compressed once, kept by browsers, from this machine alone."""

from __future__ import annotations

import gzip
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

HERE = Path(__file__).resolve().parent
FOREVER = "public, max-age=31536000, immutable"
FOLDER = f"charts-{version('plotly')}"
"""First part of the addresses; a new version of the library has a new one."""
LIBRARY, MODULE, LIVE = (f"{FOLDER}/{name}" for name in ("plotly.min.js", "chart.js", "live.js"))


@cache
def _library() -> bytes:
    """Plotly's own bundle, compressed."""
    return gzip.compress(files("plotly").joinpath("package_data/plotly.min.js").read_bytes(), compresslevel=6)


@cache
def _module(name: str) -> bytes:
    """Our own few lines, compressed."""
    return gzip.compress((HERE / name).read_bytes())


def warm_up() -> None:
    """Compress all of it before the first visitor asks."""
    _library()
    for address in (MODULE, LIVE):
        _module(address.rpartition("/")[2])


def _answer(content: bytes, request: Request, *, caching: str) -> Response:
    """A script, compressed where the browser takes that."""
    headers = {"Cache-Control": caching, "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(content, media_type="text/javascript", headers={**headers, "Content-Encoding": "gzip"})
    return Response(gzip.decompress(content), media_type="text/javascript", headers=headers)


async def _serve_library(request: Request) -> Response:
    return _answer(_library(), request, caching=FOREVER)


async def _serve_module(request: Request) -> Response:
    return _answer(_module(request.url.path.rpartition("/")[2]), request, caching="no-cache")


ROUTES = [
    Route(f"/{LIBRARY}", _serve_library),
    Route(f"/{MODULE}", _serve_module),
    Route(f"/{LIVE}", _serve_module),
]
"""For the launcher."""
