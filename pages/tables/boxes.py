"""Boxes on the Tables page: ranges in two or three columns, and their errors beside the guarantee."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Floats
from dpcore.core.sizes import MAX_BOX_COLUMNS
from dpcore.data.bundled import BOXED, ranges_of
from dpcore.data.columns import is_number
from dpcore.data.product import Product
from dpcore.data.samples import sample
from dpcore.data.sources import Source
from dpcore.mechanisms import entry
from dpcore.mechanisms.intervals.box_errors import BoxErrors, box_errors
from dpcore.mechanisms.intervals.boxes import BoxCuts, BoxState
from dpcore.queries.boxes import RangeBoxes
from dpcore.randomness import Preview
from pages.charts.words import percent, printable_labels, rows
from pages.charts.worst import TrialNouns
from pages.data.declare import declared_columns
from pages.data.picker import BY_PERSON, NOT_SENT, OWN_FILE, choose_data, show_credit
from pages.data.upload import session_file
from pages.shell.controls import settings
from pages.shell.private.data_in_use import drawn_always
from pages.shell.request import PageRequest
from pages.shell.tasks.memory import remember, with_progress
from pages.shell.theorem import BETA
from pages.shell.workbench import Workbench
from pages.tables.marginals.charts import errors_within
from pages.tables.worst_error import ErrorWords, render_headline, render_worst_error

LEAD = (
    "**How many rows lie in a range of each of 2 or 3 columns at once?** Cut one column into slabs with "
    "equally many rows, each slab into bars, and each bar into cells.",
    "Blum, Ligett and Roth call intervals “easily extended” to constant dimension. That is true, but the "
    "constants are large. Each further column puts more rows at a box's boundary and adds more errors.",
)
TOO_COARSE = "with so few levels, **no number of rows is enough**"
TRIALS = 100


class BoxResult:
    """The errors of boxes in previewed releases.

    Attributes:
        request: the settings.
        problem: the public problem.
        mechanism: the mechanism at these settings.
        key: everything that the errors depend on.
        errors: the errors of the releases.
    """

    def __init__(self, request: PageRequest[RangeBoxes]) -> None:
        """Preview many releases at these settings."""
        dataset = request.dataset()
        self.request, self.mechanism = request, request.mechanism_of(BoxCuts)
        mechanism, self.problem = self.mechanism, request.problem(dataset.n)
        about = f"{request.source.key}|{self.problem.n}|{request.neighbours}"
        state: BoxState = remember(f"boxes|{about}", lambda: mechanism.prepare(dataset, self.problem))
        self.key = f"box-errors|{about}|{mechanism!r}|{request.seed}"
        work = partial(box_errors, mechanism, state, Preview(request.seed), trials=TRIALS)
        self.errors: BoxErrors = with_progress(self.key, work, label="Sampling releases.")


def _draw_controls(side: DeltaGenerator, bar: DeltaGenerator) -> PageRequest[RangeBoxes] | None:
    """Draw the controls, ε in the bar; return None while fewer than two columns are picked."""
    file = session_file()
    declared = declared_columns(file)[0] if file and not file.by_person else None
    # Labels have no order, so that a range of them has no meaning.
    own = [column.name for column in declared.used if is_number(column.on)] if declared else []
    with side:
        key = choose_data(
            "Rows of numbers",
            {key: sample(key).title for key in BOXED},
            key="boxes-of",
            own_title="Your table's numbers and dates" if len(own) > 1 else "",
            missing_reason=BY_PERSON if file and file.by_person else NOT_SENT,
            help_text="Bundled samples are public: previews on them spend no privacy budget. Of a private table, "
            "mock data with its declared columns are drawn.",
        )
        table = declared if key == OWN_FILE and file else None
        names = own if table else list(sample(key).boxes)
        picker = f"{file.prefix}boxes-columns" if file and table else f"boxes-columns-{key}"
        columns = st.multiselect(
            "Columns",
            names,
            default=names[:MAX_BOX_COLUMNS],
            key=picker,
            max_selections=MAX_BOX_COLUMNS,
            persist_state="session",
        )
        chosen = settings(entry("boxes"), bar)
        if len(columns) < 2:
            st.info("Pick two columns or three.")
            return None
        if file and table:
            rows = Source(origin=file.origin, reading=table.whole(*columns))
        else:
            rows = ranges_of(key, *columns)
            show_credit(rows)
        source = drawn_always(rows, chosen["neighbours"])
    queries = RangeBoxes(domain=source.on(Product))
    return PageRequest(rows=rows, source=source, queries=queries, **chosen)


def _headline(result: BoxResult) -> None:
    problem, n = result.problem, result.problem.n
    bound = result.mechanism.accuracy(problem, BETA)
    median = float(np.median(result.errors.worst))
    needed = f"a guaranteed error below 100% needs **{bound.rows_needed:,} rows**" if bound.rows_needed else TOO_COARSE
    why = f": {needed}" if bound.applies else ", because the number of rows is not checked"
    render_headline(
        f"Expected error of the worst of {result.request.queries.count:,} boxes: {percent(median)} ({rows(median, n)})",
        result.mechanism.guarantee(problem),
        of="boxes",
        before="" if bound.guaranteed else f"No error is guaranteed for {n:,} rows{why}. ",
    )


def _all_boxes(result: BoxResult) -> None:
    st.subheader("Errors of all boxes in one release")
    errors = np.abs(result.errors.released - result.errors.truth)
    picture = errors_within(errors, noun="boxes", role="mechanism:boxes", n=result.problem.n)
    result.request.draw(picture, key="tables_boxes", title="errors of boxes")


def _worst_error(result: BoxResult) -> None:
    queries = result.request.queries

    def work() -> Generator[float, None, Floats]:
        yield 1.0
        return result.errors.worst

    dots = f"Boxes begin and end at evenly spaced positions of each column, at most {queries.marks + 1}."
    observed_on = f"all {queries.count:,} boxes of the batch"
    words = ErrorWords(observed_on=observed_on, dots=dots, called=TrialNouns(query="box", over="all boxes"))
    render_worst_error(result.request, result.problem, result.mechanism, words, beta=BETA, key=result.key, work=work)


def _one_box(result: BoxResult) -> None:
    """Draw a range control for each column; then the true answer and the released one."""
    queries, n = result.request.queries, result.problem.n
    ranges = []
    for place, (name, column) in enumerate(
        zip(printable_labels(queries.domain.names), queries.domain.columns, strict=True)
    ):
        marks = queries.places[place].tolist()
        ends = [column.ends(mark, mark)[0] for mark in marks[:-1]]
        ends.append(column.ends(marks[-1] - 1, marks[-1] - 1)[1])
        low, high = st.select_slider(
            name,
            range(len(marks)),
            value=(0, len(marks) // 2),
            format_func=ends.__getitem__,
            key=f"box-{place}-{len(marks)}",
        )
        ranges.append((min(low, high), max(low, high)))
    if any(low == high for low, high in ranges):
        st.caption("The end of a box must be above its beginning.")
        return
    index = queries.index(ranges)
    true, released = float(result.errors.truth[index]), float(result.errors.released[index])
    st.markdown(
        f"True **{percent(true)}** ({rows(true, n)}), released **{percent(released)}**, error "
        f"{percent(abs(released - true))}. :gray-badge[true] :blue-badge[simulated]"
    )


def _code(result: BoxResult) -> str:
    return result.request.code_of_release(
        "for index, share in list(enumerate(release.answers()[0].tolist()))[:5]:",
        '    print(f"{queries.describe(index)}: {share:.3f}")',
    )


BOXES = Workbench(
    title="Tables",
    lead=LEAD,
    key="boxes",
    controls=_draw_controls,
    compute=BoxResult,
    headline=_headline,
    views={"All boxes and guarantee": (_all_boxes, _worst_error), "One box": _one_box},
    slow=(_worst_error,),
    code=_code,
)
