"""A slider that pictures follow under the finger, from states of them that were sent for each of its stops."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from pages.charts.picture import Picture
from pages.charts.plotly import FRAME_KEYS, render
from pages.charts.script import LIVE
from pages.shell.state import SessionKey

HOVER_KEYS = frozenset({"hovertext", "hovertemplate", "customdata", "ids"})
"""What pointing and clicking need: nobody does either while a slider moves."""
TRACE_KEYS, LAYOUT_KEYS = {*FRAME_KEYS, "zmax"}, {"shapes", "annotations", "xaxis", "yaxis", "xaxis2", "yaxis2"}
"""What differs between the traces and between the layouts of stops."""
MAX_BYTES = 300_000
"""Of the states of all stops as they are sent; larger ones are not."""


def _module_script(function: str) -> str:
    """JavaScript that hands a component to our module, which the launcher serves."""
    return f"""
const module = (async () => import(new URL("{LIVE}", document.baseURI)))();
export default function (component) {{
  module.then((live) => live.{function}(component));
  return () => module.then((live) => live.forget(component.parentElement));
}}
"""


CSS = """
.dpscope-slide { display: grid; grid-template-columns: 1fr auto 1fr; font-size: 0.8125rem; }
.dpscope-slide input { grid-column: 1 / 4; width: 100%; height: 1.75rem; margin: 0; touch-action: pan-y;
  appearance: none; cursor: pointer; border-radius: 1rem;
  background: linear-gradient(to right, var(--st-primary-color) var(--done), var(--st-border-color) var(--done))
    center / 100% 5px no-repeat; }
.dpscope-slide input::-webkit-slider-thumb { appearance: none; width: 22px; height: 22px; border-radius: 50%;
  background: var(--st-primary-color); border: 3px solid var(--st-background-color); }
.dpscope-slide input::-moz-range-thumb { width: 16px; height: 16px; border-radius: 50%;
  background: var(--st-primary-color); border: 3px solid var(--st-background-color); }
.dpscope-slide output { font-weight: 600; color: var(--st-primary-color); font-size: 0.9375rem; }
.dpscope-more { text-align: right; }
.dpscope-line { margin: 0; font-size: 1.25rem; font-weight: 600; line-height: 1.3; }
"""
_slider = st.components.v2.component(
    "dpscope.slider",
    html="<div class='dpscope-slide'><span class='dpscope-less'></span><output></output>"
    "<span class='dpscope-more'></span><input type='range' min='0' step='1'></div>",
    css=CSS,
    js=_module_script("slider"),
    isolate_styles=False,
)
_line = st.components.v2.component(
    "dpscope.line",
    html="<h1 class='dpscope-line' data-text></h1>",
    css=CSS,
    js=_module_script("line"),
    isolate_styles=False,
)
_states = st.components.v2.component(
    "dpscope.states", html="<span hidden></span>", js=_module_script("hold"), isolate_styles=False
)


def live_slider(
    *, key: str, label: str, symbol: str, value: float, stops: Sequence[float], ends: tuple[str, str],
    on_rest: Callable[[float], None],
) -> None:  # fmt: skip
    """A slider over stops; ``on_rest`` is called with one, before the next run, when the slider has come to rest there.

    Args:
        key: of the slider on the page.
        label: its name.
        symbol: stands before its value.
        value: where it is; between stops, the nearest is marked.
        stops: positive, rising by about equal factors.
        ends: words at its left and its right end.
        on_rest: what to do.
    """

    def rested() -> None:
        stop = SessionKey[Any](key, None).value.rested
        if stop in stops:  # what a browser sends may be anything
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


def live_line(text: str, *, key: str) -> None:
    """The page's headline, which follows the slider as pictures do."""
    _line(key=key, data={"key": key, "text": text})


def encode_states(
    pictures: Mapping[str, Sequence[Picture]], texts: Mapping[str, Sequence[str]], *, badge: str, dark: bool
) -> Any:
    """Figures at each stop by the key of their chart, deflated; None where they are too large to be sent.

    What is the same at several stops is drawn once: a figure holds places in a pool of values.
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
    """Send what pictures look like at each stop; nothing takes back what was sent before.

    With ``on_request`` the browser asks for them when it has drawn the page, and that is called before the next run.
    """
    _states(key=key, data={"asks": True} if on_request else states or {}, on_wanted_change=on_request or (lambda: None))
