"""Controls of the One number page: data, a question, its mechanism's parameters, and the seed of previews."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from typing_extensions import override

from dpcore.core import Domain, Entry, Parameter, Queries
from dpcore.data.bundled import bundled
from dpcore.data.columns import is_labels, is_number
from dpcore.data.product import is_groups
from dpcore.data.sources import Bundled, Source
from dpcore.mechanisms import entry
from dpcore.queries.ranges import Cells, Thresholds
from pages.data.picker import pick_source
from pages.shell.controls import Value, choice, choose_entry, control, epsilon_bar, link_key, neighbours, seed, stops
from pages.shell.private.twin import untwinned
from pages.shell.request import PageRequest
from pages.shell.status import may_show

ON_A_LINE = ("stable_median", "smooth-median", "subsample_median", "subsample-near", "unbounded_mean")
ON_LABELS = ("subsample_commonest", "stable-mode", "subsample_larger")
BOTH_RELATIONS = ("stable_median", "stable-mode", "smooth-median")
ON_GROUPS = ("subsample-groups",)
GROUPS = ("first", "second")
FIRST_DATA = "earnings.earnings"
"""Data on which the first question is answered; a smaller epsilon turns the answer into a refusal."""


class OneNumberRequest(PageRequest[Queries]):
    """The settings of the One number page."""

    @property
    @override
    def audited(self) -> dict[str, Value]:
        # Which groups are compared is about the data; the audit has its own.
        return {name: value for name, value in self.values.items() if name not in GROUPS}


def draw_controls(side: DeltaGenerator, bar: DeltaGenerator) -> OneNumberRequest:
    """Draw the controls, ε in the bar; return the request."""
    with side:
        source = pick_source(default=FIRST_DATA)
        entries = {key: entry(key) for key in questions(source)}
        machine = choose_entry("Statistic", entries, key="robust")
        if machine.key in ON_GROUPS:
            source = _by_groups(source)
    domain = source.domain
    values: dict[str, Value] = {}
    # The accounting comes first: it decides whether there is a control for the number of subsamples.
    for name, parameter in sorted(machine.controls().items(), key=lambda item: item[0] != "accounting"):
        if name in GROUPS and not may_show(source):
            continue  # labels are shown only where figures are
        if name != "epsilon":
            with side:
                values[name] = _control(machine, name, parameter, domain, values)
    with side, st.popover("More settings", width="stretch"):
        relation = neighbours(both=machine.key in BOTH_RELATIONS)
        preview_seed = seed()
    values["epsilon"] = epsilon_bar(machine, bar)
    values = {name: value for name, value in values.items() if name in machine.controls()}
    return OneNumberRequest(
        rows=untwinned(source),
        source=source,
        queries=Thresholds(domain=domain) if is_number(domain) else Cells(domain=domain),
        entry=machine,
        values=values,
        neighbours=relation,
        seed=preview_seed,
    )


def questions(source: Source) -> tuple[str, ...]:
    """Return the keys of questions about a column: about groups only where the sample has a column of groups."""
    if not is_number(source.domain):
        return ON_LABELS if source.domain.ordered > 1 else ON_LABELS[:2]  # one label names no two groups
    grouped = isinstance(source.origin, Bundled) and source.origin.sample.groups
    return ON_A_LINE + ON_GROUPS if grouped else ON_A_LINE


def _by_groups(source: Source) -> Source:
    """Return the same numbers with the groups of their rows."""
    assert isinstance(source.origin, Bundled)
    sample_key = source.origin.sample_key
    titles = {each.name: each.title for each in source.origin.sample.groups}
    group = choice(
        "Groups", titles, key="groups", help_text="A second column of the same rows. Its labels define the groups."
    )
    return bundled(sample_key, group, *source.columns)


def _control(machine: Entry, name: str, parameter: Parameter, domain: Domain, values: dict[str, Value]) -> Value:
    """Draw a control: groups by labels, wide ranges of whole numbers by stops, others as everywhere."""
    default = getattr(machine.mechanism, name)
    key = link_key(machine, name)
    if name in GROUPS and (is_labels(domain) or is_groups(domain)):
        titles = {str(place): label for place, label in enumerate(domain.columns[0].cell_names)}
        if name == "second":
            titles.pop(str(values["first"]))
        return int(choice(parameter.label, titles, key=key, default=str(default)))
    if name == "subsamples" and values.get("accounting") == "paper":
        return int(default)
    if parameter.integer and parameter.log:
        label = f"{parameter.label} {parameter.symbol}".strip()
        return int(stops(label, parameter.stops, default, key=key, help_text=parameter.help or None))
    return control(machine, name, parameter)
