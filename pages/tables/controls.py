"""What the second view of the Tables page asks: attributes, k, the mechanism, and what is done to its tables."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from typing_extensions import override

from dpcore.core import Mechanism, Problem
from dpcore.data.bundled import survey_of
from dpcore.data.product import Product
from dpcore.data.sources import Source
from dpcore.mechanisms import entry
from dpcore.queries.marginals import Marginals
from pages.data.declare import declared_columns
from pages.data.picker import OWN_FILE, choose_data, show_credit
from pages.data.upload import session_file
from pages.shell.asked import Asked
from pages.shell.controls import Value, check_choice, choice, control, epsilon_bar, neighbours, seed
from pages.shell.private.chip import drawn_always
from pages.shell.session import in_link

SURVEYS = {
    "adult": "Adult: categories and numbers cut to ranges",
    "census": "American Community Survey: categories and ranges",
    "penguins": "Palmer penguins: 344 rows, few for tables",
    "adult-yes-no": "Adult: yes/no attributes",
    "census-yes-no": "American Community Survey: yes/no attributes",
}
YES_NO = "-yes-no"
METHODS = {"residual-planner": "Residual planner", "direct-tables": "Direct", "fourier-tables": "Fourier"}
FITS = {
    "consistent": "Consistent: no negative counts, and tables agree",
    "simplex": "Simplex: no negative counts, each table on its own",
    "unbiased": "Unbiased: as measured",
}
MAX_WAYS = 3
MAX_OWN = 8
"""Columns of one's own that it begins with."""


@dataclass(frozen=True, kw_only=True)
class TablesAsked(Asked[Marginals]):
    """Tables, and what is done to them once they are released."""

    fit: str

    @override
    def problem(self, n: int) -> Problem:
        """The public problem; the number of bundled rows is public, and so is that of made-up ones."""
        return dataclasses.replace(super().problem(n), n=n)

    @property
    def methods(self) -> dict[str, Mechanism]:
        """All that serve these attributes at this setting, the chosen one first."""
        yes_no = set(self.queries.domain.sizes) == {2}
        keys = [key for key in METHODS if key != self.entry.key and (yes_no or key != "fourier-tables")]
        shared = {name: self.values[name] for name in ("epsilon", "delta")}
        others = {key: entry(key).make(**shared) for key in keys}
        return {self.entry.key: self.entry.make(**self.values), **others}


def ask(beside: DeltaGenerator, bar: DeltaGenerator) -> TablesAsked | None:
    """Everything that is asked, from the link and the controls; None while too few attributes are picked.

    Args:
        beside: where the controls go.
        bar: where ε goes.
    """
    with beside:
        held = session_file()
        own = declared_columns(held)[0] if held else None
        key = choose_data(
            "Rows of several attributes",
            SURVEYS,
            key="tables-of",
            own_title="Your table's columns" if own and len(own.used) > MAX_WAYS else "",
            help_text="Bundled samples are public: previews on them cost nothing. Of a private table made-up rows with "
            "its declared columns are drawn.",
        )
        sample_key, yes_no = key.removesuffix(YES_NO), key.endswith(YES_NO)
        mine = own if key == OWN_FILE else None
        if mine:
            names = tuple(column.name for column in mine.used)
        else:
            every = survey_of(sample_key, answers=yes_no)
            names = every.on(Product).names
        check_choice("tables-k", [str(ways) for ways in range(1, MAX_WAYS + 1)], label="number of attributes")
        ways = int(
            st.segmented_control(
                "Attributes of a table k",
                range(1, MAX_WAYS + 1),
                default=2,
                required=True,
                key=in_link("tables-k"),
                bind="query-params",
            )
        )
        if not mine:
            show_credit(every)
        method = choice(
            "Method",
            {name: title for name, title in METHODS.items() if yes_no or name != "fourier-tables"},
            key="tables-method",
            help_text="Fourier tables need yes/no attributes.",
        )
        # Tables with noise of their own each are not made to agree.
        fits = {name: title for name, title in FITS.items() if method != "direct-tables" or name != "consistent"}
        fit = choice(
            "Afterwards",
            fits,
            key=f"tables-fit-{method}",
            help_text="What is done to the tables. Post-processing: it costs no privacy.",
        )
    chosen = entry(method)
    parameters = chosen.controls()
    values: dict[str, Value] = {}
    picks, machine = beside.container(), beside.container()
    with machine, st.popover("More settings", width="stretch"):
        relation, coins = neighbours(), seed()
        for name in parameters:
            if name not in ("epsilon", "delta"):
                values[name] = control(chosen, name, parameters[name])
    if held and mine:  # the names of its columns stay out of the link
        picked = picks.multiselect("Attributes", names, default=names[:MAX_OWN], key=f"{held.prefix}tables-attributes")
    else:
        picked = picks.multiselect(
            "Attributes", names, default=names, key=in_link(f"tables-attributes-{key}"), bind="query-params"
        )
    values["epsilon"] = epsilon_bar(chosen, bar)
    with machine:
        values["delta"] = control(chosen, "delta", parameters["delta"])
    if len(picked) <= ways:
        st.info(f"Pick at least {ways + 1} attributes: there is more than one table of {ways} then.")
        return None
    kept = () if len(picked) == len(names) else tuple(name for name in names if name in picked)
    if held and mine:
        rows = Source(origin=held.origin, reading=mine.whole(*picked))
    else:
        rows = survey_of(sample_key, answers=yes_no, chosen=kept)
    with beside:
        source = drawn_always(rows, relation)
    return TablesAsked(
        rows=rows,
        source=source,
        queries=Marginals(domain=source.on(Product), ways=ways),
        entry=chosen,
        fit=fit,
        values=values,
        neighbours=relation,
        seed=coins,
    )
