"""What a page asks, whatever it is about: rows, queries, a mechanism, neighbours and a seed; and the Python for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from dpcore.core import Dataset, Entry, Mechanism, Neighbours, Problem, Queries
from dpcore.data.sources import Source
from dplab.recipe import snippet
from pages.charts.component import draw_with_table
from pages.charts.picture import Picture
from pages.shell.controls import Value
from pages.shell.private.twin import registered_rows
from pages.shell.session import OnPage, keep_on_page, remembered
from pages.shell.status import badge

Kind = TypeVar("Kind", bound=Queries)
Made = TypeVar("Made", bound=Mechanism)


@dataclass(frozen=True, kw_only=True)
class Asked(Generic[Kind]):
    """Everything that is asked.

    Attributes:
        rows: the rows themselves, also where a twin is drawn in their place.
        source: the rows that are drawn.
        queries: asked of them.
        entry: of the catalogue.
        values: the mechanism's parameters.
        neighbours: the relation.
        seed: of previews.
    """

    rows: Source
    source: Source
    queries: Kind
    entry: Entry
    values: dict[str, Value]
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    seed: int

    @property
    def private(self) -> bool:
        """Whether the rows that are drawn are."""
        return self.source.provenance.is_private

    def problem(self, n: int) -> Problem:
        """The public problem for so many rows; where rows come and go, for a public number of them."""
        if self.neighbours is Neighbours.ADD_REMOVE_ONE:
            n = registered_rows(self.source.origin) or self.source.public_rows
        return Problem(domain=self.queries.domain, queries=self.queries, n=n, neighbours=self.neighbours)

    def made(self, kind: type[Made]) -> Made:
        """The mechanism with its parameters, where it is known to be of this kind."""
        made = self.entry.make(**self.values)
        assert isinstance(made, kind)
        return made

    def dataset(self) -> Dataset:
        """The rows that are drawn, read once a session."""
        return remembered(f"dataset|{self.source.key}", self.source.dataset)

    def keep(self, place: str) -> None:
        """The page of this title was the last to show something that may be asked for on Release."""
        keep_on_page(OnPage(place=place, source=self.rows, queries=self.queries, entry=self.entry, values=self.values))

    def badge(self, made: str = "") -> str:
        """What the numbers are, drawn into every picture: of previews, or made otherwise from the true data."""
        return badge(self.source, made) if made else badge(self.source, seed=self.seed)

    def draw(self, picture: Picture, *, key: str, title: str, badge: str = "") -> None:
        """A picture and its numbers; kept as a file only where anybody may have the data."""
        draw_with_table(picture, key=key, badge=badge or self.badge(), title=title, download=not self.private)

    def code(
        self, *, queries: str, then: Sequence[str], imports: Sequence[str] = (), prepared: Sequence[str] = ()
    ) -> str:
        """Python that draws the same; the lines of ``then`` use ``mechanism``, ``problem`` and ``state``."""
        return snippet(
            self.source,
            self.entry.key,
            self.values,
            queries=queries,
            neighbours=self.neighbours,
            imports=imports,
            prepared=prepared,
            then=then,
        )


def show_code(title: str, *, key: str, write: Callable[[], str]) -> None:
    """An expander with the code under a title, written only while it is open; ``key`` is the expander's."""
    place = st.expander(title, key=key, on_change="rerun")
    if place.open:
        place.code(write(), language="python")
