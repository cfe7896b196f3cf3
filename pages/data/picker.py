"""The data set in use, and the controls that select it: generated shapes, bundled columns, the user's own file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dpcore.core import ParameterError
from dpcore.data.bundled import ANSWERED, BOXED, CUT, VECTORS, bundled
from dpcore.data.declarations import Capped
from dpcore.data.generators import GENERATORS
from dpcore.data.product import is_map
from dpcore.data.samples import SAMPLES, sample
from dpcore.data.sources import SIDE_BITS, Bundled, Source, generated_rows
from dplab.recipe import DEFAULT_RECIPE
from pages.shell.addresses import PageSpec
from pages.shell.controls import choice, stops, warn_of_link, whole
from pages.shell.links import FOLLOWED, PAGE, control_value, in_link, linked_values
from pages.shell.private.data_in_use import show_data_in_use
from pages.shell.private.twin import is_twin, own_rows
from pages.shell.session import DATA
from pages.shell.state import SessionKey, set_controls

GROUP_PRIVACY = (
    "By group privacy, ε for a person is at most the ε for a row times the number of rows. δ above 0 grows "
    "by a larger factor."
)
"""Help for the number of rows of one person."""

OWN_FILE = "my-file"
ROW_CHOICES = (100, 300, 1000, 3000, 10_000, 20_269, 30_000, 66_353, 100_000, 300_000, 1_000_000)
SHAPE, ROWS, BITS = "bimodal", DEFAULT_RECIPE.source.public_rows, 10
"""Defaults of every page."""
HOME: Mapping[str, Any] = {str(DATA): "ages", "bits": 7}
"""Controls of the data set that is in use before one is chosen: ages, where a cell is a year."""
UNITS = {
    "0": "A row",
    "1": "A person with one row",
    "2": "A person with up to two rows",
    "5": "A person with up to five rows",
}
"""Units of privacy of a sample in which a person has several rows, by the maximum number of rows that are read."""
PAIR = "*"
"""Separator of two column names in a link."""
LAST_PICKER = SessionKey("picked_on", ("", False))
"""Default of the picker that was drawn last, and whether it has pairs."""
OWN_CHOICES: Mapping[str, Mapping[str, Collection[str]]] = {
    "plan": {"table": tuple(each.key for each in SAMPLES)},
    "tables": {"cube": ANSWERED, "tables-of": CUT, "boxes-of": BOXED},
    "learn": {"vectors": VECTORS},
}
"""Choices of data that are a page's own, by its folder and their key, with the samples that each offers."""
NOT_SENT = "The link refers to an uploaded file, and links cannot share files. Choose data here."
TWO_COLUMNS = "Two columns of your file are in use, but this page needs one. Choose it on the Data page."
FILE_GONE = "Your file is no longer in use."
ONE_COLUMN = "Two columns were in use, but this page needs one."
BY_PERSON = "This page protects rows, but your file protects persons. Change this on the Data page."


def pair_titles(sample_key: str) -> dict[str, str]:
    """Return titles, without units, of a sample's pairs of columns, by link value."""
    titles = {each.name: each.title.partition(" (")[0] for each in sample(sample_key).columns}
    return {PAIR.join(pair): " × ".join(titles[column] for column in pair) for pair in sample(sample_key).pairs}


def options(*, pairs: bool) -> dict[str, str]:
    """Return titles of the public data sets, by link value; ``pairs`` includes pairs of columns.

    The column comes first, because a select box shows about thirty letters.
    """
    titles_by_value = {
        key: f"Generated: {shape.title.lower()}" for key, shape in GENERATORS.items() if pairs or not shape.in_the_plane
    }
    for each in SAMPLES:
        titles = {sample_column.name: sample_column.title.partition(" (")[0] for sample_column in each.columns}
        titles |= pair_titles(each.key) if pairs else {}
        name = each.title.partition(" (")[0]
        titles_by_value |= {f"{each.key}.{column}": f"{title} · {name}" for column, title in titles.items()}
    return titles_by_value


def choose_data(
    label: str,
    titles: Mapping[str, str],
    *,
    key: str,
    own_title: str = "",
    default: str | None = None,
    help_text: str,
    missing_reason: str = NOT_SENT,
    named_alone: bool = False,
) -> str:
    """Draw the select box of data sets and return the link value; the user's own file comes first.

    Args:
        label: of the box.
        titles: public data sets, by link value.
        key: of the box, and in the link.
        own_title: what the reader's own file is called here; empty where there is none that fits.
        default: link value with which a page opens; otherwise the first.
        help_text: of the box.
        missing_reason: said of a link that asks for the reader's own file where none fits.
        named_alone: whether a link that would be empty names the data set.
    """
    first = default or next(iter(titles))
    if own_title:
        titles = {OWN_FILE: own_title, **titles}
    elif st.query_params.get(key) == OWN_FILE:
        warn_of_link(key, missing_reason)
        del st.query_params[key]
    return choice(label, titles, key=key, default=first, help_text=help_text, named_alone=named_alone)


def pick_source(
    *,
    default: str = SHAPE,
    pairs: bool = False,
    persons: bool = False,
    is_home: bool = False,
    is_whole: Callable[[Source], bool] | None = None,
) -> Source:
    """Draw the controls of the data set in use and of its size, which the link holds; return the source.

    ``default`` applies if neither the link nor an earlier page names a data set. ``pairs``: the page can draw pairs of
    columns. ``persons``: the page supports persons with several rows. ``is_home``: an empty link opens the page with
    data of its own, so that no other data has an empty link. ``is_whole``: whether the page is about all columns of the
    table, so that the bar names no column.
    """
    own_source = own_rows()
    has_one_column = own_source is None or pairs or not is_map(own_source.domain)
    is_usable = own_source is not None and has_one_column and (persons or not own_source.person_rows)
    previous, titles = DATA.value, options(pairs=pairs)
    picker = (default, pairs)
    if previous in titles and LAST_PICKER.setdefault(picker) != picker:
        DATA.value = previous  # a select box with other options would reset to its first
    LAST_PICKER.value = picker
    chosen = choose_data(
        "Data",
        titles,
        key="data",
        own_title=f"{'Mock data with your columns' if is_twin(own_source) else 'Your file'}: {own_source.reading.title}"
        if own_source is not None and is_usable
        else "",
        default=default,
        help_text="Generated and bundled data are public: previews on them spend no privacy budget. Upload your own "
        "on the Data page.",
        missing_reason=NOT_SENT if own_source is None else BY_PERSON if has_one_column else TWO_COLUMNS,
        named_alone=is_home,
    )
    if previous and chosen != previous:
        reason = ONE_COLUMN
        if own_source is None and previous == OWN_FILE:
            reason = FILE_GONE
        elif own_source is not None and has_one_column and not is_usable:
            reason = BY_PERSON
        warn_of_link("data", f"{reason} Showing “{titles.get(chosen, chosen)}” instead.")
    pick_size(chosen)
    if is_home and chosen in GENERATORS and GENERATORS[chosen].unit:
        st.toggle(
            "You are in the data", value=True, key=in_link("you"), bind="query-params",
            help="If off, another person is in your place. Every release is at most e^ε times as likely with you as "
            "with the other, plus δ.",
        )  # fmt: skip
    if persons:
        pick_unit(chosen)
    source = current_source(persons=persons)
    show_data_in_use(source, whole_table=is_whole is not None and is_whole(source))
    return source


def pick_size(chosen: str) -> None:
    """Draw the controls of a data set's size: rows and grid of a generated shape, the grid of a pair of columns."""
    in_plane = PAIR in chosen or (chosen in GENERATORS and GENERATORS[chosen].in_the_plane)
    if chosen in GENERATORS:
        rows, grid = st.columns(2)
        with rows:
            stops("Rows n", ROW_CHOICES, ROWS, key="n")
    elif in_plane:
        grid = st.container()
    else:
        return
    with grid:
        if in_plane:
            whole("Grid bits d", 2, 6, SIDE_BITS, key="sides", help_text="Each side of the map has 2ᵈ cells.")
        else:
            whole("Grid bits d", 2, 14, BITS, key="bits", help_text="The grid has 2ᵈ cells (d as in the paper).")


def pick_unit(chosen: str) -> None:
    """Draw the control of the unit of privacy, for samples with a person column."""
    if _person_column(chosen):
        help_text = f"Further rows of a person are left out. {GROUP_PRIVACY}"
        choice("Who is protected?", UNITS, key="person-rows", default="0", help_text=help_text)


def _person_column(chosen: str) -> str:
    """Return the column of a sample that identifies the person; empty if there is none."""
    return "" if chosen in (*GENERATORS, OWN_FILE) else sample(chosen.split(".", 1)[0]).person or ""


def current_source(*, persons: bool = False) -> Source:
    """Return the data set in use: the last one selected on any page or by the link, at its selected size.

    ``persons``: the page supports persons with several rows.

    Raises:
        ParameterError: it was an uploaded file that no longer exists.
    """
    if not is_data_chosen():
        return generated_rows(HOME[DATA], n=ROWS, bits=HOME["bits"])
    chosen = str(_link_value("data", SHAPE))
    if chosen == OWN_FILE:
        own_source = own_rows()
        if own_source is None:
            raise ParameterError("The uploaded file is no longer here. Upload it again on the Data page.")
        return own_source
    return public_source(chosen, persons=persons)


def is_data_chosen() -> bool:
    """Return whether this session or the link names a data set."""
    return DATA.is_set or DATA in linked_values() or DATA in st.query_params


def follow_data_in_use(page: PageSpec) -> None:
    """Set the own choices of a page that is opened to the sample in use, where they offer it; called by the router.

    What the link names and what the user has chosen on that page stay.
    """
    if PAGE.value == page.address:
        return
    in_use = str(_link_value(DATA, st.query_params.get(DATA, ""))).partition(".")[0]
    for key, offered in OWN_CHOICES.get(page.folder, {}).items():
        if in_use not in offered:
            continue
        last = FOLLOWED.value.get(key)
        # A default value is not among the linked values, so that it is no choice.
        is_chosen = control_value(key, last) != last if last else key in linked_values()
        FOLLOWED.value = {**FOLLOWED.value, key: in_use}
        if not is_chosen and key not in st.query_params:
            set_controls({key: in_use})
            linked_values()[key] = in_use  # restored on the page, which also writes it into the link


def public_source(chosen: str, *, persons: bool = False) -> Source:
    """Return the source of a link value at its size: "bimodal", "adult.age", "cities.longitude*latitude".

    ``persons``: the selected maximum of rows of a person applies.
    """
    sides = int(_link_value("sides", SIDE_BITS))
    if chosen in GENERATORS:
        bits = sides if GENERATORS[chosen].in_the_plane else int(_link_value("bits", BITS))
        replaced = bool(GENERATORS[chosen].unit) and not _link_value("you", True)
        return generated_rows(chosen, n=int(_link_value("n", ROWS)), bits=bits, replaced=replaced)
    sample_key, columns = chosen.split(".", 1)
    source = bundled(sample_key, *columns.split(PAIR), bits=sides if PAIR in columns else None)
    rows, person = str(_link_value("person-rows", "0")), _person_column(chosen)
    if persons and person and rows in UNITS and int(rows):
        return replace(source, reading=Capped(reading=source.reading, person=person, rows=int(rows)))
    return source


def _link_value(key: str, default: str | int) -> Any:
    """Return the value of a control that the link holds, here or on the last page that had it."""
    return control_value(key, default)


def show_credit(source: Source, *, story: str = "") -> None:
    """Draw the description and the attribution of a bundled sample."""
    assert isinstance(source.origin, Bundled)
    sample = source.origin.sample
    popover = st.popover("About these rows", type="tertiary")
    popover.caption(f"{story or sample.story} Source: {sample.attribution}. Licence: {sample.licence}.")
