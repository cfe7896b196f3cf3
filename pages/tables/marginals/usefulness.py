"""What synthetic rows are good for: their measures beside other real rows, and a model that the user picks."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress

import numpy as np
import streamlit as st

from dpcore.core import Floats, Integers, ParameterError, ProvenanceKind
from dpcore.data.columns import is_number
from dpcore.mechanisms.tables.residual_planner import ResidualPlanner
from dpcore.mechanisms.tables.tree import Tree, fit_rows, synthetic_rows
from dpcore.queries.marginals import Set
from dplab.utility.measures import OTHER, SHUFFLED, SYNTHETIC, RowMeasures, measure_rows, outcomes
from dplab.utility.models import Fit, compare, fit
from dplab.utility.noise_aware import LinearModel, fit_tables
from pages.charts.picture import Axis, Dots, Picture, Rule
from pages.charts.words import significant
from pages.shell.state import SessionKey
from pages.shell.tasks.memory import with_progress
from pages.tables.marginals.compute import TableResult

REAL, AS_REAL, FROM_TABLES = "real rows", "synthetic rows, as if real", "released tables"
"""Names of the kinds of coefficients."""
MAX_REGRESSORS = 4
MOCK = "The real rows here are mock rows with your columns: what rows of your data are good for is not known from them."
ROLES = {SYNTHETIC: "released", OTHER: "true", SHUFFLED: "other-4"}
WORDS = {
    "pairs": "pairs of columns: share of rows elsewhere",
    "triples": "triples of columns: share of rows elsewhere",
    "associations": "Cramér's V of pairs: mean difference",
    "told_apart": "told apart from real rows: AUC",
    "predicted": "AUC of predicting",
}
"""What is measured; all are between 0 and 1."""


def draw_usefulness(result: TableResult, tables: dict[Set, Floats], tree: Tree) -> None:
    """Draw, while it is open, what rows are good for that are made from released tables as those of Release are.

    Args:
        result: of the page.
        tables: of the first preview, which agree.
        tree: that the rows follow before they are moved until they fit all tables.
    """
    seed, n, ways = result.request.seed, result.problem.n, result.request.queries.ways
    largest = {chosen: table for chosen, table in tables.items() if len(chosen) == ways}

    def work() -> Generator[float, None, Integers]:
        yield 0.0
        return (yield from fit_rows(synthetic_rows(tables, tree, rows=n, seed=seed), largest, seed=seed))

    rows = with_progress(f"useful-rows|{result.key}", work, label="Making synthetic rows.")
    st.caption(
        "Half of the real rows are compared with the other half, and as many synthetic rows, and rows with each "
        "column shuffled. AUC: how well two kinds are told apart, 0.5 by guessing, 1 without a mistake."
    )
    if result.dataset.provenance.kind is ProvenanceKind.TWIN:
        st.caption(MOCK)
    try:
        _draw_measures(result, rows)
    except ParameterError as error:
        st.info(str(error))
    _draw_model(result, rows)


def _draw_measures(result: TableResult, rows: Integers) -> None:
    """Draw all measures on one axis, with the outcome that the user picks."""
    domain, request = result.domain, result.request
    names = [domain.names[place] for place in outcomes(domain)]
    outcome = None
    if names:
        chosen = _picked("predicted", result, names)
        outcome = domain.names.index(st.selectbox("Predict", names, key=chosen, persist_state="session"))
    measures = with_progress(
        f"useful|{result.key}|{outcome}",
        lambda: measure_rows(
            domain,
            synthetic=rows,
            real=np.asarray(result.dataset.records, np.int64),
            outcome=outcome,
            seed=request.seed,
        ),
        label="Comparing rows.",
    )
    picture = measures_picture(measures, outcome="" if outcome is None else domain.names[outcome])
    request.draw(picture, key="tables_useful", badge=request.badge(), title="usefulness")


def measures_picture(measures: dict[str, RowMeasures], *, outcome: str) -> Picture:
    """Return the picture with a line for each measure and a dot for each kind of rows."""
    shown = {
        name: f"{words} {outcome}" if name == "predicted" else words
        for name, words in WORDS.items()
        if any(np.isfinite(getattr(each, name)) for each in measures.values())
    }
    values = {kind: np.array([getattr(each, name) for name in shown]) for kind, each in measures.items()}
    made, real = measures[SYNTHETIC], measures[OTHER]
    predicts = (
        f" They predict {outcome} with an AUC of {significant(made.predicted)}, real rows with "
        f"{significant(real.predicted)}."
        if outcome
        else ""
    )
    return Picture(
        title="Usefulness of the rows",
        x=Axis(title="share or AUC", low=-0.02, high=1.02),
        y=Axis(labels=tuple(shown.values()), grid=True, letters=44),
        marks=[
            Dots(role=ROLES[kind], name=kind, x=each, y=np.arange(len(shown)) + shift, size=9)
            for shift, (kind, each) in zip((-0.2, 0, 0.2), values.items(), strict=True)
        ],
        sentence=f"Pairs of columns of synthetic rows are off by {significant(made.pairs)}, of other real rows by "
        f"{significant(real.pairs)}.{predicts} They are told apart from real rows with an AUC of "
        f"{significant(made.told_apart)}.",
        table={"measure": list(shown.values())} | {kind: each.tolist() for kind, each in values.items()},
        height=90 + 34 * len(shown),
    )


def _draw_model(result: TableResult, rows: Integers) -> None:
    """Draw the coefficients of a model of the user's, by kind of rows."""
    domain, request = result.domain, result.request
    labels = [domain.names[place] for place in outcomes(domain)]
    numbers = [name for name, column in zip(domain.names, domain.columns, strict=True) if is_number(column)]
    names = [*numbers[1:2], *numbers[:1], *numbers[2:], *labels]
    if not names:
        st.info("A model needs a column of numbers or of two labels.")
        return
    left, right = st.columns(2)
    outcome = left.selectbox("A model of", names, key=_picked("outcome", result, names), persist_state="session")
    others = [name for name in domain.names if name != outcome]
    simple = [name for kind in (numbers, labels) for name in [each for each in kind if each != outcome][:1]]
    regressors = right.multiselect(
        "given",
        others,
        default=simple or others[:1],
        key=SessionKey[list[str]](f"useful-given-{result.request.source.origin.key}-{outcome}", []),
        max_selections=MAX_REGRESSORS,
        persist_state="session",
    )
    if not regressors:
        st.caption("Choose a column that the model is given.")
        return
    places = domain.names.index(outcome), tuple(domain.names.index(name) for name in regressors)
    try:
        fits = with_progress(
            f"model|{result.key}|{places}", lambda: fit_models(result, rows, *places), label="Fitting the model."
        )
    except ParameterError as error:
        st.info(str(error))
        return
    request.draw(model_picture(fits), key="tables_model", title="a model")
    if refused := refusal(result, *places, fits=fits):
        st.caption(refused)


def fit_models(
    result: TableResult, rows: Integers, outcome: int, regressors: tuple[int, ...]
) -> Generator[float, None, dict[str, Fit]]:
    """Fit a model to real rows, to synthetic ones, and to the released tables where that is possible.

    Yields the share done.

    Raises:
        ParameterError: the real rows fit no such model.
    """
    domain = result.domain
    real = np.asarray(result.dataset.records, np.int64)
    yield 0.0
    found = {REAL: fit(domain, real, outcome=outcome, regressors=regressors)}
    yield 0.5
    with suppress(ParameterError):
        found[AS_REAL] = fit(domain, rows, outcome=outcome, regressors=regressors)
    mechanism, release = result.selected.mechanism, result.selected.release
    if is_number(domain.columns[outcome]) and isinstance(mechanism, ResidualPlanner):
        model = LinearModel(domain=domain, outcome=outcome, regressors=regressors)
        with suppress(ParameterError):
            noise = model.noise(mechanism.plan(result.problem))
            found[FROM_TABLES] = fit_tables(model, release.unbiased, noise, sampling=False)
    return found


def refusal(result: TableResult, outcome: int, regressors: tuple[int, ...], *, fits: dict[str, Fit]) -> str:
    """Return what cannot be said of a model, and why; empty if all is."""
    if AS_REAL not in fits:
        return "The synthetic rows fit no such model."
    if FROM_TABLES in fits:
        return ""
    if not is_number(result.domain.columns[outcome]):
        return "Intervals that count the noise are known for a linear model, of a column of numbers."
    if not isinstance(result.selected.mechanism, ResidualPlanner):
        return "Intervals that count the noise are known for tables of the residual planner."
    return (
        f"With this noise, nothing can be said from the released tables about {len(regressors)} "
        f"{'column' if len(regressors) == 1 else 'columns'}: take a larger ε or fewer columns."
    )


def model_picture(fits: dict[str, Fit]) -> Picture:
    """Return the picture of coefficients, each in standard errors of that of the real rows."""
    real = fits[REAL]
    places, marks = np.arange(len(real.values)), []
    for shift, (role, name) in zip((-0.2, 0.2), (("other-0", AS_REAL), ("released", FROM_TABLES)), strict=True):
        if name in fits:
            ends = (fits[name].interval() - real.values[:, None]) / real.errors[:, None]
            middle = (fits[name].values - real.values) / real.errors
            dots = Dots(
                role=role,
                name=name,
                x=middle,
                y=places + shift,
                low=ends[:, 0],
                high=ends[:, 1],
                across=True,
                hollow=((ends[:, 0] > 0) | (ends[:, 1] < 0)).tolist(),
            )
            marks.append(dots)
    columns = {
        f"{name}: {part}": values
        for name, each in fits.items()
        for part, values in zip(
            ("coefficient", "low", "high"), (each.values.tolist(), *each.interval().T.tolist()), strict=True
        )
    }
    return Picture(
        title="Coefficients of the model",
        x=Axis(title="standard errors from the real rows' coefficient"),
        y=Axis(labels=real.names, grid=True, letters=30),
        marks=[*marks, Rule(role="true", x=0, label=REAL, dash="dash")],
        sentence=_model_sentence(fits),
        table={"coefficient of": list(real.names)} | columns,
        caption="Hollow: the 95% interval does not hold the real rows' coefficient.",
        height=150 + 34 * len(places),
    )


def _model_sentence(fits: dict[str, Fit]) -> str:
    """Return how many intervals hold the real rows' coefficients, and how far off the synthetic rows' are."""
    real, words = fits[REAL], []
    for name in (AS_REAL, FROM_TABLES):
        if name in fits:
            low, high = fits[name].interval().T
            held = int(((low <= real.values) & (real.values <= high)).sum())
            words.append(f"{name}: {held} of {len(real.values)} intervals hold the real rows' coefficient")
    off = ""
    if AS_REAL in fits:
        furthest = float(compare(fits[AS_REAL], real).distances.max())
        off = f" The synthetic rows' is up to {significant(furthest)} standard errors off."
    return "; ".join(words)[:1].upper() + "; ".join(words)[1:] + f".{off}" if words else "No other rows fit the model."


def _picked(what: str, result: TableResult, names: list[str]) -> SessionKey[str]:
    """Return the session's key of a choice among columns; a name that is no longer there is forgotten."""
    key = SessionKey[str](f"useful-{what}-{result.request.source.origin.key}", names[0])
    if key.is_set and key.value not in names:
        key.value = names[0]
    return key
