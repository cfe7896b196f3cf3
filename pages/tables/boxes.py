"""The fourth view of the Tables page: boxes in two or three columns, their errors beside the promise."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Floats
from dpcore.data.bundled import BOXED, ranges_of
from dpcore.data.columns import is_number
from dpcore.data.product import Product
from dpcore.data.samples import sample
from dpcore.data.sources import Source
from dpcore.mechanisms import entry
from dpcore.mechanisms.intervals.box_errors import BoxErrors, box_errors
from dpcore.mechanisms.intervals.boxes import BoxCuts, BoxState
from dpcore.queries.boxes import MAX_COLUMNS, RangeBoxes
from dpcore.randomness import Preview
from pages.charts.words import percent, printable_labels, rows
from pages.charts.worst import TrialNouns
from pages.data.declare import declared_columns
from pages.data.picker import BY_PERSON, NOT_SENT, OWN_FILE, choose_data, show_credit
from pages.data.upload import session_file
from pages.marginals.promise import Promised, beside, heading
from pages.shell.asked import Asked, show_code
from pages.shell.controls import audit_this, settings
from pages.shell.private.chip import drawn_always
from pages.shell.session import remembered, with_progress
from pages.shell.status import views
from pages.tables.figures import errors_within

HOW_BOXES = (
    "**How many rows lie in a range of each of 2 or 3 columns at once?** Cut one column into slabs of equally many "
    "rows, each slab into bars, each bar into cells.",
    "Blum, Ligett and Roth call intervals “easily extended” to constant dimension. The extension is right, and its "
    "price is in the constants: each further column puts more rows at a box's boundary, and adds the errors of more "
    "pieces.",
)
VIEWS = ("All boxes and promise", "One box", "More")
TOO_COARSE = "at so few levels **no number of rows is enough**"
BETA, TRIALS = 0.05, 100


def boxes(beside: DeltaGenerator) -> None:
    """Read the controls in their place beside, then show what they do."""
    bar = st.container(key="epsilon_bar")
    head = bar.container()
    with beside:
        asked = _ask(bar)
    if asked is None:
        return
    asked.keep("Tables")
    _shown(asked, head)


def _ask(bar: DeltaGenerator) -> Asked[RangeBoxes] | None:
    """Everything that is asked; None while fewer than two columns are picked."""
    held = session_file()
    declared = declared_columns(held)[0] if held and not held.by_person else None
    # Labels have no order in which a range of them would mean something.
    own = [column.name for column in declared.used if is_number(column.on)] if declared else []
    chosen = choose_data(
        "Rows of numbers",
        {key: sample(key).title for key in BOXED},
        key="boxes-of",
        own_title="Your table's numbers and dates" if len(own) > 1 else "",
        missing_reason=BY_PERSON if held and held.by_person else NOT_SENT,
        help_text="Bundled samples are public: previews on them cost nothing. Of a private table made-up rows with its "
        "declared columns are drawn.",
    )
    mine = declared if chosen == OWN_FILE and held else None
    names = own if mine else list(sample(chosen).boxes)
    key = f"{held.prefix}boxes-columns" if held and mine else f"boxes-columns-{chosen}"
    picked = st.multiselect(
        "Columns", names, default=names[:MAX_COLUMNS], key=key, max_selections=MAX_COLUMNS, persist_state="session"
    )
    machine = entry("boxes")
    values, relation, coins = settings(machine, bar)
    if len(picked) < 2:
        st.info("Pick two columns or three.")
        return None
    if held and mine:
        rows = Source(origin=held.origin, reading=mine.whole(*picked))
    else:
        rows = ranges_of(chosen, *picked)
        show_credit(rows)
    source = drawn_always(rows, relation)
    queries = RangeBoxes(domain=source.on(Product))
    return Asked(
        rows=rows, source=source, queries=queries, entry=machine, values=values, neighbours=relation, seed=coins
    )


def _shown(asked: Asked[RangeBoxes], head: DeltaGenerator) -> None:
    """All boxes in one release, many releases beside the promise, and one box."""
    key, dataset, queries = asked.source.key, asked.dataset(), asked.queries
    problem, mechanism = asked.problem(dataset.n), asked.made(BoxCuts)
    bound, guarantee = mechanism.accuracy(problem, BETA), mechanism.guarantee(problem)
    state: BoxState = remembered(
        f"boxes|{key}|{problem.n}|{asked.neighbours}", lambda: mechanism.prepare(dataset, problem)
    )
    memory = f"box-errors|{key}|{problem.n}|{asked.neighbours}|{mechanism!r}|{asked.seed}"
    errors: BoxErrors = with_progress(
        memory, lambda: box_errors(mechanism, state, Preview(asked.seed), trials=TRIALS), label="Drawing releases."
    )
    with head:
        half = float(np.median(errors.worst))
        needed = f"a promise below 100% takes **{bound.rows_needed:,} rows**" if bound.rows_needed else TOO_COARSE
        why = f": {needed}" if bound.applies else ", as nothing checks their number"
        heading(
            f"The worst of {queries.count:,} boxes errs by about {percent(half)}: {rows(half, problem.n)}",
            guarantee,
            of="boxes",
            before="" if bound.guaranteed else f"Nothing is promised for {problem.n:,} rows{why}. ",
        )
    every, one, more = views(*VIEWS, key="boxes-seen")
    with every:
        left, right = st.columns(2)
    with left:
        st.subheader("All boxes in one release")
        off = np.abs(errors.released - errors.truth)
        picture = errors_within(off, noun="boxes", role="mechanism:boxes", n=problem.n)
        asked.draw(picture, key="tables_boxes", title="errors of boxes")
    with one:
        _one_box(queries, errors, n=problem.n)
    with more:
        audit_this(asked.entry, asked.values, asked.neighbours)
        show_code("Code", key="boxes_code_open", write=lambda: _code(asked))
    with right:
        beside(
            Promised(
                problem=problem,
                guarantee=guarantee,
                bound=bound,
                details=bound.statement,
                looked_at=f"all {queries.count:,} boxes of the batch",
                dots=f"Boxes begin and end at {queries.marks + 1} evenly spread places of each column.",
                called=TrialNouns(query="box", over="all boxes"),
                badge=asked.badge(),
            ),
            memory=memory,
            work=lambda: _worst(errors),
        )


def _worst(errors: BoxErrors) -> Generator[float, None, Floats]:
    """The worst errors, which are there already."""
    yield 1.0
    return errors.worst


def _one_box(queries: RangeBoxes, errors: BoxErrors, *, n: int) -> None:
    """A range of each column; the true answer and the released one."""
    ranges = []
    for place, (name, kind) in enumerate(
        zip(printable_labels(queries.domain.names), queries.domain.columns, strict=True)
    ):
        marks = queries.places[place].tolist()
        words = [kind.ends(mark, mark)[0] for mark in marks[:-1]]
        words.append(kind.ends(marks[-1] - 1, marks[-1] - 1)[1])
        low, high = st.select_slider(
            name,
            range(len(marks)),
            value=(0, len(marks) // 2),
            format_func=words.__getitem__,
            key=f"box-{place}-{len(marks)}",
        )
        ranges.append((min(low, high), max(low, high)))
    if any(low == high for low, high in ranges):
        st.caption("A box ends after it begins.")
        return
    index = queries.index(ranges)
    true, released = float(errors.truth[index]), float(errors.released[index])
    st.markdown(
        f"True **{percent(true)}** ({rows(true, n)}), released **{percent(released)}**, off by "
        f"{percent(abs(released - true))}. :gray-badge[true] :blue-badge[simulated]"
    )


def _code(asked: Asked[RangeBoxes]) -> str:
    """The snippet."""
    return asked.code(
        queries="RangeBoxes(domain=dataset.domain)",
        imports=["from dpcore.queries.boxes import RangeBoxes"],
        then=[
            f"release = mechanism.run(state, dpcore.Preview({asked.seed}))",
            "for index, share in list(enumerate(release.answers()[0].tolist()))[:5]:",
            '    print(f"{queries.describe(index)}: {share:.3f}")',
            "print(mechanism.guarantee(problem).sentence())",
        ],
    )
