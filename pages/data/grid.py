"""All columns of a table in one grid: each domain is typed by the user, never silently read from the data.

Each cell is stored in the session, apart from the widget: it survives a change of page, and values that were filled
in from private data can be cleared. None of it is in a link, which cannot carry the file.
"""

from __future__ import annotations

import dataclasses
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.core import ParameterError, exactly, read_number
from dpcore.data.columns import Labels, Number, is_labels
from dpcore.data.dates import STEPS, bound_of
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.dictionaries.description import AGE, CATEGORY, DATE, NUMBER, WHOLE, YES_NO, DescribedColumn
from dpcore.data.dictionaries.labels import joined_labels, labels_text, split_labels
from dpcore.data.reading.intake import clean_name
from dpcore.data.reading.tables import BLANKS
from pages.charts.script import declare_component
from pages.data.upload import SessionFile
from pages.shell.private.steward import FILLED, still_filled, typed_in
from pages.shell.state import SessionKey, set_controls
from pages.shell.tasks.memory import forget_remembered, remember

if TYPE_CHECKING:
    import pandas as pd

DATES = {f"date: {step}": step for step in STEPS}
COLUMN_TYPES = (NUMBER, WHOLE, CATEGORY, *DATES, AGE, YES_NO)
NEAREST, MISSING = "nearest bound", "missing"
FIELDS: dict[str, tuple[str, Any]] = {
    "use": ("Use", True),
    "kind": ("Kind", NUMBER),
    "from": ("From", None),
    "to": ("To", None),
    "labels": ("Labels", None),
    "bins": ("Bins", 1024),
    "outside": ("Out of bounds", NEAREST),
    "unit": ("Unit", None),
}
"""Title and initial value of a column's cells."""
TITLES = {name: title for name, (title, _) in FIELDS.items()}
DEFAULTS = {name: initial for name, (_, initial) in FIELDS.items()}
KIND_FIELDS = ("from", "to", "labels")
KIND_CHOSEN = "told"
"""Key beside a column's cells: whether the user chose its kind."""
MAX_NAMED = 5
"""Maximum number of columns that a sentence names."""
LABELS_HELP = (
    "For a category: labels separated by semicolons, exactly as in the file. Put a label with a semicolon in quotes."
)
NAME = "Column"
HEAD, ROW, EDGES, TALLEST = 36, 35, 2, 420
"""Pixels of the grid's header, of a row, of its frame, and maximum height."""
LETTERS, NAMES, LINE = 20, 205, 20
"""Letters in a line of a column's name if one is longer; pixels of the column of such names, and of a further line."""
_every_key = declare_component(
    "dpscope.grid", js=(Path(__file__).resolve().parent / "grid.js").read_text(encoding="utf-8")
)


@dataclass(frozen=True, kw_only=True)
class ColumnInput:
    """The inputs of one column: texts as typed, None if empty."""

    name: str
    use: bool
    kind: str
    low: str | None
    high: str | None
    labels: str | None
    bins: int | None
    outside: str
    unit: str | None

    @property
    def missing_inputs(self) -> str:
        """Names of the inputs that are missing; empty if none."""
        if self.kind == CATEGORY:
            return "" if split_labels(self.labels or "") else "labels"
        if self.kind == YES_NO:
            return ""
        if self.kind == AGE:
            return "" if self.high else "to, the day on which ages are counted"
        wanted = {"from": self.low, "to": self.high, "bins": self.bins if self.kind == NUMBER else 1}
        return ", ".join(name for name, value in wanted.items() if not value)

    def domain(self) -> Number | Labels:
        """Return the declared domain.

        Raises:
            ParameterError: the inputs are no valid domain.
        """
        return self.described().domain()

    def described(self) -> DescribedColumn:
        """Return the inputs as a data dictionary states them."""
        dated, step = self.kind in DATES, DATES.get(self.kind, "day")
        low, high = (self.low or "").strip() if self.kind != AGE else "", (self.high or "").strip()
        if dated:
            low, high = bound_of(low, step, is_last=False), bound_of(high, step, is_last=True)
        return DescribedColumn(
            name=self.name, used=self.use, kind=DATE if dated else self.kind, step=step, low=low, high=high,
            clamp=self.outside != MISSING, bins=int(self.bins or 0) if self.kind == NUMBER else 0,
            unit=clean_name(self.unit or "") if self.kind != AGE else "",
            labels=split_labels(self.labels or "") if self.kind == CATEGORY else (),
        )  # fmt: skip


def cell_key(file: SessionFile, place: int, name: str) -> str:
    """Return the session key of a cell."""
    return f"{file.prefix}{place}-{name}"


def cell(file: SessionFile, place: int, name: str) -> Any:
    """Return the value of a cell."""
    return SessionKey[Any](cell_key(file, place, name), DEFAULTS[name]).value


def put_cells(file: SessionFile, place: int, cells: Mapping[str, Any]) -> None:
    """Put values that do not come from the rows into a column's cells, as if the user had typed them."""
    for name, value in cells.items():
        set_controls({cell_key(file, place, name): value})
        typed_in(cell_key(file, place, name))


def is_untouched(file: SessionFile, place: int, row: ColumnInput) -> bool:
    """Return True for a column as it is at first: its kind is not chosen, and nothing is declared."""
    chosen = SessionKey(cell_key(file, place, KIND_CHOSEN), False).value
    return not chosen and row.kind == DEFAULTS["kind"] and not (row.low or row.high or row.labels)


def join_names(parts: Sequence[str]) -> str:
    """Return the first names, and the number of further ones."""
    more = f" and {len(parts) - MAX_NAMED:,} more" if len(parts) > MAX_NAMED else ""
    return f"{', '.join(parts[:MAX_NAMED])}{more}"


def column_inputs(file: SessionFile) -> list[ColumnInput]:
    """Return the grid's inputs, by column."""
    return [
        ColumnInput(name=column, **{_field(name): cell(file, place, name) for name in DEFAULTS})
        for place, column in enumerate(file.table.columns)
    ]


def declared_table(
    rows: list[ColumnInput], *, person: str = "", person_rows: int = 1
) -> tuple[DeclaredTable, dict[str, str]]:
    """Return the fully declared columns, and the errors of others by name."""
    columns, errors = [], {}
    for row in rows:
        if not row.use:
            continue
        if row.missing_inputs:
            if fault := row.described().fault:  # one bound may be typed already, and be none
                errors[row.name] = fault
            continue
        try:
            columns.append(DeclaredColumn(name=row.name, on=row.domain()))
        except ParameterError as problem:
            errors[row.name] = str(problem)
    return DeclaredTable(columns=tuple(columns), person=person, person_rows=person_rows), errors


def frame_of(rows: list[ColumnInput]) -> pd.DataFrame:
    """Return the grid as a DataFrame with fixed types: with changing ones the browser would reset it."""
    import pandas as pd

    cells: dict[str, Any] = {NAME: pd.array([row.name for row in rows], dtype="string")}
    values = {name: [getattr(row, _field(name)) for row in rows] for name in DEFAULTS}
    for name, column in values.items():
        kind = {"use": "bool", "bins": "Int64"}.get(name, "string")
        if name == "labels":
            column = [_joined(text) for text in column]
        cells[TITLES[name]] = pd.array(column, dtype=kind)
    return pd.DataFrame(cells)


def _field(name: str) -> str:
    """Return the attribute of ColumnInput for a cell."""
    return {"from": "low", "to": "high"}.get(name, name)


def _joined(text: str | None) -> str | None:
    """Return labels in one line if they parse to the same labels."""
    labels = split_labels(text or "")
    line = joined_labels(labels)
    return (line or None) if split_labels(line) == labels else text


def show_grid(rows: list[ColumnInput], *, key: str) -> None:
    """Draw a read-only grid of fixed columns."""
    _offer_no_file(key)
    st.data_editor(
        frame_of(rows), key=key, hide_index=True, disabled=True, column_config=_columns(broken=_lines(rows) > 1),
        alt=ALT, placeholder="–", row_height=_row_height(rows),
    )  # fmt: skip


ALT = "Every column of the table: used or not, kind, bounds or labels, bins, and treatment of values out of bounds."


NO_FILE = (
    '<style>.st-key-{key} [data-testid="stElementToolbarButton"]:has([aria-label^="Download" i])'
    " {{ display: none; }}</style>"
)
"""Hides the download: names and labels are not escaped, and a spreadsheet could execute them."""


def _offer_no_file(key: str) -> None:
    st.html(NO_FILE.format(key=re.sub("[^a-zA-Z0-9_-]", "-", key.strip())))


def edit_grid(file: SessionFile) -> None:
    """Draw the editable grid of a file and store its edits.

    The same rows are sent to the browser on each run, with its edits on top: other rows would close the open editor.
    """
    key = grid_key(file)
    if not key.is_set:  # the widget is new, or its edits were dropped after another page
        forget_remembered(f"grid|{key}")
    rows = remember(f"grid|{key}", lambda: column_inputs(file))
    row_height = _row_height(rows)
    _offer_no_file(key)
    st.data_editor(
        frame_of(rows), key=key, hide_index=True, disabled=[NAME], column_config=_columns(broken=_lines(rows) > 1),
        alt=ALT, height=min(TALLEST, HEAD + (row_height or ROW) * len(rows) + EDGES), placeholder="–",
        row_height=row_height,
    )  # fmt: skip
    _every_key(key=f"{file.prefix}keys")
    names = {title: name for name, title in TITLES.items()}
    edited, earlier = key.value["edited_rows"], SessionKey[frozenset[tuple[int, str]]](f"{key}-edited", frozenset())
    cells = frozenset((int(place), names[title]) for place, edits in edited.items() for title in edits)
    for place, name in earlier.value - cells:  # a cell that is as at first again is no edit any more
        set_controls({cell_key(file, place, name): getattr(rows[place], _field(name))})
    earlier.value = cells
    for place, edits in edited.items():
        for title, value in edits.items():
            set_controls({cell_key(file, int(place), names[title]): _normalize(names[title], value)})
            if names[title] == "kind":
                set_controls({cell_key(file, int(place), KIND_CHOSEN): True})
            by_hand = names[title] in KIND_FIELDS and not still_filled(cell_key(file, int(place), names[title]))
            if names[title] == "kind" or by_hand:  # a user who types a bound or labels has chosen the kind
                typed_in(cell_key(file, int(place), "kind"))


def _normalize(name: str, value: Any) -> Any:
    """Return a cell in its canonical spelling, so that a retyped value equals the one that was filled in."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return DEFAULTS[name] if name in ("kind", "outside", "use") else None
    if name == "labels":
        return labels_text(split_labels(value.strip(BLANKS)))
    if name in ("from", "to"):
        try:
            number = read_number(value.replace("−", "-"))
        except ValueError:
            return value.strip()
        return exactly(number) if math.isfinite(number) and not value.strip().isdecimal() else value.strip()
    return value


def grid_key(file: SessionFile) -> SessionKey[dict[str, Any]]:
    """Return the widget's key, which changes when cells are filled in or cleared: old edits must not return."""
    return SessionKey(f"{file.prefix}grid-{_grid_version(file).value}-{int(FILLED.is_set)}", {})


def reset_grid(file: SessionFile) -> None:
    """Reset the widget to the stored cells."""
    _grid_version(file).value += 1


def _grid_version(file: SessionFile) -> SessionKey[int]:
    """Return the counter of the grid's resets."""
    return SessionKey(f"{file.prefix}turn", 0)


def _lines(rows: list[ColumnInput]) -> int:
    """Return the number of lines of the longest name."""
    return max((len(textwrap.wrap(row.name, LETTERS)) for row in rows), default=1)


def _row_height(rows: list[ColumnInput]) -> int | None:
    """Return a row's height in pixels for the longest name; None for the default."""
    further = _lines(rows) - 1
    return ROW + LINE * further if further else None


def _columns(*, broken: bool) -> dict[str, Any]:
    """Return the configuration of the grid's columns; ``broken`` if names have several lines."""
    config = st.column_config
    bound_help = (
        "A number, or a date as 2024-02-29, 2024-W09, 2024-02 or 2024. It must be public: type what you "
        "know from another source."
    )
    return {
        NAME: config.TextColumn(pinned=True, width=NAMES if broken else None),
        TITLES["use"]: config.CheckboxColumn(width="small"),
        TITLES["kind"]: config.SelectboxColumn(options=list(COLUMN_TYPES), required=True),
        TITLES["from"]: config.TextColumn(max_chars=30, help=bound_help),
        TITLES["to"]: config.TextColumn(
            max_chars=30, help=f"{bound_help} A date’s unit is included. For an age: the day on which it is counted."
        ),
        TITLES["labels"]: config.TextColumn(help=LABELS_HELP),
        TITLES["bins"]: config.NumberColumn(
            min_value=2,
            max_value=65_536,
            step=1,
            help="Cells of equal width. A date’s unit or a whole number is a cell by itself.",
        ),
        TITLES["outside"]: config.SelectboxColumn(
            options=[NEAREST, MISSING], required=True, help="Rows are never dropped for a value that does not fit."
        ),
        TITLES["unit"]: config.TextColumn(max_chars=20, help="Unit of a number, for example years or USD."),
    }


def column_input(column: DescribedColumn) -> ColumnInput:
    """Return the grid's inputs for a column of a data dictionary; what it does not state is as it is at first."""
    kind = f"date: {column.step}" if column.kind == DATE else column.kind or DEFAULTS["kind"]
    return ColumnInput(
        name=column.name, use=column.used, kind=kind, low=column.low or None, high=column.high or None,
        labels=labels_text(column.labels) or None, bins=column.bins or DEFAULTS["bins"],
        outside=NEAREST if column.clamp else MISSING, unit=clean_name(column.unit) or None,
    )  # fmt: skip


def grid_cells(row: ColumnInput) -> dict[str, Any]:
    """Return the inputs of a column as values of its cells."""
    return {name: getattr(row, _field(name)) for name in DEFAULTS}


def fixed_column(column: str, domain: Number | Labels) -> ColumnInput:
    """Return the grid's inputs for a declared column, with the cells that it has."""
    shown = column_input(DescribedColumn.of(DeclaredColumn(name=column, on=domain)))
    if is_labels(domain):
        return dataclasses.replace(shown, bins=None, outside=MISSING)
    return dataclasses.replace(shown, bins=domain.ordered)
