"""Presentation mode: one chart, one slider, the theorem and a QR code of the link, large enough for a wall.

The page runs as usual, hidden; the parts of a presentation are drawn in its container instead, so that no page is
written twice. A page without a chart for it, as for private data, offers no button and presents nothing. While the link
asks for a presentation, the steward's switch counts as off (`pages.shell.private.steward.asks_for_true_values`), and
when it ends the switch is off (`end_steward_after_presentation`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shell.server.host_origin import LOCAL_HOSTS

KEY = "present"
"""Parameter of the link."""
CHARTS = (
    "data_chart", "released_map", "marginals_errors_chart", "tables_all_chart", "robust_chance_chart",
    "robust_mean_chart", "ask_map_chart", "halfspaces_circle_chart", "sparse_loss_chart", "printed_run_chart",
)  # fmt: skip
"""Charts that may be presented: the first of these that the page draws, or one that `allow_in_presentation` adds."""
NO_BUTTON = "<style>.dpscope-present { display: none; }</style>"
"""Hides the button that starts a presentation."""
STYLE = (Path(__file__).resolve().parent / "presentation.css").read_text(encoding="utf-8")
Part = Literal["title", "chart", "guess", "reveal", "slider", "theorem"]


@dataclass(kw_only=True)
class Presentation:
    """The presentation of this run.

    Attributes:
        parts: where each part is drawn.
        chart: key of the chart that is presented; empty until one is drawn.
        charts: keys of the charts that may be.
        outside: parts that stay on the page for now.
        extra_height: pixels that the chart may have besides the usual ones.
        is_split: something else stands beside the chart, in place of the link's code.
    """

    parts: dict[Part, DeltaGenerator]
    chart: str = ""
    charts: set[str] = field(default_factory=lambda: set(CHARTS))
    outside: set[Part] = field(default_factory=set)
    extra_height: int = 0
    is_split: bool = False


_presentation: ContextVar[Presentation | None] = ContextVar("presentation of this run", default=None)
_presentable: ContextVar[list[str] | None] = ContextVar("charts of this run that may be presented", default=None)


def is_presenting() -> bool:
    """Return whether this run is a presentation."""
    return _presentation.get() is not None


def presentation_requested() -> bool:
    """Return whether the link asks for a presentation."""
    return st.query_params.get(KEY) == "1"


def exclude_from_presentation() -> None:
    """Bar all charts of this run from a presentation: the page shows true values of private rows."""
    presentable = _presentable.get()
    if presentable is not None:
        presentable.clear()
    _presentable.set(None)


def start_presentation() -> None:
    """Ask for a presentation in the link."""
    st.query_params[KEY] = "1"


def end_presentation() -> None:
    """Remove the presentation from the link."""
    st.query_params.pop(KEY, None)


@contextmanager
def presentation_container(title: str, *, leave: Callable[[], None]) -> Iterator[None]:
    """Run a page inside this context; present it under this title if the link asks for that.

    Where there is nothing to present, the page runs again as usual; ``leave`` is called before.
    """
    if not presentation_requested():
        _presentation.set(None)
        presentable = list[str]()
        _presentable.set(presentable)
        yield
        if not presentable:
            st.html(NO_BUTTON)
        return
    with st.container(key="presentation"):
        head, corner = st.columns([4, 1], vertical_alignment="center")
        parts: dict[Part, DeltaGenerator] = {"title": head.empty(), "chart": st.container(key="presentation_chart")}
        below, aside = st.columns([4, 1])
        parts |= {"guess": below.container(key="presentation_guess"), "reveal": below.container(horizontal=True)}
        parts |= {"slider": below.container(key="presentation_slider"), "theorem": below.container()}
    presentation = Presentation(parts=parts)
    _presentation.set(presentation)
    set_title(title)
    with st.container(key="outside_presentation"):
        yield
    if not presentation.chart:  # a hidden page leaves out its other charts, so it is shown as usual instead
        end_presentation()
        leave()
        st.rerun()
    st.html(f"<style>{STYLE}</style>")
    corner.button("End (Esc)", on_click=end_presentation)
    if not presentation.is_split:
        with aside:
            st.html(qr_code(link(), alt="QR code of the link to this page"))
    if urlsplit(link()).hostname in LOCAL_HOSTS:
        phones = " Phones cannot open it." if presentation.is_split else ""
        (below if presentation.extra_height else aside).caption("The link works on this machine only." + phones)


def set_title(text: str) -> None:
    """Set the title of a presentation, in a few words."""
    presentation = _presentation.get()
    if presentation:
        presentation.parts["title"].title(text, anchor=False)


def presentation_place(part: Part) -> AbstractContextManager[object]:
    """Return where a part is drawn: in the presentation, if there is one; else where the page is."""
    presentation = _presentation.get()
    return presentation.parts[part] if presentation and part not in presentation.outside else nullcontext()


@contextmanager
def outside_presentation() -> Iterator[None]:
    """Keep a slider on the page, even one that is usually presented."""
    presentation = _presentation.get()
    if presentation:
        presentation.outside.add("slider")
    try:
        yield
    finally:
        if presentation:
            presentation.outside.discard("slider")


def allow_in_presentation(chart: str) -> None:
    """Let a chart be presented too, if it is the first."""
    presentation = _presentation.get()
    if presentation:
        presentation.charts.add(chart)
    _note_presentable(chart)


def note_drawn(chart: str) -> None:
    """Note a chart that is drawn on the page, as nothing is presented."""
    if chart in CHARTS:
        _note_presentable(chart)


def _note_presentable(chart: str) -> None:
    presentable = _presentable.get()
    if presentable is not None:
        presentable.append(chart)


def chart_place(chart: str) -> DeltaGenerator | None:
    """Return where a chart is drawn in a presentation; None if it is not."""
    presentation = _presentation.get()
    if presentation is None or chart not in presentation.charts or presentation.chart not in ("", chart):
        return None
    presentation.chart = chart
    return presentation.parts["chart"]


def set_extra_height(pixels: int) -> None:
    """Give the chart more pixels, before it is drawn twice as large, because the theorem is a formula alone."""
    presentation = _presentation.get()
    if presentation:
        presentation.extra_height = pixels


def extra_height() -> int:
    """Return the extra pixels of the chart."""
    presentation = _presentation.get()
    return presentation.extra_height if presentation else 0


def place_beside_chart() -> DeltaGenerator:
    """Return a place beside the chart, which takes two thirds of the width, before it is drawn."""
    presentation = _presentation.get()
    if presentation is None:
        return st.container()
    presentation.is_split = True
    presentation.parts["chart"], beside = presentation.parts["chart"].columns([2, 1])
    return beside


def width_share() -> float:
    """Return the share of the presentation's width that the chart has."""
    presentation = _presentation.get()
    return 2 / 3 if presentation and presentation.is_split else 1.0


def hide_part(part: Literal["guess", "slider"]) -> None:
    """Hide a part of a presentation: before the result there is a guess, then a slider, at the same place."""
    if _presentation.get():
        st.html(f"<style>.st-key-presentation_{part} {{ display: none; }}</style>")


def reserve_height(pixels: int) -> None:
    """Reserve room for the chart with its legend: it is drawn twice as large, which the layout does not know."""
    st.html(f"<style>:root {{ --presentation-chart: {2 * pixels}px; }}</style>")


def link() -> str:
    """Return the address that opens what is presented, with all its controls."""
    controls = {name: value for name, value in st.query_params.to_dict().items() if name != KEY}
    base = str(st.context.url or "").partition("?")[0]
    return f"{base}?{urlencode(controls)}" if controls else base


def qr_code(address: str, *, alt: str) -> str:
    """Return the QR code of an address as HTML, which is a link as well."""
    picture = segno.make(address, error="l", micro=False).svg_data_uri(border=2, light="white")
    return f'<a href="{escape(address)}"><img alt="{escape(alt)}" src="{escape(picture)}"></a>'
