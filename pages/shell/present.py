"""Present mode: one chart, one slider, the theorem and a QR code of the link, large enough for a wall.

The page runs as ever, behind a curtain; what belongs on the stage is drawn there instead, so that no page is written
twice. Where a page has no chart for the stage, as for private data, nothing is presented, and no button offers it.
While the link asks for a presentation, the steward's switch counts as off (`pages.shell.session.wants_to_look`), and
when it ends the switch is off (`ask_again_after_presentation`).
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

from pages.shell.doors import LOCAL_HOSTS

KEY = "present"
"""In the link: whether something is presented."""
CHARTS = (
    "data_chart", "released_map", "marginals_errors_chart", "tables_all_chart", "robust_chance_chart",
    "robust_mean_chart",
    "salaries_error_chart", "ask_map_chart", "halfspaces_circle_chart", "sparse_loss_chart", "printed_run_chart",
)  # fmt: skip
"""What goes on the stage: the first of these charts that is drawn, or the one that asks for it."""
NOTHING = "<style>.dpscope-present { display: none; }</style>"
"""Takes the button away."""
STYLE = (Path(__file__).resolve().parent / "present.css").read_text(encoding="utf-8")
Part = Literal["title", "chart", "slider", "theorem"]


@dataclass(kw_only=True)
class Stage:
    """Where each part goes, the chart there, those that may be, what stays behind for now, pixels to spare for it."""

    parts: dict[Part, DeltaGenerator]
    chart: str = ""
    charts: set[str] = field(default_factory=lambda: set(CHARTS))
    kept: set[Part] = field(default_factory=set)
    spare: int = 0


_stage: ContextVar[Stage | None] = ContextVar("stage of this run", default=None)
_fit: ContextVar[list[str] | None] = ContextVar("charts of this run that may go on a stage", default=None)


def presenting() -> bool:
    """Whether this run has a stage."""
    return _stage.get() is not None


def presentation_requested() -> bool:
    """Whether the link asks for a presentation."""
    return st.query_params.get(KEY) == "1"


def exclude_from_presentation() -> None:
    """No chart of this run may be presented: the page shows true values of private rows."""
    fit = _fit.get()
    if fit is not None:
        fit.clear()
    _fit.set(None)


def start() -> None:
    """Ask for it in the link."""
    st.query_params[KEY] = "1"


def end() -> None:
    """Take it out of the link."""
    st.query_params.pop(KEY, None)


@contextmanager
def curtain(title: str, *, leave: Callable[[], None]) -> Iterator[None]:
    """Run a page inside; where the link says so, on a stage, under this title.

    Where there is nothing to present, the page runs anew without a stage; ``leave`` is called before.
    """
    if not presentation_requested():
        _stage.set(None)
        fit = list[str]()
        _fit.set(fit)
        yield
        if not fit:
            st.html(NOTHING)
        return
    with st.container(key="stage"):
        head, corner = st.columns([4, 1], vertical_alignment="center")
        parts: dict[Part, DeltaGenerator] = {"title": head.empty(), "chart": st.container(key="stage_chart")}
        below, aside = st.columns([4, 1])
        parts |= {"slider": below.container(), "theorem": below.container()}
    stage = Stage(parts=parts)
    _stage.set(stage)
    headline(title)
    with st.container(key="backstage"):
        yield
    if not stage.chart:  # behind the curtain a page leaves out its other charts: it is shown as it is
        end()
        leave()
        st.rerun()
    st.html(f"<style>{STYLE}</style>")
    corner.button("End (Esc)", on_click=end)
    with aside:
        _code(link())
    if urlsplit(link()).hostname in LOCAL_HOSTS:
        (below if stage.spare else aside).caption("Opens on this machine only.")


def headline(text: str) -> None:
    """What is on the stage, in a few words."""
    stage = _stage.get()
    if stage:
        stage.parts["title"].title(text, anchor=False)


def on_stage(part: Part) -> AbstractContextManager[object]:
    """Where a part is drawn: on the stage, if there is one; else where it stands."""
    stage = _stage.get()
    return stage.parts[part] if stage and part not in stage.kept else nullcontext()


@contextmanager
def backstage() -> Iterator[None]:
    """Inside, a control stays where it stands, even one that usually goes on the stage."""
    stage = _stage.get()
    if stage:
        stage.kept.add("slider")
    try:
        yield
    finally:
        if stage:
            stage.kept.discard("slider")


def may_be_shown(chart: str) -> None:
    """This chart goes on the stage too, if none is there yet."""
    stage = _stage.get()
    if stage:
        stage.charts.add(chart)
    _note(chart)


def stands(chart: str) -> None:
    """This chart is drawn where it stands, as nothing is presented."""
    if chart in CHARTS:
        _note(chart)


def _note(chart: str) -> None:
    """The page has something to present."""
    fit = _fit.get()
    if fit is not None:
        fit.append(chart)


def place_of(chart: str) -> DeltaGenerator | None:
    """Where a chart goes while something is presented; None: it is not drawn."""
    stage = _stage.get()
    if stage is None or chart not in stage.charts or stage.chart not in ("", chart):
        return None
    stage.chart = chart
    return stage.parts["chart"]


def spare(pixels: int) -> None:
    """The theorem is a formula alone, so that the chart may have so much more, before it is drawn twice as large."""
    stage = _stage.get()
    if stage:
        stage.spare = pixels


def spared() -> int:
    """What is left for the chart."""
    stage = _stage.get()
    return stage.spare if stage else 0


def reserve(pixels: int) -> None:
    """How high the chart is, with its legend: drawn twice as large it takes twice the room, which no layout sees."""
    st.html(f"<style>:root {{ --stage-chart: {2 * pixels}px; }}</style>")


def link() -> str:
    """The address that opens what is seen here, with all its controls, for whoever wants to move them."""
    controls = {name: value for name, value in st.query_params.to_dict().items() if name != KEY}
    base = str(st.context.url or "").partition("?")[0]
    return f"{base}?{urlencode(controls)}" if controls else base


def _code(address: str) -> None:
    """The address as a QR code, and as a link to whoever cannot scan it."""
    picture = segno.make(address, error="l", micro=False).svg_data_uri(border=2, light="white")
    st.html(f'<a href="{escape(address)}"><img alt="QR code of the link to this page" src="{escape(picture)}"></a>')
