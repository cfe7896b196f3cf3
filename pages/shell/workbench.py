"""The skeleton of a page: title, controls, a computation, its headline and its views, then audit and code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import DataError, ParameterError
from pages.shell.controls import audit_this
from pages.shell.request import PageRequest, show_code
from pages.shell.session import require_gate
from pages.shell.status import rail, views
from pages.shell.theorem import lead

RequestT = TypeVar("RequestT", bound=PageRequest[Any])
ResultT = TypeVar("ResultT")
View: TypeAlias = Callable[[ResultT], None]
Views: TypeAlias = Mapping[str, View[ResultT] | tuple[View[ResultT], View[ResultT]]]


@contextmanager
def refusals_shown() -> Iterator[None]:
    """Run a part of a page; data or parameters that are refused get their sentence."""
    try:
        yield
    except (DataError, ParameterError) as error:
        st.error(str(error))


@contextmanager
def gated() -> Iterator[None]:
    """Run a page behind the gate, with a sentence where it refuses."""
    require_gate()
    with refusals_shown():
        yield


@contextmanager
def page_frame(title: str) -> Iterator[tuple[DeltaGenerator, DeltaGenerator]]:
    """Draw the title of a page; yields the rail for its controls and the place beside the title.

    Errors in data and parameters end the page with their message.
    """
    with gated():
        side, head = rail(), st.container(horizontal=True, vertical_alignment="center", key="page_head")
        head.title(title, width="content")
        yield side, head


@dataclass(frozen=True, kw_only=True)
class Workbench(Generic[RequestT, ResultT]):
    """A page, or a part of one: three functions and the views that draw their result.

    Attributes:
        title: of the page; Release names what is shown here by it.
        lead: a sentence about the page, and paragraphs on demand.
        key: the keys of its tabs and of its code begin with it.
        controls: draws the controls in the rail and ε in the bar, and returns the request; None while it is incomplete.
        promise: draws what holds for private rows that may not be shown, without reading them.
        compute: returns what the views draw.
        headline: draws the result in a sentence, above ε.
        views: the views by the names of their tabs; a pair of them stands in two columns.
        slow: the views that take long and are therefore drawn last.
        more: draws what the last tab holds besides the audit and the code.
        code: returns Python that gives the same result.
    """

    title: str
    lead: tuple[str, ...]
    key: str
    controls: Callable[[DeltaGenerator, DeltaGenerator], RequestT | None]
    promise: Callable[[RequestT], None] | None = None
    compute: Callable[[RequestT], ResultT]
    headline: View[ResultT] | None = None
    views: Views[ResultT] | Callable[[ResultT], Views[ResultT]]
    slow: Sequence[View[ResultT]] = ()
    more: View[ResultT] | None = None
    code: Callable[[ResultT], str]

    def run(self) -> None:
        """Draw the page."""
        with page_frame(self.title) as (side, head):
            with head:
                lead(*self.lead)
            self.show(side)

    def show(self, side: DeltaGenerator) -> None:
        """Draw everything below the title, with the controls at the side."""
        bar = st.container(key="epsilon_bar")
        head = bar.container()
        request = self.controls(side, bar)
        if request is None:
            return
        request.keep(self.title)
        if request.may_show():
            result = self.compute(request)
            if self.headline is not None:
                with head:
                    self.headline(result)
            self._draw_views(request, result)
        elif self.promise is not None:
            self.promise(request)

    def _draw_views(self, request: RequestT, result: ResultT) -> None:
        named = self.views(result) if callable(self.views) else self.views
        *tabs, last = views(*named, "More", key=f"{self.key}-seen")
        parts: list[tuple[View[ResultT], DeltaGenerator]] = []
        for tab, view in zip(tabs, named.values(), strict=True):
            parts += zip(view, tab.columns(2), strict=True) if isinstance(view, tuple) else [(view, tab)]

        def draw_more(result: ResultT) -> None:
            if self.more is not None:
                self.more(result)
            audit_this(request.entry, request.audited, request.neighbours)
            show_code("Code", key=f"{self.key}_code_open", write=lambda: self.code(result))

        parts.append((draw_more, last))
        for view, place in sorted(parts, key=lambda part: part[0] in self.slow):
            with place:
                view(result)
