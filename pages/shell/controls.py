"""Controls for the parameters that a mechanism declares: each is bound to the link; a bad link gets a sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypedDict, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Entry, Neighbours, Parameter, exactly, read_number
from pages.shell.links import in_link, linked_keys, reset_on_history, to_link
from pages.shell.presentation import KEY as PRESENT
from pages.shell.presentation import presentation_place
from pages.shell.server.streamlit_internals import remove_parameters
from pages.shell.state import SessionKey
from pages.shell.status import show_relation

SHARED = ("epsilon", "delta", "alpha", "beta")
"""Parameters that mean the same for every mechanism keep their value when the mechanism changes."""
Value = float | int | str | bool
OptionT = TypeVar("OptionT")
ENTRY = 100
"""Pixels of a box for an exact number."""
TARGET = re.compile(r"\s*([0-9]*[.,]?[0-9]+)\s*(%|rows?|)\s*")
"""A target error as users type it."""
MARKS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
ROUND = tuple(float(f"{mark * 10.0**power:.3g}") for power in range(-15, 16) for mark in MARKS)
"""Stops of logarithmic sliders."""


REPEATED_WARNINGS = SessionKey[dict[str, str]]("complaints_again", {})
"""Warnings of a run whose page was replaced at once."""


@dataclass(frozen=True, kw_only=True)
class LinkWarnings:
    """Warnings about the link in this run.

    Attributes:
        place: where they are written.
        checked: names in the link that need no further check.
        sentences: by name.
    """

    place: DeltaGenerator
    checked: set[str] = field(default_factory=set)
    sentences: dict[str, str] = field(default_factory=dict)


_link_warnings: ContextVar[LinkWarnings] = ContextVar("complaints about the link, of this run")


def run_with_link_warnings(page: Callable[[], None]) -> None:
    """Run a page and warn of faults in its link above it, where a closed popover does not hide the sentence.

    Streamlit silently drops or corrects a value that a bound control does not take: what the page itself has not
    checked is compared with the controls that read it in this run.
    """
    warnings = LinkWarnings(place=st.container())
    _link_warnings.set(warnings)
    repeated = REPEATED_WARNINGS.pop()
    parameters = {key: text for key, text in st.query_params.to_dict().items() if key not in st.session_state}
    misread = [key for key, text in parameters.items() if _is_misread(text)]
    remove_parameters(misread)
    for key in misread:
        warn_of_link(key, f"The link's value of “{key}” is not a finite number. Using the default instead.")
    page()
    for key, text in parameters.items():
        dropped = key in linked_keys() and key in st.session_state and st.query_params.get(key) != text
        if dropped and key not in warnings.checked and not _is_meant(text, st.session_state[key]):
            shown = st.session_state[key]
            is_number = isinstance(shown, int | float) and not isinstance(shown, bool)
            instead = exactly(shown) if is_number else "the default"
            warn_of_link(
                key, f"The link has a value for “{key}” that this control does not accept. Using {instead} instead."
            )
    for key, sentence in repeated.items():
        if key not in warnings.sentences:
            warn_of_link(key, sentence)


def repeat_warnings() -> None:
    """Have the next run repeat the warnings of this one, of which nothing stays on the screen."""
    warnings = _link_warnings.get(None)
    REPEATED_WARNINGS.value = warnings.sentences if warnings else {}


def warn_of_link(key: str, sentence: str) -> None:
    """Warn of a faulty value in the link: once, above the page."""
    warnings = _link_warnings.get(None)
    if warnings is None:
        return  # a part of the page runs alone: this run was not started by a link
    warnings.checked.add(key)
    warnings.sentences[key] = sentence
    warnings.place.warning(sentence)


def _is_misread(text: str) -> bool:
    """Return whether a control would misread a text as a number: one without end ends its run, and 1_0 becomes 10."""
    try:
        return math.isinf(float(text)) or "_" in text
    except ValueError:
        return False


def _is_meant(text: str, value: object) -> bool:
    """Return whether a link means a control's value in another spelling: 1.0 for 1, TRUE for True."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return read_number(text) == value
        except ValueError:
            return False
    return text.lower() == str(value).lower()


def link_key(entry: Entry, name: str) -> str:
    """Return the parameter's name in the link."""
    return name if name in SHARED else f"{entry.key}-{name}"


def audit_link(entry: Entry, values: Mapping[str, Value], relation: Neighbours) -> dict[str, str]:
    """Return the parameters of the link that audits a mechanism in Learn."""

    def written(name: str, value: Value) -> str:
        if isinstance(value, str | bool):
            return str(value).lower() if isinstance(value, bool) else value
        return _power(value) if name == "delta" else exactly(value)

    parameters = {link_key(entry, name): written(name, value) for name, value in values.items()}
    # A bound radio's link holds words; the default one may be written by its key.
    neighbours_text = str(relation) if relation is Neighbours.REPLACE_ONE else relation.words
    return {"lesson": "audit", "audit-of": entry.key, "neighbours": neighbours_text, **parameters}


def audit_this(entry: Entry, values: Mapping[str, Value], relation: Neighbours) -> None:
    """Draw the link to the audit of a mechanism at these parameters."""
    st.page_link("learn/page.py", label="Test this privacy claim", query_params=audit_link(entry, values, relation))


def check_link(key: str, *, parameter: Parameter) -> None:
    """Warn of a value in the link that is out of range: the control itself would drop it silently."""
    text = st.query_params.get(key)
    if text is None or parameter.boolean or parameter.choices:
        return
    try:
        fits = parameter.low <= read_number(text) <= parameter.high
    except ValueError:
        fits = False
    if not fits:
        shown = f"{parameter.label} {parameter.symbol}".strip()
        warn_of_link(
            key,
            f"The link's value of “{shown}” is not a number between {exactly(parameter.low)} and "
            f"{exactly(parameter.high)}. Using the default instead.",
        )


def check_choice(key: str, options: Sequence[str], *, label: str) -> None:
    """Warn of a choice in the link that does not exist: the control itself would silently use its default."""
    text = st.query_params.get(key)
    if text is not None and text not in options:
        warn_of_link(
            key, f"The link's value of “{key}” is not one of the choices of “{label}” here. Using the default instead."
        )


def choice(
    label: str,
    titles: Mapping[str, str],
    *,
    key: str,
    default: str | None = None,
    help_text: str | None = None,
    named_alone: bool = False,
    shown_as: Literal["box", "slider", "cards"] = "box",
) -> str:
    """Return one of several keys, shown by title; the link holds the key, not the title as of a bound select box.

    With ``named_alone`` a link that would be empty holds the default as well.
    """
    draw: Any = {
        "box": st.selectbox,
        "slider": st.select_slider,
        "cards": partial(st.segmented_control, required=True, label_visibility="collapsed", width="stretch"),
    }[shown_as]
    first = default if default in titles else next(iter(titles))
    reset_on_history(in_link(key))
    if warnings := _link_warnings.get(None):  # None where a part of the page runs alone
        warnings.checked.add(key)  # not bound to the link, and checked here
    if key not in st.session_state:
        check_choice(key, list(titles), label=label)
        text = st.query_params.get(key)
        st.session_state[key] = text if text in titles else first
    elif st.session_state[key] not in titles:
        st.session_state[key] = first
    chosen = str(
        draw(
            label,
            list(titles),
            key=key,
            format_func=lambda option: titles[option],
            help=help_text,
            persist_state="session",
        )
    )
    if chosen != first or (named_alone and not {*st.query_params} - {key, PRESENT}):
        if st.query_params.get(key) != chosen:
            st.query_params[key] = chosen
    elif key in st.query_params:
        del st.query_params[key]
    return chosen


def segments(label: str, options: Sequence[OptionT], *, key: str, default: OptionT, **look: Any) -> OptionT | None:
    """Return one of a few options side by side, which the link holds."""
    chosen: OptionT | None = st.segmented_control(
        label, options, default=default, required=True, key=in_link(key), bind="query-params", **look
    )
    return chosen


def whole(
    label: str, low: int, high: int, default: int, *, key: str, step: int = 1, help_text: str | None = None
) -> int:
    """Return a whole number, bound to the link; a link out of range gets a warning.

    The range may follow the data: a value kept from other data moves into it.
    """
    check_link(key, parameter=Parameter(label=label, low=low, high=high))
    previous = SessionKey(key, default)
    if previous.is_set and not low <= previous.value <= high:
        previous.value = min(max(previous.value, low), high)
    return int(
        st.slider(
            label, low, high, default, step=step, format="%,d", key=in_link(key), help=help_text, bind="query-params"
        )
    )  # fmt: skip


def stops(label: str, options: Sequence[float], default: float, *, key: str, help_text: str | None = None) -> float:
    """Return one of several numbers, shown with thousands separators; the link holds all its digits and none."""
    titles = {exactly(option): with_thousands(option) for option in options}
    with _place(key):
        return float(choice(label, titles, key=key, default=exactly(default), help_text=help_text, shown_as="slider"))


def with_thousands(number: float) -> str:
    """Return a number of a slider, from a thousand on in whole numbers.

    >>> with_thousands(0.05), with_thousands(10_000.0)
    ('0.05', '10,000')
    """
    return f"{number:,.0f}" if number >= 1000 else exactly(number)


def _place(key: str) -> AbstractContextManager[object]:
    """Return where a control is drawn: ε goes into a presentation, if there is one."""
    return presentation_place("slider") if key.endswith("epsilon") else nullcontext()


def seed(key: str = "seed", *, help_text: str | None = None) -> int:
    """Return the seed of a page's previews."""
    return int(st.number_input("Preview seed", 0, 999_999, 1, key=in_link(key), help=help_text, bind="query-params"))


def neighbours(person_rows: int = 0, *, both: bool = True) -> Neighbours:
    """Return the relation of neighbouring data sets, the same on every page, and show it in the line on top.

    There is no choice where persons are protected, or where a page has no guarantees for ``both`` relations.
    """
    if person_rows:
        relation = Neighbours.ADD_REMOVE_ONE
    elif not both:
        relation = Neighbours.REPLACE_ONE
    else:
        relation = Neighbours(
            st.radio(
                "Neighbouring data sets",
                [str(each) for each in Neighbours],
                key=in_link("neighbours"),
                bind="query-params",
                format_func=lambda each: Neighbours(each).words,
                help="The unit of privacy is a row. Adding, removing or replacing one row makes no result more "
                "than e^ε times as likely, plus δ.",
            )
        )
    show_relation(relation, person_rows)
    return relation


def read_target(text: str, *, n: int) -> float | None:
    """Return a typed error as a fraction of n, above 0 and below 1; None for any other text.

    >>> read_target("1%", n=1000), read_target("0.2", n=1000), read_target("50 rows", n=1000), read_target("2", n=1000)
    (0.01, 0.2, 0.05, None)
    """
    match = TARGET.fullmatch(text)
    if not match:
        return None
    number = float(match[1].replace(",", "."))
    share = number / 100 if match[2] == "%" else number / n if match[2] else number
    return share if 0 < share < 1 else None


def log_stops(parameter: Parameter) -> list[float]:
    """Return the stops of a logarithmic slider, the same ten in every decade of its usual range."""
    lowest, highest = (parameter.stops[0], parameter.stops[-1]) if parameter.stops else (parameter.low, parameter.high)
    return [value for value in ROUND if lowest <= value <= highest]


def exact_entry(parameter: Parameter, *, key: str, default: float, help_text: str | None = None) -> float:
    """Draw the box for an exact number, which the link holds, and return it."""
    return float(
        st.number_input(
            f"Exact {parameter.symbol or parameter.label}", value=default, min_value=float(parameter.low),
            max_value=float(parameter.high), step=None, format="%g", key=in_link(key), bind="query-params",
            on_change=to_link, args=(key,), help=help_text,
        )
    )  # fmt: skip


def number(parameter: Parameter, *, key: str, default: float) -> float:
    """Return a number on a log scale: the exact input is bound to the link and counts; the slider mirrors it."""
    stops = log_stops(parameter)
    slider_key = f"{key}_slider"

    def from_slider() -> None:
        st.session_state[key] = st.session_state[slider_key]

    check_link(key, parameter=parameter)
    with _place(key):
        row = st.container(horizontal=True, vertical_alignment="bottom")
        slider_place, entry_place = row.container(width="stretch"), row.container(width=ENTRY)
    label = f"{parameter.label} {parameter.symbol}".strip()
    with entry_place:
        value = exact_entry(parameter, key=key, default=default)
    st.session_state[slider_key] = min(stops, key=lambda stop: abs(math.log(stop / value)))
    with slider_place:
        st.select_slider(
            label,
            options=stops,
            key=slider_key,
            format_func=with_thousands,
            on_change=from_slider,
            help=parameter.help or None,
        )
    return value


def control(entry: Entry, name: str, parameter: Parameter) -> Value:
    """Draw the control of one declared parameter, and return its value."""
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
    check_link(key, parameter=parameter)
    return float(
        st.slider(
            label, parameter.low, parameter.high, float(default), key=in_link(key), help=shown, bind="query-params"
        )
    )


def choose_entry(label: str, entries: Mapping[str, Entry], *, key: str, default: str | None = None) -> Entry:
    """Draw the choice of a mechanism, with the stories of all as its help, and return it."""
    titles = {name: each.title for name, each in entries.items()}
    help_text = "\n\n".join(f"{each.title}: {each.story}" for each in entries.values())
    return entries[choice(label, titles, key=key, default=default, help_text=help_text)]


def epsilon_bar(entry: Entry, bar: DeltaGenerator) -> float:
    """Return ε from the bar above the pictures."""
    with bar:
        value = float(control(entry, "epsilon", entry.controls()["epsilon"]))
        st.caption("← more private · more accurate →")
    return value


class Settings(TypedDict):
    """A mechanism, its parameters, the relation and the seed, by their names in a page's request."""

    entry: Entry
    values: dict[str, Value]
    neighbours: Neighbours
    seed: int


def settings(entry: Entry, bar: DeltaGenerator, *, in_more: str = "") -> Settings:
    """Return all settings of a mechanism; one parameter may stand in More settings."""
    parameters = entry.controls()
    values = {name: control(entry, name, p) for name, p in parameters.items() if name not in ("epsilon", in_more)}
    with st.popover("More settings", width="stretch"):
        relation, coins = neighbours(), seed()
        if in_more:
            values[in_more] = control(entry, in_more, parameters[in_more])
    values["epsilon"] = epsilon_bar(entry, bar)
    return Settings(entry=entry, values=values, neighbours=relation, seed=coins)


def _power_of_ten(parameter: Parameter, *, key: str, default: float, label: str) -> float:
    """Return δ by its order of magnitude."""
    options = [_power(stop) for stop in parameter.stops]
    chosen = _power(default)
    check_choice(key, options, label=label)
    return float(
        st.select_slider(
            label, options=options, value=chosen, key=in_link(key), help=parameter.help or None, bind="query-params"
        )
    )


def _power(number: float) -> str:
    """Return a number by its order of magnitude, such as 1e-6."""
    return f"{number:.0e}".replace("e-0", "e-")
