"""The plan of a released statistic, rebuilt from its public request: its errors are those that the plan showed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from dpcore.core import ParameterError
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.dictionaries.description import CATEGORY, DataDictionary, DescribedColumn
from dpcore.data.readings import Columns
from dpcore.data.unlisted.texts import is_texts
from dpcore.queries.groups import GroupQuantiles, GroupStatistics
from dpcore.queries.marginals import Marginals
from dprelease.ledger.records import Stored
from dprelease.plan.groups import MEAN, PEOPLE, QUANTILES, RATIO, SHARE, SLOPE, SPREAD, SUM
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import PEOPLE_ENTRIES, Plan
from dprelease.requests.parts import Request, RequestPart
from dprelease.requests.tables import released_labels

PLANNED = {
    (1, 1): {"mean": MEAN, "sum": SUM, "proportion": SHARE},
    (1, 2): {"mean": SPREAD},
    (2, 1): {"ratio of sums": RATIO},
}
"""Statistics by group whose margin is planned, by how many numbers they are of, their degree and their name."""


def plan_of_part(request: Request, part: RequestPart, *, name: str) -> Plan | None:
    """Return the plan of one statistic of which this is the part; None where no plan has such a statistic.

    Its errors have the confidence of the request's intervals.

    Args:
        request: of the release.
        part: one of its parts.
        name: of the statistic in the released file; only statistics by group have several.
    """
    table = table_of_part(request, part)
    if table is None:
        return None
    for settings in _candidates(part, name):
        with suppress(ParameterError):  # no statistic of a plan
            question = PlannedQuestion(**settings)
            plan = Plan(
                table=table, n=part.n, questions=(question,), neighbours=part.neighbours, level=request.level,
                beta=float(f"{1 - request.level:g}"),
            )  # fmt: skip
            if _shape(plan.part(question)) == _shape(part):
                return plan
    return None


def table_of_part(request: Request, part: RequestPart) -> DeclaredTable | None:
    """Return the declared columns that a part reads; None where it reads none, such as attributes of rows."""
    if not isinstance(part.reading, Columns):
        return None
    # A declared column has cells of equal width; of those that form groups only their number counts.
    columns = zip(part.reading.names, part.reading.on.columns, strict=True)
    declared = [(each, on.declared) for each, on in columns]
    with suppress(ParameterError):  # the person's column is among them
        return DeclaredTable(
            columns=tuple(DeclaredColumn(name=each, on=on) for each, on in declared),
            person=request.person, person_rows=request.rows_a_person,
        )  # fmt: skip
    return None


def released_dictionary(releases: Iterable[Stored], *, max_labels: int) -> DataDictionary:
    """Return the columns of a table as its releases declared them, each with the most cells it had.

    A request holds no bounds that were read off the rows: none such is released. A category that no request declares
    has the labels that a release found privately: those of the release that found the most.

    Args:
        releases: stored releases of one data set.
        max_labels: largest number of found labels; those with the largest released counts are kept.
    """
    columns, labelled = dict[str, DeclaredColumn](), dict[str, DescribedColumn]()
    person, rows, codes = "", 1, tuple[str, ...]()
    for stored in releases:
        request = Request.of(stored.body["request"])
        person, rows, codes = request.person, request.rows_a_person, request.file_format.missing
        for table in filter(None, (table_of_part(request, part) for part in request.parts)):
            for column in table.columns:
                if column.name not in columns or column.on.ordered >= columns[column.name].on.ordered:
                    columns[column.name] = column
        for part, document in zip(request.parts, stored.body["parts"], strict=True):
            if is_texts(part.reading.domain):
                [name], [file] = part.reading.columns, document["files"]
                labels = tuple(released_labels(stored.files[file])[:max_labels])
                if len(labels) > (len(labelled[name].labels) if name in labelled else 0):
                    labelled[name] = DescribedColumn(name=name, kind=CATEGORY, labels=labels)
    described = labelled | {name: DescribedColumn.of(column) for name, column in columns.items()}
    return DataDictionary(columns=tuple(described.values()), person=person, person_rows=rows, missing_codes=codes)


def main_question(part: RequestPart) -> PlannedQuestion:
    """Return the statistic of a plan that a part is; of those that are released together the one that Plan names first.

    Raises:
        ParameterError: it is none.
    """
    queries, columns, name = part.queries, part.reading.columns, ""
    if isinstance(queries, GroupStatistics):
        measured = queries.domain.columns[queries.numbers[0]]
        name = "ratio of sums" if len(queries.numbers) == 2 else measured.mean_name
    settings = next(_candidates(part, name))
    # Two of which no margin is planned beside a release:
    if isinstance(queries, GroupQuantiles):
        settings |= {
            "columns": columns[-1:],
            "by": columns[:-1],
            "statistic": QUANTILES,
            "quantiles": queries.quantiles,
        }
    elif isinstance(queries, GroupStatistics) and (len(queries.numbers), queries.degree) == (2, 2):
        settings["statistic"] = SLOPE
    return PlannedQuestion(**settings)


def _shape(part: RequestPart) -> dict[str, Any]:
    """Return all that the expected error of a part depends on; of columns that form groups, their cells' number."""
    if not (isinstance(part.queries, GroupStatistics | Marginals) and isinstance(part.reading, Columns)):
        return part.document
    measured = part.queries.numbers if isinstance(part.queries, GroupStatistics) else ()
    columns = [
        on if place in measured else (on.ordered, on.missing) for place, on in enumerate(part.reading.on.columns)
    ]
    return part.document | {"reading": (part.reading.names, columns)}


def _candidates(part: RequestPart, name: str) -> Iterator[dict[str, Any]]:
    """Yield the settings of statistics that may have this part."""
    queries, columns = part.queries, part.reading.columns
    values = {each: getattr(part.mechanism, each) for each in part.entry.controls()}
    shared = {
        "entry_key": part.entry_key, "queries": queries.key, "epsilon": values.pop("epsilon", 1.0), "values": values,
    }  # fmt: skip
    if isinstance(queries, GroupStatistics):
        groups = len(columns) - len(queries.numbers)
        statistic = PLANNED.get((len(queries.numbers), queries.degree), {}).get(name, "")
        measured = queries.domain.columns[queries.numbers[0]]
        yield shared | {
            "columns": columns[groups:], "by": columns[:groups], "statistic": statistic, "min_rows": queries.min_rows,
            "whole_population": queries.whole_population,
            "label": measured.label_of_share,
        }  # fmt: skip
    elif isinstance(queries, Marginals):
        if part.entry_key in PEOPLE_ENTRIES and queries.ways == len(columns):
            yield shared | {"columns": (), "by": columns, "statistic": PEOPLE}
        yield shared | {"columns": columns, "ways": queries.ways}
    else:
        yield shared | {"columns": columns}
