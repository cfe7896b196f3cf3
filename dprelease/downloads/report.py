"""A report on a release for readers who are not statisticians: one HTML file without scripts.

It is made from the ledger's public entry and the released files. All text is escaped; charts are bars.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from dpcore.core import Domain, rounded_up
from dpcore.core.safe_csv import unescape_frame
from dpcore.data.columns import is_number
from dpcore.data.dates import is_dates
from dpcore.mechanisms.robust.counted_mean import CountedMean
from dpcore.mechanisms.tables.rows_release import DISTANCES, MEASURED, SYNTHETIC_ROWS
from dpcore.mechanisms.tables.whole_table import WholeTable
from dpcore.queries.groups import GroupQuantiles
from dprelease.certificate import file_prefix
from dprelease.downloads.escaping import escape
from dprelease.downloads.group_tables import group_tables, is_group_file, margin_tables, quantile_tables
from dprelease.downloads.statistics import released_statistics
from dprelease.downloads.synthetic_rows import usefulness
from dprelease.ledger.records import Stored, restored_sentence
from dprelease.requests.intervals import COVERS, end_names, has_end_columns
from dprelease.requests.parts import Request, RequestPart
from dprelease.requests.quantile_tables import QUANTILES
from dprelease.requests.tables import BETA

if TYPE_CHECKING:
    import pandas as pd

MAX_BARS = 48
MAX_FACTOR = 1e6
"""Factor above which there is no meaningful protection, so that it is not printed."""
STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}"
    "table{border-collapse:collapse;width:100%}td,th{padding:.15rem .5rem;text-align:left;vertical-align:top}"
    "td.n{text-align:right;white-space:nowrap}td.b{width:55%}"
    ".bar{background:#4269d0;height:.8rem}.bar.below{background:none}code{overflow-wrap:anywhere}"
    "h3{margin-top:2rem}"
)
RANDOM_RESULTS = (
    "Random mechanisms produced the results below. Some mechanisms add noise to numbers; others sample an "
    "answer, or decide at random whether to answer."
)
"""Statement that holds for every mechanism: a stable median, a net and quantiles have no added noise."""
HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    '<meta name="viewport" content="width=device-width">'
)


def report(stored: Stored) -> bytes:
    """Return the report of a stored release; the same bytes each time."""
    body = stored.body
    title = f"Releases from “{body['data']['name']}”"
    lines = [
        *(HEAD, f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><h1>{escape(title)}</h1>"),
        *_protected_unit(body),
        *_guarantee(body),
        *_results(stored),
        *_for_the_record(stored),
        "</body></html>",
    ]
    return "\n".join(lines).encode()


def _paragraphs(*texts: str) -> Iterator[str]:
    yield from (f"<p>{escape(text)}</p>" for text in texts if text)


def _protected_unit(body: Mapping[str, Any]) -> Iterator[str]:
    """Write the section on the data and the unit of protection."""
    data, unit = body["data"], body["guarantee"]["unit"]
    yield "<h2>Whose data</h2>"
    rows, replaced = unit["rows_a_person"], body["guarantee"]["relation"] == "replace_one"
    counted = f"At most {rows:,} row{'s' * (rows > 1)} of each person counted. Any other rows were left out."
    yield from _paragraphs(
        f"The table “{data['name']}”, version {body['version']}, registered on {data['registered']}.",
        f"Each {unit['kind']} in it is protected, as the data owner stated."
        + (f" {counted}" if unit["kind"] == "person" else " A person with several rows is protected less."),
        f"Not protected, because it is public: {', '.join(body['guarantee']['unprotected'])}." if replaced else "",
    )


def _guarantee(body: Mapping[str, Any]) -> Iterator[str]:
    """Write the section on the guarantee: the meaning of epsilon and delta."""
    claim = body["guarantee"]
    whole, one = claim["whole_data_set"], claim["unit"]["kind"]
    yield "<h2>Privacy guarantee</h2>"
    changed = "has other values" if claim["relation"] == "replace_one" else "is not in the table"
    yield from _paragraphs(
        f"Differential privacy, ε = {claim['epsilon']} and δ = {claim['delta']}.",
        f"Take a neighbouring data set, in which any one {one} {changed}. Every set of results is then "
        f"{_factor(claim['epsilon'])}"
        + (f", plus a probability of {claim['delta']}" if claim["delta"] != "0" else "")
        + f". The smaller this factor, the less the results reveal about one {one}. Facts about many people "
        "remain visible; this is the purpose of the release.",
        "The charges in this ledger for these data, up to and including this release, total "
        f"{_amount(whole['spent'])}. The budget is {_amount(whole['budget'])} ({whole['scope']}).",
        f"The whole budget guarantees {_amount(whole['private'])}." if "rho" in whole["budget"] else "",
        restored_sentence(whole["copies_put_back"]),
        "The data owner saw true values of these data." if claim["steward_saw_true_values"] else "",
        _counted(whole["machine_failures_declared"], "draw", "was declared a machine failure and not charged"),
        _counted(
            body["tuning"]["charged_previews"],
            "other charged release",
            "of these data was not published at the time of this release",
        ),
    )


def _amount(amount: Mapping[str, str]) -> str:
    first = f"ρ = {amount['rho']}" if "rho" in amount else f"ε = {amount['epsilon']}"
    return f"{first}, δ = {amount['delta']}"


def _counted(number: int, what: str, happened: str) -> str:
    if not number:
        return ""
    plural = happened.replace("was ", "were ", 1) if number > 1 else happened
    return f"{number:,} {what}{'s' * (number > 1)} {plural}."


def _factor(epsilon: str) -> str:
    """Return in words how much likelier a result may become."""
    factor = math.exp(min(float(epsilon), 50.0))
    return (
        f"at most {rounded_up(factor)} times as likely"
        if factor < MAX_FACTOR
        else "possibly far more likely, which is no protection"
    )


def _results(stored: Stored) -> Iterator[str]:
    """Write the section on the results: each statistic, its guaranteed error and its chart."""
    yield "<h2>Results</h2>"
    yield from _paragraphs(RANDOM_RESULTS)
    request = Request.of(stored.body["request"])
    questions = request.parts
    for place, (part, question) in enumerate(zip(stored.body["parts"], questions, strict=True), 1):
        number = f"{place}. " if len(questions) > 1 else ""
        found = (released_statistics(question, stored.files[name]) for name in part["files"])
        statistics = next(filter(None, found), [])
        title = statistics[0].title if statistics else question.reading.title
        yield f"<h3>{number}{escape(title)}</h3>"
        yield from _paragraphs(
            f"{question.queries.title}. Mechanism: {part['mechanism']['title']}.",
            f"Privacy budget of this statistic: ε = {part['guarantee']['epsilon']}, δ = {part['guarantee']['delta']}."
            if len(questions) > 1
            else "",
            f"Error: {part['accuracy']['guaranteed_error']}",
            part["accuracy"]["statement"],
            part["accuracy"]["intervals"],
        )
        for name in part["files"]:
            if is_group_file(question):
                lines = _lines(stored.files[name])
                yield from group_tables(question, lines, most=MAX_BARS)
                yield from margin_tables(question, lines, most=MAX_BARS)
            elif name.endswith(f"{QUANTILES}.csv"):
                yield from quantile_tables(_lines(stored.files[name]), level=question.level, most=MAX_BARS)
            elif isinstance(question.queries, GroupQuantiles):
                yield from _paragraphs(f"The file {name} has the estimated number of rows in each cell of each group.")
            else:
                yield from _picture(name, stored.files[name], question)
        if isinstance(question.mechanism, WholeTable):
            prefix, person_rows = file_prefix(request, place), stored.body["guarantee"]["unit"]["rows_a_person"]
            files = {name.removeprefix(prefix): stored.files[name] for name in part["files"]}
            yield from usefulness(question, files, person_rows=person_rows)
        if isinstance(question.mechanism, CountedMean):
            yield from _paragraphs(*(f"{each.sentence}. {COVERS}" for each in statistics))


def _lines(contents: bytes) -> list[dict[str, str]]:
    """Return the lines of a released file by column, as they were before they were escaped for spreadsheets."""
    import pandas as pd

    table = pd.read_csv(io.BytesIO(contents), dtype=str, keep_default_na=False)
    return [{str(name): text for name, text in row.items()} for row in unescape_frame(table).to_dict("records")]


def _picture(name: str, contents: bytes, question: RequestPart) -> Iterator[str]:
    """Write a released table, without the ends of its counts' intervals, as a bar chart."""
    import pandas as pd

    domain, ends = question.problem.domain, 2 * has_end_columns(question.mechanism, question.problem)

    if SYNTHETIC_ROWS in name:
        many = f"{len(contents.splitlines()) - 1:,}"
        yield from _paragraphs(
            f"Released: {many} rows in the file {name}, with the columns of the table. They are synthetic: "
            "computed only from the noisy measurements."
        )
        return
    if MEASURED in name:
        yield from _paragraphs(f"The file {name} has the measured tables: the released rows of each cell, with noise.")
        return
    if DISTANCES in name:
        yield from _paragraphs(_distances(pd.read_csv(io.BytesIO(contents)), name))
        return
    rows = [dict(islice(row.items(), len(row) - ends)) for row in _lines(contents)]
    if any(row.get("refused") == "True" for row in rows):
        yield from _paragraphs("The mechanism gave no answer (⊥). This is a result like any other.")
        return
    if name.endswith("value.csv") and all(set(row) >= MEAN for row in rows):
        yield from _paragraphs(*(_mean(row, question.level) for row in rows))
        return
    yield from _paragraphs(f"In the file {name}: {len(rows):,} line{'s' * (len(rows) != 1)}.")
    numbers = [column for column in ("rows", "share", "outcome") if rows and column in rows[0]]
    if not numbers:  # one released cell
        yield from _paragraphs(*(_value(row, domain) for row in rows[:1]))
        return
    columns = list(rows[0])
    # In tables of counts, all columns but the first and the last are the data's, whatever their names.
    named = columns[1:-1] if name.endswith(TABLES_FILE) and columns[-1] == "rows" else []
    bars = [(_label(row, domain, named), float(row[numbers[0]] or "nan")) for row in rows]
    shown = list(_grouped_bars(bars) if _in_order(rows) else bars[:MAX_BARS])
    largest = max([value for _, value in shown if math.isfinite(value)] + [1e-12])
    heading = escape(_column(named or _key_columns(rows[0])))
    yield f"<table><tr><th>{heading}</th><th>{escape(numbers[0])}</th><th></th></tr>"
    for label, value in shown:
        width = max(0.0, value) / largest * 100 if math.isfinite(value) else 0.0
        bar = f'<div class="bar{" below" * (width == 0)}" style="width:{width:.1f}%"></div>'
        yield f'<tr><td>{escape(label)}</td><td class="n">{value:,.6g}</td><td class="b">{bar}</td></tr>'
    yield "</table>"
    if len(shown) < len(bars):
        reduced = "Adjacent lines are added up" if _in_order(rows) else f"The first {MAX_BARS} lines are shown"
        yield from _paragraphs(f"{reduced}; the file contains all lines.")
    if min(value for _, value in bars) < 0:
        yield from _paragraphs("Numbers below 0 are not changed.")


def _distances(table: pd.DataFrame, name: str) -> str:
    """Return a paragraph on the distances of synthetic rows from the released tables and from the true ones."""
    worst = table.loc[table["within"].idxmax()]
    return (
        "Known error of these rows: compared with the released tables of as many columns, the worst cell "
        f"differs by {table['apart'].max():,.1f} rows. With {100 * (1 - BETA):g}% confidence, no cell of "
        f"these tables differs from the true count by more than {worst['within']:,.0f} rows "
        f"({worst['table']}). {name} lists this number for each table; where it has none, no error is known. "
        "For other statistics no error is known."
    )


MEAN = {"mean", "rows", "low", "high"}
"""Columns of a mean that is released together with its number of rows."""


def _mean(row: Mapping[str, str], level: float) -> str:
    """Return a sentence on a released mean and the number of rows with a value."""
    mean = f"{float(row['mean']):,.6g}" if _is_number(row["mean"]) else row["mean"]
    rows = f"{float(row['rows']):,.0f}"
    low, high = (row.get(end, "") for end in end_names("mean"))
    interval = f" Its interval with confidence {100 * level:g}%: {low} to {high}." if low and high else ""
    return (
        f"Released: a mean of {mean}, of about {rows} row{'s' * (rows != '1')} with a value, clipped to "
        f"{row['low']} and {row['high']}.{interval} The number of rows has noise, too."
    )


def _value(row: Mapping[str, str], domain: Domain) -> str:
    """Return a sentence on a released cell; a number's cell has a width, which is not a confidence interval."""
    label = _label(row, domain)
    if not is_number(domain) or is_dates(domain) or label == domain.describe(domain.size):
        return f"Released: {label}."
    return (
        f"Released: the cell “{label}”. It is one of {domain.ordered:,} cells that numbers are rounded to. "
        "Its width says nothing about the error."
    )


TABLES_FILE = "answers.csv"
NAMED = ("value", "first", "second", "place", "cell")


def _column(named: Sequence[str]) -> str:
    return " × ".join(named)


def _key_columns(row: Mapping[str, str]) -> Sequence[str]:
    """Return the columns that identify a line."""
    known = [name for name in NAMED[:3] if name in row]
    others = [name for name in row if name not in {*NAMED, "refused", "rows", "share", "outcome"}]
    return known or others or [name for name in NAMED[3:] if name in row]


def _label(row: Mapping[str, str], domain: Domain, named: Sequence[str] = ()) -> str:
    """Return the label of a line; in tables, from the named columns of the data."""
    if not named and domain.listed and row.get("cell", "").isdecimal():
        return domain.describe(int(row["cell"]))
    text = " × ".join(row[name] for name in named or _key_columns(row))
    return text if text.strip(" ×") else "any other value"


def _in_order(rows: Sequence[Mapping[str, str]]) -> bool:
    """Return whether the lines are consecutive values of a number, and too many for a bar each."""
    if len(rows) <= MAX_BARS or "value" not in rows[0] or "rows" not in rows[0]:
        return False
    return all(_is_number(row["value"]) for row in rows if row["value"])


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _grouped_bars(bars: Sequence[tuple[str, float]]) -> Iterator[tuple[str, float]]:
    """Sum adjacent bars until at most MAX_BARS remain."""
    size = -(-len(bars) // MAX_BARS)
    for start in range(0, len(bars), size):
        group = bars[start : start + size]
        first, last = group[0][0], group[-1][0]
        yield f"{first} … {last}" if first != last else first, math.fsum(value for _, value in group)


def _for_the_record(stored: Stored) -> Iterator[str]:
    """Write the section with the information needed to verify the release."""
    body = stored.body
    rows: list[tuple[str, Any]] = [
        ("Release", body["release_id"]),
        ("Entry of the ledger", stored.entry),
        ("Sampled", f"on {body['at']}"),
        ("Randomness", "the operating system's random numbers, by exact samplers"),
        ("Software", ", ".join(f"{name} {version}" for name, version in sorted(body["software"].items()))),
        *((f"SHA-256 of {name}", digest) for name, digest in sorted(body["files"].items())),
    ]
    theorems = sorted({each for part in body["parts"] for each in part["mechanism"]["theorems"]})
    yield "<h2>For the record</h2>"
    yield from _table(rows)
    yield f"<p>Why it is private: {escape('; '.join(theorems))}.</p>"
    names = " ".join(sorted(body["files"]))
    yield (
        "<p>A program can check all this in certificate.json:</p><p><code>python3 run.py verify "
        f"certificate.json {escape(names)}</code></p>"
    )


def _table(rows: Iterable[tuple[str, Any]]) -> Iterator[str]:
    yield "<table>"
    yield from (f"<tr><th>{escape(name)}</th><td><code>{escape(str(value))}</code></td></tr>" for name, value in rows)
    yield "</table>"
