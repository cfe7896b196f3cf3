"""The request of a page: rows, queries, a mechanism, neighbours and a seed; and the Python for it."""

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
from pages.shell.releasable import OnPage, keep_on_page
from pages.shell.status import badge, may_show
from pages.shell.tasks.memory import remember

QueriesT = TypeVar("QueriesT", bound=Queries)
MechanismT = TypeVar("MechanismT", bound=Mechanism)


@dataclass(frozen=True, kw_only=True)
class PageRequest(Generic[QueriesT]):
    """A page's settings, as its controls and its link give them.

    Attributes:
        rows: the user's rows, also where a twin is drawn in their place.
        source: the rows that previews read.
        queries: the queries about them.
        entry: the mechanism's entry of the catalogue.
        values: the mechanism's parameters.
        neighbours: the relation of neighbouring data sets.
        seed: the seed of previews.
    """

    rows: Source
    source: Source
    queries: QueriesT
    entry: Entry
    values: dict[str, Value]
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    seed: int

    @property
    def private(self) -> bool:
        """Return whether previews read private rows."""
        return self.source.provenance.is_private

    @property
    def audited(self) -> dict[str, Value]:
        """Return the parameters at which the audit opens."""
        return self.values

    def may_show(self) -> bool:
        """Return whether figures made from its rows may be shown here."""
        return may_show(self.source)

    def problem(self, n: int) -> Problem:
        """Return the public problem for n rows; where rows are added or removed, for a public number of them."""
        if self.neighbours is Neighbours.ADD_REMOVE_ONE:
            n = registered_rows(self.source.origin) or self.source.public_rows
        return Problem(domain=self.queries.domain, queries=self.queries, n=n, neighbours=self.neighbours)

    def mechanism_of(self, mechanism_type: type[MechanismT]) -> MechanismT:
        """Return the mechanism with its parameters, on a page where its type is known."""
        mechanism = self.entry.make(**self.values)
        assert isinstance(mechanism, mechanism_type)
        return mechanism

    def dataset(self) -> Dataset:
        """Return the rows that previews read; a session reads them once."""
        return remember(f"dataset|{self.source.key}", self.source.dataset)

    def keep(self, place: str) -> None:
        """Offer this request on Release, as shown on the page of this title."""
        keep_on_page(OnPage(place=place, source=self.rows, queries=self.queries, entry=self.entry, values=self.values))

    def badge(self, method: str = "") -> str:
        """Return the badge of a picture: its numbers are of previews, or come from the true data by this method."""
        return badge(self.source, method) if method else badge(self.source, seed=self.seed)

    def draw(self, picture: Picture, *, key: str, title: str, badge: str = "", heading: str = "") -> None:
        """Draw a picture and its table; only those of public data are offered as files."""
        if heading:
            st.subheader(heading)
        draw_with_table(picture, key=key, badge=badge or self.badge(), title=title, download=not self.private)

    def code(
        self, *, queries: str, then: Sequence[str], imports: Sequence[str] = (), prepared: Sequence[str] = ()
    ) -> str:
        """Return Python that draws the same; the lines of ``then`` use ``mechanism``, ``problem`` and ``state``."""
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

    def code_of_release(self, *lines: str, arguments: str = "", trials: int | None = None) -> str:
        """Return Python that makes the release shown, whose lines use ``release``, and prints its guarantee."""
        kind, repeated = type(self.queries), f", trials={trials}" if trials else ""
        return self.code(
            queries=f"{kind.__name__}(domain=dataset.domain{arguments})",
            imports=[f"from {kind.__module__} import {kind.__name__}"],
            then=[
                f"release = mechanism.run(state, dpcore.Preview({self.seed}){repeated})",
                *lines,
                "print(mechanism.guarantee(problem).sentence())",
            ],
        )


def show_code(title: str, *, key: str, write: Callable[[], str]) -> None:
    """Draw an expander with code, which is written only while it is open; ``key`` is the expander's."""
    place = st.expander(title, key=key, on_change="rerun")
    if place.open:
        place.code(write(), language="python")
