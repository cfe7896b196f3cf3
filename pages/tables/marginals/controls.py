"""Controls for all tables of k attributes: attributes, k, the mechanism, and the fit of its tables."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from typing_extensions import override

from dpcore.core import Mechanism, Problem
from dpcore.data.bundled import survey_of, whole_of
from dpcore.data.product import Product
from dpcore.data.sources import Source
from dpcore.mechanisms import entry
from dpcore.queries.marginals import Marginals
from pages.data.declare import declared_columns
from pages.data.picker import OWN_FILE, choose_data, show_credit
from pages.data.upload import session_file
from pages.shell.controls import Value, check_choice, choice, control, epsilon_bar, neighbours, seed, segments
from pages.shell.links import in_link
from pages.shell.private.data_in_use import drawn_always
from pages.shell.request import PageRequest

SURVEYS = {
    "adult": "Adult: categories and numbers cut to ranges",
    "census": "American Community Survey: categories and ranges",
    "penguins": "Palmer penguins: only 344 rows",
    "adult-numbers": "Adult: categories and numbers",
    "census-numbers": "American Community Survey: categories and numbers",
    "adult-yes-no": "Adult: yes/no attributes",
    "census-yes-no": "American Community Survey: yes/no attributes",
}
YES_NO, NUMBERS = "-yes-no", "-numbers"
METHODS = {"residual-planner": "Residual planner", "direct-tables": "Direct", "fourier-tables": "Fourier"}
FITS = {
    "consistent": "Consistent: no negative counts, and tables agree",
    "simplex": "Simplex: no negative counts, each table on its own",
    "unbiased": "Unbiased: as measured",
}
MAX_WAYS = 3
MAX_OWN = 8
"""Columns of a user's table that are selected at first."""


@dataclass(frozen=True, kw_only=True)
class MarginalsRequest(PageRequest[Marginals]):
    """The settings for tables.

    Attributes:
        fit: the key of the post-processing of released tables.
    """

    fit: str

    @override
    def keep(self, place: str) -> None:
        pass  # tables of k attributes are released as part of a plan

    @override
    def problem(self, n: int) -> Problem:
        # The number of bundled rows is public, and so is that of mock rows.
        return dataclasses.replace(super().problem(n), n=n)

    @property
    def methods(self) -> dict[str, Mechanism]:
        """Return the mechanisms for these attributes at these settings, the selected one first."""
        yes_no = set(self.queries.domain.sizes) == {2}
        keys = [key for key in METHODS if key != self.entry.key and (yes_no or key != "fourier-tables")]
        shared = {name: self.values[name] for name in ("epsilon", "delta")}
        others = {key: entry(key).make(**shared) for key in keys}
        return {self.entry.key: self.entry.make(**self.values), **others}


def draw_controls(side: DeltaGenerator, bar: DeltaGenerator) -> MarginalsRequest | None:
    """Draw the controls, ε in the bar; return None while too few attributes are picked."""
    with side:
        file = session_file()
        own = declared_columns(file)[0] if file else None
        key = choose_data(
            "Rows of several attributes",
            SURVEYS,
            key="tables-of",
            own_title="Your table's columns" if own and len(own.used) > MAX_WAYS else "",
            help_text="Bundled samples are public: previews on them spend no privacy budget. Of a private table, "
            "mock data with its declared columns are drawn.",
        )
        yes_no = key.endswith(YES_NO)
        table = own if key == OWN_FILE else None
        if table:
            names = tuple(column.name for column in table.used)
        else:
            every = _survey(key)
            names = every.on(Product).names
        check_choice("tables-k", [str(ways) for ways in range(1, MAX_WAYS + 1)], label="number of attributes")
        ways = segments("Attributes per table k", range(1, MAX_WAYS + 1), key="tables-k", default=2) or 2
        if not table:
            show_credit(every)
        method = choice(
            "Method",
            {name: title for name, title in METHODS.items() if yes_no or name != "fourier-tables"},
            key="tables-method",
            help_text="Fourier tables need yes/no attributes.",
        )
        # Tables with noise of their own each are not made to agree.
        fits = {name: title for name, title in FITS.items() if method != "direct-tables" or name != "consistent"}
        help_text = "Changes to the tables after the release. This spends no privacy budget."
        fit = choice("Post-processing", fits, key=f"tables-fit-{method}", help_text=help_text)
    machine = entry(method)
    parameters = machine.controls()
    values: dict[str, Value] = {}
    attribute_place, parameter_place = side.container(), side.container()
    with parameter_place, st.popover("More settings", width="stretch"):
        relation, preview_seed = neighbours(), seed()
        for name in parameters:
            if name not in ("epsilon", "delta"):
                values[name] = control(machine, name, parameters[name])
    if file and table:  # the names of its columns stay out of the link
        picked = attribute_place.multiselect(
            "Attributes", names, default=names[:MAX_OWN], key=f"{file.prefix}tables-attributes"
        )
    else:
        picked = attribute_place.multiselect(
            "Attributes", names, default=names, key=in_link(f"tables-attributes-{key}"), bind="query-params"
        )
    values["epsilon"] = epsilon_bar(machine, bar)
    with parameter_place:
        values["delta"] = control(machine, "delta", parameters["delta"])
    if len(picked) <= ways:
        st.info(f"Choose at least {ways + 1} attributes, so that there is more than one table of {ways}.")
        return None
    chosen = () if len(picked) == len(names) else tuple(name for name in names if name in picked)
    rows = Source(origin=file.origin, reading=table.whole(*picked)) if file and table else _survey(key, chosen=chosen)
    with side:
        source = drawn_always(rows, relation)
    return MarginalsRequest(
        rows=rows,
        source=source,
        queries=Marginals(domain=source.on(Product), ways=ways),
        entry=machine,
        fit=fit,
        values=values,
        neighbours=relation,
        seed=preview_seed,
    )


def _survey(key: str, *, chosen: tuple[str, ...] = ()) -> Source:
    """Return the attributes of a bundled sample under a key of SURVEYS."""
    if key.endswith(NUMBERS):
        return whole_of(key.removesuffix(NUMBERS), chosen=chosen)
    return survey_of(key.removesuffix(YES_NO), answers=key.endswith(YES_NO), chosen=chosen)
