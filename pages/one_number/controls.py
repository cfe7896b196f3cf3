"""What the One number page asks: data, a question, its mechanism's parameters, and how runs are previewed."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Domain, Entry, Parameter, Queries
from dpcore.data.bundled import bundled
from dpcore.data.columns import is_labels, is_number
from dpcore.data.product import is_groups
from dpcore.data.sources import Bundled, Source
from dpcore.mechanisms import entry
from dpcore.queries.ranges import Cells, Thresholds
from pages.data.picker import pick_source
from pages.shell.controls import Value, choice, control, epsilon_bar, link_key, neighbours, seed, stops
from pages.shell.private.twin import untwinned
from pages.shell.request import PageRequest
from pages.shell.status import may_show

ON_A_LINE = ("stable_median", "subsample_median", "unbounded_mean")
ON_LABELS = ("subsample_commonest", "subsample_larger")
ON_GROUPS = ("subsample-groups",)
GROUPS = ("first", "second")
FIRST_DATA = "earnings.earnings"
"""Data on which the first question is answered, and a smaller epsilon turns that into a refusal."""


def ask(beside: DeltaGenerator, bar: DeltaGenerator) -> PageRequest[Queries]:
    """Everything that is asked, from the link and the controls.

    Args:
        beside: where the controls go.
        bar: where ε goes.
    """
    with beside:
        source = pick_source(default=FIRST_DATA)
        entries = {key: entry(key) for key in questions(source)}
        stories = "\n\n".join(f"{each.title}: {each.story}" for each in entries.values())
        chosen = entries[
            choice("Question", {key: each.title for key, each in entries.items()}, key="robust", help_text=stories)
        ]
        if chosen.key in ON_GROUPS:
            source = _by_groups(source)
    domain = source.domain
    values: dict[str, Value] = {}
    # The accounting first: it decides whether the number of subsamples is asked at all.
    for name, parameter in sorted(chosen.controls().items(), key=lambda item: item[0] != "accounting"):
        if name in GROUPS and not may_show(source):
            continue  # labels are told no earlier than figures
        if name != "epsilon":
            with beside:
                values[name] = _control(chosen, name, parameter, domain, values)
    with beside, st.popover("More settings", width="stretch"):
        relation = neighbours(both=chosen.key == "stable_median")
        coins = seed()
    values["epsilon"] = epsilon_bar(chosen, bar)
    values = {name: value for name, value in values.items() if name in chosen.controls()}
    return PageRequest(
        rows=untwinned(source),
        source=source,
        queries=Thresholds(domain=domain) if is_number(domain) else Cells(domain=domain),
        entry=chosen,
        values=values,
        neighbours=relation,
        seed=coins,
    )


def questions(source: Source) -> tuple[str, ...]:
    """What can be asked of a column: about groups only where the sample has a column that names them."""
    if not is_number(source.domain):
        return ON_LABELS if source.domain.ordered > 1 else ON_LABELS[:1]  # one label names no two groups
    grouped = isinstance(source.origin, Bundled) and source.origin.sample.groups
    return ON_A_LINE + ON_GROUPS if grouped else ON_A_LINE


def _by_groups(source: Source) -> Source:
    """The same numbers with the groups they belong to."""
    assert isinstance(source.origin, Bundled)
    sample_key = source.origin.sample_key
    titles = {each.name: each.title for each in source.origin.sample.groups}
    group = choice("Groups", titles, key="groups", help_text="Another column of the same rows; its labels are groups.")
    return bundled(sample_key, group, *source.columns)


def _control(chosen: Entry, name: str, parameter: Parameter, domain: Domain, values: dict[str, Value]) -> Value:
    """Groups by their labels, wide ranges of whole numbers by their stops, the rest as everywhere."""
    default = getattr(chosen.mechanism, name)
    key = link_key(chosen, name)
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
    return control(chosen, name, parameter)
