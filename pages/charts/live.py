"""A slider that updates pictures in the browser, from states that were sent for each of its stops."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages.charts.picture import Picture
from pages.charts.plotly import FRAME_KEYS, render
from pages.charts.script import LIVE, declare_component
from pages.shell.state import SessionKey

HOVER_KEYS = frozenset({"hovertext", "hovertemplate", "customdata", "ids"})
"""Trace keys for hovering and clicking, which are not needed while a slider moves."""
TRACE_KEYS, LAYOUT_KEYS = {*FRAME_KEYS, "zmax"}, {"shapes", "annotations", "xaxis", "yaxis", "xaxis2", "yaxis2"}
"""Keys of traces and of layouts that may differ between stops."""
MAX_BYTES = 300_000
"""Maximum size of the encoded states of all stops; larger ones are not sent."""


def _module_script(function: str) -> str:
    """Return JavaScript that calls a function of live.js, which the launcher serves."""
    return f"""
const module = (async () => import(new URL("{LIVE}", document.baseURI)))();
export default function (component) {{
  module.then((live) => live.{function}(component));
  return () => module.then((live) => live.forget(component.parentElement));
}}
"""


CSS = (Path(__file__).resolve().parent / "live.css").read_text(encoding="utf-8")
_slider = declare_component(
    "dpscope.slider",
    html="<div class='dpscope-slide'><span class='dpscope-less'></span><output></output>"
    "<span class='dpscope-more'></span><input type='range' min='0' step='1'></div>",
    css=CSS,
    js=_module_script("slider"),
)
_line = declare_component(
    "dpscope.line", html="<h1 class='dpscope-line' data-text></h1>", css=CSS, js=_module_script("line")
)
_states = declare_component("dpscope.states", html="<span hidden></span>", js=_module_script("hold"))


def live_slider(
    *, key: str, label: str, symbol: str, value: float, stops: Sequence[float], ends: tuple[str, str],
    on_rest: Callable[[float], None],
) -> None:  # fmt: skip
    """Draw a slider over stops; ``on_rest`` is called with the stop at which it is released.

    Args:
        key: of the slider on the page.
        label: its accessible name.
        symbol: printed before its value.
        value: its value; between two stops the nearest one is marked.
        stops: positive values, in increasing order.
        ends: texts at its left and its right end.
        on_rest: callback, before the next run.
    """

    def rested() -> None:
        stop = SessionKey[Any](key, None).value.rested
        if stop in stops:  # the browser's value is not trusted
            on_rest(float(stop))

    nearest = min(range(len(stops)), key=lambda place: abs(stops[place] / value - 1))
    _slider(
        key=key,
        data={
            "label": label,
            "symbol": symbol,
            "stops": [*stops],
            "place": nearest,
            "value": value,
            "less": ends[0],
            "more": ends[1],
        },
        on_rested_change=rested,
    )


def live_line(
    text: str, *, key: str, can_drag: bool = True, rows: int = 0, row_stops: Sequence[int] = (),
    on_rows: Callable[[int], None] = lambda _: None,
) -> None:  # fmt: skip
    """Draw the page's headline, which follows the slider, and whose ε and number of rows can be dragged.

    Args:
        text: the headline.
        key: of the headline on the page.
        can_drag: whether the page has a slider of ε.
        rows: the number of rows in the text; 0 where it is fixed.
        row_stops: numbers of rows that may be chosen.
        on_rows: callback with the chosen one, before the next run.
    """

    def rested() -> None:
        chosen = SessionKey[Any](key, None).value.rows
        if chosen in row_stops:  # the browser's value is not trusted
            on_rows(int(chosen))

    data = {"key": key, "text": text, "can_drag": can_drag}
    if rows in row_stops:
        data["rows"] = {"value": rows, "stops": [*row_stops]}
    _line(key=key, data=data, on_rows_change=rested)


def encode_states(
    pictures: Mapping[str, Sequence[Picture]], texts: Mapping[str, Sequence[str]], *, badge: str, dark: bool
) -> Any:
    """Return the compressed figures at each stop by chart key; None if they are too large to be sent.

    Values that occur at several stops are sent once: a figure holds indices into a pool of values.
    """
    pool: dict[str, int] = {}

    def place(value: Any) -> int:
        return pool.setdefault(json.dumps(value, ensure_ascii=False, separators=(",", ":")), len(pool))

    charts: dict[str, list[dict[str, Any]]] = {}
    for key, states in pictures.items():
        charts[key] = []
        for picture in states:
            drawn = render(picture, badge=badge, dark=dark, played=False)
            traces = [
                [
                    place({name: value for name, value in trace.items() if name not in HOVER_KEYS | TRACE_KEYS}),
                    {name: place(value) for name, value in trace.items() if name in TRACE_KEYS - HOVER_KEYS},
                ]
                for trace in drawn.data
            ]
            still = {name: value for name, value in drawn.layout.items() if name not in LAYOUT_KEYS}
            layout = [place(still), {name: place(drawn.layout[name]) for name in LAYOUT_KEYS & {*drawn.layout}}]
            charts[key].append({"data": traces, "layout": layout})
    document = json.dumps({"pool": [json.loads(value) for value in pool], "charts": charts, "texts": {**texts}})
    encoded = b64encode(zlib.compress(document.encode())).decode()
    return {"deflated": encoded} if len(encoded) <= MAX_BYTES else None


def live_states(states: Any, *, key: str, on_request: Callable[[], None] | None = None) -> None:
    """Send the states of pictures at each stop; empty states revoke those that were sent before.

    With ``on_request`` the browser asks for them when it has drawn the page, and that is called before the next run.
    """
    _states(key=key, data={"asks": True} if on_request else states or {}, on_wanted_change=on_request or (lambda: None))
