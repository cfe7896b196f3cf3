"""The chart library as it is served: the part that is carried is of the installed version, as its makers made it."""

from __future__ import annotations

import gzip
import hashlib
from importlib.resources import files

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.charts.script import CARTESIAN_FILE, FOREVER, FULL_LIBRARY, LIBRARY, LIVE, MODULE, ROUTES
from tests import ROOT
from tests.kit import ran, searched

PART = gzip.decompress(CARTESIAN_FILE.read_bytes())


def version_in(code: bytes) -> str:
    """What a bundle says of itself on top."""
    match = searched(r"plotly\.js .*?v([0-9.]+)", code[:200].decode())
    return match[1]


def test_the_part_that_is_carried_is_of_the_version_that_is_installed() -> None:
    whole = files("plotly").joinpath("package_data/plotly.min.js").read_bytes()
    assert version_in(PART) == version_in(whole), "take the new part too: assets/SOURCES.md says from where"
    assert len(PART) < len(whole) / 3


def test_the_part_is_what_its_makers_published() -> None:
    sources = (ROOT / "assets" / "SOURCES.md").read_text(encoding="utf-8")
    (line,) = [line for line in sources.splitlines() if line.startswith(f"| {CARTESIAN_FILE.name} ")]
    assert f" {version_in(PART)} " in line and hashlib.sha256(PART).hexdigest() in line and "MIT" in line


def answer(route: Route, takes: str) -> Response:
    """To a browser that takes this encoding."""
    scope = {"type": "http", "method": "GET", "path": route.path, "headers": [(b"accept-encoding", takes.encode())]}
    found = ran(route.endpoint(Request(scope)))
    assert isinstance(found, Response)
    return found


@pytest.mark.parametrize("address", [LIBRARY, FULL_LIBRARY, MODULE, LIVE])
def test_scripts_come_compressed_to_who_takes_that_and_the_same_to_who_does_not(address: str) -> None:
    (route,) = (each for each in ROUTES if each.path == f"/{address}")
    plain, packed = answer(route, "identity"), answer(route, "gzip, br")
    assert gzip.decompress(bytes(packed.body)) == plain.body and len(plain.body) > 2 * len(packed.body)
    assert packed.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert plain.headers["vary"] == "Accept-Encoding" and plain.headers["content-type"].startswith("text/javascript")
    assert (plain.headers["cache-control"] == FOREVER) == (address in (LIBRARY, FULL_LIBRARY))
