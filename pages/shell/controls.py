"""Controls made from what a mechanism declares: each is bound to the link, and a bad link gets its sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Entry, Neighbours, Parameter, exactly
from pages.shell.links import in_link, linked_keys, reset_on_history, to_link
from pages.shell.presentation import presentation_place
from pages.shell.state import SessionKey
from pages.shell.status import show_relation

SHARED = ("epsilon", "delta", "alpha", "beta")
"""Parameters that mean the same for every mechanism keep their value when the mechanism changes."""
Value = float | int | str | bool
ENTRY = 100
"""Pixels of a box for an exact number."""
TARGET = re.compile(r"\s*([0-9]*[.,]?[0-9]+)\s*(%|rows?|)\s*")
"""An error that is wanted, as people type it."""
MARKS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
ROUND = tuple(float(f"{mark * 10.0**power:.3g}") for power in range(-15, 16) for mark in MARKS)
"""Stops of logarithmic sliders."""


AGAIN = SessionKey[dict[str, str]]("complaints_again", {})
"""What a run said that nobody saw."""


@dataclass(frozen=True, kw_only=True)
class LinkWarnings:
    """Where it says what is wrong with the link, the names in it that were seen to, and what was said of them."""

    place: DeltaGenerator
    told: set[str] = field(default_factory=set)
    said: dict[str, str] = field(default_factory=dict)


_link_warnings: ContextVar[LinkWarnings] = ContextVar("complaints about the link, of this run")


def run_with_link_warnings(page: Callable[[], None]) -> None:
    """Run a page; what is wrong with its link stands above it, where a closed popover does not hide it.

    Streamlit drops a value that a bound control does not take, or sets it right, without a word: whatever the page
    itself has not spoken of is found by comparing the link with the controls that read it in this run.
    """
    found = LinkWarnings(place=st.container())
    _link_warnings.set(found)
    unseen = AGAIN.pop()
    asked = {key: text for key, text in st.query_params.to_dict().items() if key not in st.session_state}
    page()
    for key, text in asked.items():
        dropped = key in linked_keys() and key in st.session_state and st.query_params.get(key) != text
        if dropped and key not in found.told and not _is_meant(text, st.session_state[key]):
            shown = st.session_state[key]
            known = isinstance(shown, int | float) and not isinstance(shown, bool)
            instead = exactly(shown) if known else "the usual one"
            complain(key, f"In the link, “{key}” has a value its control does not take; showing {instead} instead.")
    for key, sentence in unseen.items():
        if key not in found.said:
            complain(key, sentence)


def repeat_warnings() -> None:
    """Have the next run say what was wrong with the link in this one, of which nothing stays on the screen."""
    found = _link_warnings.get(None)
    AGAIN.value = found.said if found else {}


def complain(key: str, sentence: str) -> None:
    """Say what is wrong with a name in the link: once, above the page."""
    found = _link_warnings.get(None)
    if found is None:
        return  # a part of the page runs alone: nobody came by a link
    found.told.add(key)
    found.said[key] = sentence
    found.place.warning(sentence)


def _is_meant(text: str, value: object) -> bool:
    """Whether a link says a control's value, in whatever spelling: 1.0 for 1, TRUE for True."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return text.lower() == str(value).lower()


def link_key(entry: Entry, name: str) -> str:
    """The parameter's name in the address."""
    return name if name in SHARED else f"{entry.key}-{name}"


def audit_link(entry: Entry, values: Mapping[str, Value], relation: Neighbours) -> dict[str, str]:
    """What the address of Learn says to audit a mechanism at these parameters."""

    def written(name: str, value: Value) -> str:
        if isinstance(value, str | bool):
            return str(value).lower() if isinstance(value, bool) else value
        return _power(value) if name == "delta" else exactly(value)

    told = {link_key(entry, name): written(name, value) for name, value in values.items()}
    # A bound radio's link holds words; the usual one may be said as it is.
    said = str(relation) if relation is Neighbours.REPLACE_ONE else relation.words
    return {"lesson": "audit", "audit-of": entry.key, "neighbours": said, **told}


def audit_this(entry: Entry, values: Mapping[str, Value], relation: Neighbours) -> None:
    """A way from a page to the audit of its mechanism at these parameters."""
    st.page_link("learn/page.py", label="Audit this", query_params=audit_link(entry, values, relation))


def check_link(key: str, *, parameter: Parameter, default: Value) -> None:
    """Say so when the address asks for a value out of range: the control itself would drop it silently."""
    asked = st.query_params.get(key)
    if asked is None or parameter.boolean or parameter.choices:
        return
    try:
        fits = parameter.low <= float(asked) <= parameter.high
    except ValueError:
        fits = False
    if not fits:
        shown = f"{parameter.label} {parameter.symbol}".strip()
        complain(
            key,
            f"In the link, “{shown}” is not a number between {exactly(parameter.low)} and {exactly(parameter.high)}; "
            f"showing the usual value instead.",
        )


def check_choice(key: str, options: Sequence[str], *, label: str) -> None:
    """The same for a choice, by its label on the screen: the control falls back to its default silently."""
    asked = st.query_params.get(key)
    if asked is not None and asked not in options:
        complain(key, f"In the link, “{key}” is not one of the choices of “{label}” here; showing the usual one.")


def choice(
    label: str, titles: Mapping[str, str], *, key: str, default: str | None = None, help_text: str | None = None
) -> str:
    """One of several keys, shown by title. The link holds the key: a bound select box would write its title there."""
    first = default if default in titles else next(iter(titles))
    reset_on_history(in_link(key))
    _link_warnings.get().told.add(key)  # not bound, and seen to here
    if key not in st.session_state:
        check_choice(key, list(titles), label=label)
        asked = st.query_params.get(key)
        st.session_state[key] = asked if asked in titles else first
    elif st.session_state[key] not in titles:
        st.session_state[key] = first
    chosen = str(
        st.selectbox(
            label,
            list(titles),
            key=key,
            format_func=lambda option: titles[option],
            help=help_text,
            persist_state="session",
        )
    )
    if chosen != first:
        if st.query_params.get(key) != chosen:
            st.query_params[key] = chosen
    elif key in st.query_params:
        del st.query_params[key]
    return chosen


def whole(
    label: str, low: int, high: int, default: int, *, key: str, step: int = 1, help_text: str | None = None
) -> int:
    """A whole number, bound to the link; a link out of range gets its sentence."""
    check_link(key, parameter=Parameter(label=label, low=low, high=high), default=default)
    return int(st.slider(label, low, high, default, step=step, key=in_link(key), help=help_text, bind="query-params"))


def stops(label: str, options: Sequence[float], default: float, *, key: str, help_text: str | None = None) -> float:
    """One of several numbers, bound to the link, which holds them with all their digits."""
    names = [exactly(option) for option in options]
    check_choice(key, names, label=label)
    with _place(key):
        chosen = st.select_slider(
            label, options=names, value=exactly(default), key=in_link(key), help=help_text, bind="query-params"
        )
    return float(chosen)


def _place(key: str) -> AbstractContextManager[object]:
    """Where a control stands: ε goes on the stage, where there is one."""
    return presentation_place("slider") if key.endswith("epsilon") else nullcontext()


def seed(key: str = "seed", *, help_text: str | None = None) -> int:
    """The seed of a page's previews: another number, another draw."""
    return int(st.number_input("Preview seed", 0, 999_999, 1, key=in_link(key), help=help_text, bind="query-params"))


def neighbours(person_rows: int = 0, *, both: bool = True) -> Neighbours:
    """Which data sets are neighbours, the same on every page, and said in the line on top.

    Data sets that differ in a person leave no choice, nor does a page without guarantees for ``both`` relations.
    """
    if person_rows:
        relation = Neighbours.ADD_REMOVE_ONE
    elif not both:
        relation = Neighbours.REPLACE_ONE
    else:
        relation = Neighbours(
            st.radio(
                "Neighbours",
                [str(each) for each in Neighbours],
                key=in_link("neighbours"),
                bind="query-params",
                format_func=lambda each: Neighbours(each).words,
                help="The unit of privacy is a row. The guarantee bounds the odds: one row more, less or other makes "
                "no result more than e^ε times as likely, plus δ.",
            )
        )
    show_relation(relation, person_rows)
    return relation


def read_target(text: str, *, n: int) -> float | None:
    """What was typed as a fraction of n, above 0 and below 1; None where it is no such thing.

    >>> read_target("1%", n=1000), read_target("0.2", n=1000), read_target("50 rows", n=1000), read_target("2", n=1000)
    (0.01, 0.2, 0.05, None)
    """
    found = TARGET.fullmatch(text)
    if not found:
        return None
    number = float(found[1].replace(",", "."))
    share = number / 100 if found[2] == "%" else number / n if found[2] else number
    return share if 0 < share < 1 else None


def log_stops(parameter: Parameter) -> list[float]:
    """Values of a logarithmic slider: 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 in every decade, as far as people use it."""
    lowest, highest = (parameter.stops[0], parameter.stops[-1]) if parameter.stops else (parameter.low, parameter.high)
    return [value for value in ROUND if lowest <= value <= highest]


def number(parameter: Parameter, *, key: str, default: float) -> float:
    """A number on a log scale: an exact entry bound to the link is the truth, the slider mirrors it."""
    stops = log_stops(parameter)
    slider_key = f"{key}_slider"

    def from_slider() -> None:
        st.session_state[key] = st.session_state[slider_key]

    check_link(key, parameter=parameter, default=default)
    with _place(key):
        row = st.container(horizontal=True, vertical_alignment="bottom")
        slider_place, entry_place = row.container(width="stretch"), row.container(width=ENTRY)
    label = f"{parameter.label} {parameter.symbol}".strip()
    with entry_place:
        value = float(
            st.number_input(
                f"Exact {parameter.symbol or parameter.label}",
                value=default,
                min_value=float(parameter.low),
                max_value=float(parameter.high),
                step=None,
                format="%g",
                key=in_link(key),
                bind="query-params",
                on_change=to_link,
                args=(key,),
            )
        )
    st.session_state[slider_key] = min(stops, key=lambda stop: abs(math.log(stop / value)))
    with slider_place:
        st.select_slider(
            label,
            options=stops,
            key=slider_key,
            format_func=lambda stop: f"{stop:g}",
            on_change=from_slider,
            help=parameter.help or None,
        )
    return value


def control(entry: Entry, name: str, parameter: Parameter) -> Value:
    """The control of one declared parameter, and its value."""
    default: Value = getattr(entry.mechanism, name)  # a dataclass keeps its defaults as class attributes
    key = link_key(entry, name)
    label = f"{parameter.label} {parameter.symbol}".strip()
    shown = parameter.help or None
    if parameter.boolean:
        return bool(st.toggle(label, value=bool(default), key=in_link(key), help=shown, bind="query-params"))
    if parameter.choices:
        titles = {option: option.replace("_", " ") for option in parameter.choices}
        return choice(label, titles, key=key, default=str(default), help_text=shown)
    if parameter.integer and not parameter.log:
        return whole(label, int(parameter.low), int(parameter.high), int(default), key=key, help_text=shown)
    if parameter.log and name == "delta":
        return _power_of_ten(parameter, key=key, default=float(default), label=label)
    if parameter.log:
        value = number(parameter, key=key, default=float(default))
        return round(value) if parameter.integer else value
    check_link(key, parameter=parameter, default=default)
    return float(
        st.slider(
            label, parameter.low, parameter.high, float(default), key=in_link(key), help=shown, bind="query-params"
        )
    )


def epsilon_bar(entry: Entry, bar: DeltaGenerator) -> float:
    """ε, in the bar above the pictures, with what lies at its ends."""
    with bar:
        value = float(control(entry, "epsilon", entry.controls()["epsilon"]))
        st.caption("← more private · more accurate →")
    return value


def settings(entry: Entry, bar: DeltaGenerator, *, apart: str = "") -> tuple[dict[str, Value], Neighbours, int]:
    """All parameters of a mechanism, ε of them in the bar, and one perhaps beside the relation and the seed."""
    parameters = entry.controls()
    values = {name: control(entry, name, p) for name, p in parameters.items() if name not in ("epsilon", apart)}
    with st.popover("More settings", width="stretch"):
        relation, coins = neighbours(), seed()
        if apart:
            values[apart] = control(entry, apart, parameters[apart])
    values["epsilon"] = epsilon_bar(entry, bar)
    return values, relation, coins


def _power_of_ten(parameter: Parameter, *, key: str, default: float, label: str) -> float:
    """delta: only its order of magnitude matters."""
    options = [_power(stop) for stop in parameter.stops]
    chosen = _power(default)
    check_choice(key, options, label=label)
    return float(
        st.select_slider(
            label, options=options, value=chosen, key=in_link(key), help=parameter.help or None, bind="query-params"
        )
    )


def _power(number: float) -> str:
    """A number by its order of magnitude: 1e-6."""
    return f"{number:.0e}".replace("e-0", "e-")
