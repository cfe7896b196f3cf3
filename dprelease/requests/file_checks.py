"""Check that a released file is possible for its request: columns, lines, labels, notation and ranges.

A release that its file shows completely is rebuilt from it and written again: the bytes must be equal.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np

from dpcore.core import Floats, HistogramRelease, Integers, Neighbours, PointsRelease, Release, ValueRelease
from dpcore.core.basics import SUM_TOLERANCE
from dpcore.core.safe_csv import escape_formula, unescape_formula
from dpcore.core.sizes import check_memory
from dpcore.data.columns import Labels, Number, is_number
from dpcore.data.dates import is_dates, written
from dpcore.data.product import is_table
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, line_of, quantiles_of
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.mechanisms.halfspaces.structure import HalfspaceRelease
from dpcore.mechanisms.histograms.labels import LabelsRelease
from dpcore.mechanisms.intervals.boxes import BoxRelease, boxes_of, sub_cells
from dpcore.mechanisms.intervals.rectangles import RectanglesRelease
from dpcore.mechanisms.marginals.answer_projection import ProjectedRelease
from dpcore.mechanisms.marginals.learner import RuleRelease
from dpcore.mechanisms.online.conversation import Transcript
from dpcore.mechanisms.online.mwem import RoundsRelease
from dpcore.mechanisms.robust.counted_mean import MeanRelease, may_count, weight
from dpcore.mechanisms.tables.release import DirectRelease
from dpcore.mechanisms.tables.rows_release import DISTANCES, MEASURED, SYNTHETIC_ROWS, RowsRelease, table_name
from dpcore.queries.marginals import Marginals, Set
from dprelease.requests.intervals import (
    OTHER_WEIGHTS,
    count_half_widths,
    drawn_ends,
    end_places,
    has_count_ends,
    noise_of_file,
    same_ends,
)
from dprelease.requests.parts import RequestPart
from dprelease.requests.quantile_tables import QUANTILES, SLACK, quantile_table
from dprelease.requests.synthetic_files import (
    blank_release,
    can_count,
    column_codes,
    count_rows,
    read_measured,
    tables_of_distances,
)
from dprelease.requests.tables import ANSWERS, BETA, answers_csv, csv_files, preview_of, table_csv

DRAWN = {"rows", "share", "outcome"}
"""Columns of random numbers in releases whose other columns are fixed; they are the last of a file.

A column of the data may have such a name, beside the numbers of rows.
"""
MAX_NUMBER = 2.0**53
"""Largest number: beyond it doubles have no unit digit, and noise never reaches it."""
ROUNDING = 1e-5
"""Relative tolerance of sigma for the arithmetic of another computer."""
CELL_BYTES = 24
"""Bytes of a cell, as they are counted before tables are released."""
MORE_CELLS = 1 << 20
"""Cells that a file may have beyond those of mock data: databases of points and distances have more or fewer lines."""
BLOCK = 1 << 12
"""Lines of a file that are held at once, where not all are needed."""
DISTANCE_COLUMNS = ("table", "apart", "within")
NO_CSV = "{name} is not CSV as this program writes it."
OTHER = "The columns, lines, labels or numbers of {name} do not match the request."
Rows = list[list[str]]


def table_faults(question: RequestPart, files: Mapping[str, bytes], *, prefix: str, digest: str) -> Iterator[str]:
    """Check the files of a part against its request; yields a sentence for each fault.

    Args:
        question: the part of a request.
        files: its files by name.
        prefix: prefix of the file names.
        digest: of the request.
    """
    try:
        drawn = preview_of(question)
        expected = csv_files(drawn, question.mechanism, digest=digest, level=question.level)
        drawn = replace(drawn, problem=question.problem_of_persons)  # mock rows may be fewer
    except Exception:  # the mechanism cannot run on mock data, or memory is too small
        yield (
            f"The files {', '.join(files)} cannot be compared with the request, because no mock data can be "
            "sampled for it."
        )
        return
    if set(files) != {prefix + name for name in expected}:
        yield f"This release consists of the files {', '.join(prefix + name for name in expected)}."
        return
    faults = list(_faults_of_each(question, files, expected, drawn, prefix=prefix, digest=digest))
    yield from faults
    if not faults and isinstance(drawn, RowsRelease):
        yield from _tables_faults(question, {name: files[prefix + name] for name in expected}, prefix=prefix)


def _faults_of_each(
    question: RequestPart,
    files: Mapping[str, bytes],
    expected: Mapping[str, bytes],
    drawn: Release,
    *,
    prefix: str,
    digest: str,
) -> Iterator[str]:
    """Check each file of a part; yields a sentence for each fault."""
    for name, contents in expected.items():
        if name == f"{SYNTHETIC_ROWS}.csv":  # as many lines as rows: never all of them at once
            yield from _synthetic_faults(question, files[prefix + name], prefix + name, drawn, header=contents)
            continue
        if (
            _count_cells(files[prefix + name]) > _count_cells(contents) + MORE_CELLS
        ):  # read, it takes 40 times its bytes
            yield OTHER.format(name=prefix + name)
            continue
        lines, wanted = read_rows(files[prefix + name]), read_rows(contents)
        if not lines:
            yield NO_CSV.format(name=prefix + name)
        elif name == f"{QUANTILES}.csv":
            if not _quantiles_fit(question, lines, read_rows(files[f"{prefix}{ANSWERS}.csv"]), digest=digest):
                yield OTHER.format(name=prefix + name)
        elif not _fits(question, lines, wanted, drawn, digest=digest):
            yield OTHER.format(name=prefix + name)


def check_file_sizes(sizes: Iterable[int]) -> None:
    """Raise ParameterError where files of so many bytes are more than may be read at once."""
    check_memory(sum(sizes), what="These files", smaller="give only files that the certificate names", each=1)


def read_rows(contents: bytes) -> Rows:
    """Return the lines of a CSV file; none unless it is UTF-8 with this program's quoting and line ends.

    Raises:
        ParameterError: it has more cells than a release may have, or too much text.
    """
    _check_size(contents)
    try:
        return [row for block in row_blocks(contents) for row in block]
    except (UnicodeDecodeError, csv.Error, OtherSpelling):
        return []


def _check_size(contents: bytes) -> None:
    """Raise ParameterError where a file has more text or cells than the tables of a release may have."""
    smaller = "no released file is this large"
    check_memory(len(contents), what="The text of a file", smaller=smaller, each=4)
    check_memory(_count_cells(contents), what="The cells of a file", smaller=smaller, each=CELL_BYTES)


def _count_cells(contents: bytes) -> int:
    """Return an upper bound on the number of cells of a CSV file."""
    return contents.count(b",") + contents.count(b"\n")


class OtherSpelling(ValueError):
    """A file has other quotation marks or line ends than this program writes."""


def row_blocks(contents: bytes) -> Iterator[Rows]:
    """Yield the lines of a CSV file in blocks, so that only a block of them is held.

    Raises:
        UnicodeDecodeError: the file is not UTF-8.
        csv.Error: it is no CSV.
        OtherSpelling: it is spelled otherwise; this may come after some blocks.
    """
    # Inside a label, for which more is quoted.
    unquoted = b"\r" in contents
    text, place = contents.replace(b'"', b"") if unquoted else contents, 0
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(contents), encoding="utf-8", newline=""), strict=True)
    while block := list(islice(reader, BLOCK)):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(block)
        again = out.getvalue().encode()
        again = again.replace(b'"', b"") if unquoted else again
        if not text.startswith(again, place):
            raise OtherSpelling
        place += len(again)
        yield block
    if place != len(text):
        raise OtherSpelling


def _fits(question: RequestPart, lines: Rows, expected: Rows, drawn: Release, *, digest: str) -> bool:
    """Return whether a table has the columns, lines and labels of a mock release, and possible numbers."""
    if any(len(row) != len(lines[0]) for row in lines):
        return False
    if isinstance(drawn, RowsRelease):  # together: see ``_tables_faults``
        return True
    if lines[0] != expected[0]:
        return False
    if has_count_ends(question.mechanism, question.problem):
        ends = len(lines[0]) - 2
        if len(lines) != len(expected) or not _count_ends_fit(question, lines, digest=digest):
            return False
        lines, expected = [row[:ends] for row in lines], [row[:ends] for row in expected]
    names = lines[0]
    refusals = {row[names.index("refused")] for row in lines[1:]} if "refused" in names else set()
    refusals = refusals or {"False"}  # a database without a point has no line
    refused = refusals == {"True"} and question.mechanism.may_refuse
    if not refused and refusals != {"False"}:
        return False
    if isinstance(drawn, GroupRelease):
        return _groups_fit(question, lines, drawn)
    if isinstance(drawn, LabelsRelease):
        return _labels_fit(question, lines, drawn)
    if isinstance(drawn, MeanRelease):
        return len(lines) == 2 and _mean_fits(question, lines, drawn, bounds=expected[1][3:5], refused=refused)
    if isinstance(drawn, ValueRelease | PointsRelease | Transcript | RuleRelease):
        try:
            built = _built(drawn, lines, refused=refused)
        except (ValueError, OverflowError, LookupError):
            return False
        if built is None or _written_again(built, question) != lines:
            return False
        return refused or question.mechanism.possible(built)
    fixed = [place for place in range(len(names)) if place not in _drawn_places(names)]
    same = [[row[place] for place in fixed] for row in lines] == [[row[place] for place in fixed] for row in expected]
    return same and _numbers_fit(question, lines, drawn)


def _built(drawn: Release, lines: Rows, *, refused: bool) -> Release | None:
    """Rebuild the release from its file; return None if there is none."""
    columns = {name: [row[place] for row in lines[1:]] for place, name in enumerate(lines[0])}
    size, flags = drawn.problem.domain.size, np.array([refused])
    if isinstance(drawn, Transcript):
        if not columns["query"]:
            return None
        asked, guesses = (np.array([[int(text) for text in columns[name]]]) for name in ("query", "guess"))
        paid, declined = (np.array([[text == "True" for text in columns[name]]]) for name in ("paid", "declined"))
        rows = np.array([[0 if text == "" else int(float(text)) for text in columns["answer"]]])
        free = ~(paid | declined)
        consistent = (
            not (paid & declined).any() and (rows == guesses)[free].all() and not (np.diff(declined * 1) < 0).any()
        )
        if asked.tolist() != drawn.query_indices[:1].tolist() or not consistent or np.abs(rows).max() > MAX_NUMBER:
            return None
        return replace(drawn, query_indices=asked, rows=rows, guesses=guesses, paid=paid, declined=declined)
    if isinstance(drawn, RuleRelease):
        [rule] = map(int, columns["number"])  # a file of several rules, or of none, is no release
        return replace(drawn, chosen=np.array([rule])) if 0 <= rule < drawn.problem.queries.count else None
    cells = [int(text) for text in columns["cell"]]
    most = max(size, drawn.problem.domain.ordered + 1) if isinstance(drawn, ValueRelease) else size
    if refused != (cells == [-1]) or not all(-1 <= cell < most for cell in cells):
        return None
    if isinstance(drawn, PointsRelease) and not cells:  # no point has a share
        return replace(drawn, points=np.zeros((1, 1), dtype=np.int64), weights=np.zeros((1, 1)), refused=flags)
    if isinstance(drawn, PointsRelease):
        shares = [0.0 if refused else float(text) for text in columns["share"]]
        if not refused and not (min(shares) > 0 and sum(shares) <= 1 + ROUNDING):
            return None
        return replace(drawn, points=np.array([cells]), weights=np.array([shares]), refused=flags)
    if not isinstance(drawn, ValueRelease) or len(cells) != 1:
        return None
    return replace(drawn, values=np.array(cells), refused=flags)


def _written_again(built: Release, question: RequestPart) -> Rows:
    """Return the lines of the file that a rebuilt release has."""
    return read_rows(answers_csv(built, question.mechanism, level=question.level))


def _labels_fit(question: RequestPart, lines: Rows, drawn: LabelsRelease) -> bool:
    """Return whether the lines are labels and counts that the mechanism may release, with their intervals."""
    if not all(_is_whole(count, low=1, high=int(MAX_NUMBER)) for _, count, *_ in lines[1:]):
        return False
    labels = tuple(unescape_formula(label) for label, *_ in lines[1:])
    counts = np.array([[int(count) for _, count, *_ in lines[1:]]], dtype=np.int64)
    built = replace(drawn, labels=labels, counts=counts)
    return question.mechanism.possible(built) and _written_again(built, question) == lines


def _groups_fit(question: RequestPart, lines: Rows, drawn: GroupRelease) -> bool:
    """Return whether the lines of all groups are those of a release with the counters that they name."""
    trials, groups, counters = drawn.counters.shape
    places = [lines[0].index(f"counter {j}") for j in range(counters)]
    texts = [[row[place] for place in places] for row in lines[1:]]
    whole = drawn.counters.dtype.kind == "i"
    fits = partial(_is_whole if whole else _is_number, low=-(1 << 62), high=1 << 62)
    if len(texts) != groups or not all(fits(text) for row in texts for text in row):
        return False
    named = np.array(texts).reshape(trials, groups, counters)
    built = replace(drawn, counters=named.astype(np.int64) if whole else named.astype(np.float64))
    if not question.mechanism.possible(built):
        return False
    ends = end_places([unescape_formula(name) for name in lines[0]], question.mechanism, question.problem)
    return all(
        _same_but_ends(row, other, ends) for row, other in zip(lines, _written_again(built, question), strict=True)
    )


def _count_ends_fit(question: RequestPart, lines: Rows, *, digest: str) -> bool:
    """Return whether the last three columns are counts and both ends of their intervals."""
    if not all(_is_number(text) for row in lines[1:] for text in row[-3:]):
        return False
    numbers = [[float(text) for text in row[-3:]] for row in lines[1:]]
    mechanism, problem = question.mechanism, question.problem
    noise = noise_of_file(mechanism, problem)
    if noise is None:
        rows = np.array([count for count, _, _ in numbers])
        low, high = drawn_ends(rows, mechanism, problem, level=question.level, digest=digest)
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        return all(
            same_ends(first, last, pair, slack=OTHER_WEIGHTS)
            for (_, first, last), pair in zip(numbers, pairs, strict=True)
        )
    half_widths = count_half_widths(noise, level=question.level)
    return any(all(low == rows - half and high == rows + half for rows, low, high in numbers) for half in half_widths)


def _quantiles_fit(question: RequestPart, lines: Rows, answers: Rows, *, digest: str) -> bool:
    """Return whether lines of quantiles follow from the rows per cell, which stand last in the lines of answers."""
    problem, mechanism = question.problem_of_persons, question.mechanism
    assert isinstance(mechanism, GroupQuantileCounts)
    try:
        rows = np.array([float(row[-1]) for row in answers[1:]]).reshape(quantiles_of(problem).count, -1)
    except (ValueError, IndexError):  # the file of answers has a fault of its own
        return True
    if rows.shape[1] != line_of(problem).ordered:
        return True

    def written_with(factor: float) -> Rows:
        table = quantile_table(rows, mechanism, problem, digest=digest, level=question.level, factor=factor)
        return read_rows(table_csv(table))

    if lines == written_with(1.0):
        return True
    # On another computer an end may be that of half-widths a little smaller or larger.
    narrow, wide = written_with(1 - SLACK), written_with(1 + SLACK)
    return len(lines) == len(narrow) and all(
        len(row) == len(first) and all(text in both for text, *both in zip(row, first, second, strict=True))
        for row, first, second in zip(lines, narrow, wide, strict=True)
    )


def _same_but_ends(row: Sequence[str], computed: Sequence[str], ends: Sequence[int]) -> bool:
    """Return whether a line is the computed one; of its intervals' ends, given by place, the last digit may differ."""
    if any(text != other for place, (text, other) in enumerate(zip(row, computed, strict=True)) if place not in ends):
        return False
    for low, high in zip(ends[::2], ends[1::2], strict=True):
        texts, others = (row[low], row[high]), (computed[low], computed[high])
        if texts == others:
            continue
        if not all(text == "" or _is_number(text) for text in (*texts, *others)):
            return False
        numbers, computed_numbers = ([float(text or "nan") for text in each] for each in (texts, others))
        if not same_ends(numbers[0], numbers[1], (computed_numbers[0], computed_numbers[1])):
            return False
    return True


def _mean_fits(question: RequestPart, lines: Rows, drawn: MeanRelease, *, bounds: Sequence[str], refused: bool) -> bool:
    """Return whether a line with mean, number of rows, bounds and intervals is possible for some noisy counters."""
    names, row = lines
    _, mean, rows, *ends = row
    if refused or ends[:2] != list(bounds):
        return refused and [mean, rows, *ends] == ["", "", *bounds, *[""] * len(ends[2:])]
    line = drawn.domain
    low, high = int(line.low), int(line.high)
    units = {written(unit, line.step): unit for unit in range(low, high)} if is_dates(line) else {}
    if not _is_number(rows, low=0, high=MAX_NUMBER / weight(line)) or not (mean in units or _is_number(mean)):
        return False
    counters = may_count(line, mean=float(units.get(mean, mean)), rows=float(rows))
    flags = np.zeros(len(counters), dtype=np.bool_)
    built = replace(drawn, values=flags * 0, counters=counters, refused=flags)
    plain = read_rows(table_csv(built.frame().iloc[:, 1:]))[1:]
    matching = [place for place, other in enumerate(plain) if other == list(row[:5])]  # finding intervals takes longer
    if not matching:
        return False
    built = replace(drawn, values=flags[matching] * 0, counters=counters[matching], refused=flags[matching])
    places = end_places(names, question.mechanism, question.problem)
    return any(_same_but_ends(row, other, places) for other in _written_again(built, question)[1:])


def _is_number(text: str, *, low: float = -MAX_NUMBER, high: float = MAX_NUMBER, whole: bool = False) -> bool:
    """Return whether a text is a number within these bounds in this program's notation, where zero has no sign."""
    try:
        number = float(text)
    except ValueError:
        return False
    return low <= number <= high and text == repr(number + 0.0) and (not whole or text == f"{int(number):.1f}")


def _is_whole(text: str, *, low: float, high: float) -> bool:
    """Return whether a text is a whole number in [low, high), written without a point."""
    try:
        return low <= int(text) < high and text == str(int(text))
    except ValueError:
        return False


def _drawn_places(names: Sequence[str]) -> list[int]:
    """Return the indices of the columns of random numbers."""
    drawn = {"rows"} if names[-1] == "rows" else DRAWN
    return [place for place, name in enumerate(names) if name in drawn]


def _numbers_fit(question: RequestPart, lines: Rows, drawn: Release) -> bool:
    """Return whether the random columns have numbers in the release's range, whole ones where required."""
    of_n = isinstance(drawn, RoundsRelease | RectanglesRelease | ProjectedRelease)
    for place in _drawn_places(lines[0]):
        name, column = lines[0][place], [row[place] for row in lines[1:]]
        if name == "outcome":
            checks = _outcome_checks(drawn)
        else:
            low, high = (0.0, 1.0) if name == "share" else (0.0 if of_n else -MAX_NUMBER, MAX_NUMBER)
            whole = isinstance(drawn, HistogramRelease | DirectRelease)
            checks = [partial(_is_number, low=low, high=high, whole=whole)] * len(column)
        if not all(check(text) for check, text in zip(checks, column, strict=True)):
            return False
        if of_n and not math.isclose(sum(map(float, column)), question.n, rel_tol=ROUNDING):
            return False
    numbers = np.array([float(row[-1]) for row in lines[1:]])
    if isinstance(drawn, HistogramRelease):
        counts = numbers.astype(np.int64)[None, :]
        return question.mechanism.possible(replace(drawn, counts=counts))
    return drawn.may_show(numbers)


def _outcome_checks(drawn: Release) -> list[Callable[[str], bool]]:
    """Return a check of the text of each published number, in order."""
    checks: list[Callable[[str], bool]] = []
    for name in drawn.published:
        value = getattr(drawn, name)
        arrays = value if isinstance(value, tuple) else (value,)
        for column, each in enumerate(arrays):
            check: Callable[[str], bool] = partial(_is_number, whole=each.dtype.kind in "iu")
            if isinstance(drawn, HalfspaceRelease) and name == "signs":
                check = {"1.0", "-1.0"}.__contains__
            elif isinstance(drawn, BoxRelease):
                cells = sub_cells(column, columns=len(arrays), levels=drawn.levels)
                check = partial(
                    _is_number, low=0, high=cells * boxes_of(drawn.problem).domain.sizes[column], whole=True
                )
            checks += [check] * each[0].size
    return checks


def _tables_faults(question: RequestPart, files: Mapping[str, bytes], *, prefix: str) -> Iterator[str]:
    """Check the measured tables beside synthetic rows, and the distances that follow from both.

    Args:
        question: the part of a request.
        files: its files by name, without the prefix; each is CSV.
        prefix: of the files' names.
    """
    released, counts = blank_release(question), dict[Set, Integers]()
    measured: Mapping[Set, Floats] | Sequence[Set]
    distances = read_rows(files[f"{DISTANCES}.csv"])
    if (name := f"{MEASURED}.csv") in files:
        lines = read_rows(files[name])
        values = [f"value {place + 1}" for place in range(released.max_measured)]
        tables = None
        if lines[0] == ["table", *values, "rows"] and all(_is_number(row[-1]) for row in lines[1:]):
            tables = read_measured(released, lines[1:])
        if tables is None or not _measured_fit(released, tables):
            yield OTHER.format(name=prefix + name)
            return
        measured = tables
        if can_count(released.domain):
            counts = count_rows(released.domain, rows_of(files[f"{SYNTHETIC_ROWS}.csv"]), list(tables))
            total, row_count = float(next(iter(tables.values())).sum()), int(next(iter(counts.values())).sum())
            if row_count != min(max(round(total), 1), question.n):
                yield OTHER.format(name=f"{prefix}{SYNTHETIC_ROWS}.csv")
                return
    else:
        measured = tables_of_distances(released, distances[1:])
    if distances[0] != list(DISTANCE_COLUMNS) or not _distances_fit(released, distances[1:], measured, counts):
        yield OTHER.format(name=f"{prefix}{DISTANCES}.csv")


def rows_of(contents: bytes) -> Iterator[Rows]:
    """Yield the lines of a CSV file without its header in blocks; see ``row_blocks``."""
    blocks = row_blocks(contents)
    yield next(blocks)[1:]
    yield from blocks


def _measured_fit(released: RowsRelease, measured: Mapping[Set, Floats]) -> bool:
    """Return whether tables are sums of whole contrasts; of chosen pairs, whether they have the columns' counts."""
    ways = released.plan.cliques.ways
    queries = Marginals(domain=released.domain, ways=ways)
    plain = np.concatenate([table.reshape(-1) for chosen, table in measured.items() if len(chosen) == ways])
    if not replace(released, problem=replace(released.problem, queries=queries)).may_show(plain):
        return False
    tolerance = SUM_TOLERANCE * max(1.0, float(np.abs(plain).max()))
    return all(
        np.abs(table.sum(axis=1 - axis) - measured[(attribute,)]).max() <= tolerance
        for chosen, table in measured.items()
        if len(chosen) > ways
        for axis, attribute in enumerate(chosen)
    )


def _distances_fit(
    released: RowsRelease, lines: Rows, measured: Sequence[Set] | Mapping[Set, Floats], counts: Mapping[Set, Integers]
) -> bool:
    """Return whether distances are of the measured tables, follow from the counts, and bounds add the noise."""
    unknown = released.unmeasured_pairs(measured)
    named = [escape_formula(table_name(released.domain, chosen)) for chosen in (*measured, *unknown)]
    if [row[0] for row in lines] != named or any(row[1:] != ["", ""] for row in lines[len(measured) :]):
        return False
    for chosen, (_, claimed, within) in zip(measured, lines, strict=False):
        if not (_is_number(claimed, low=0) and _is_number(within, low=0, whole=True)):
            return False
        noise, step = released.noise_within(chosen, beta=BETA, measured=measured), 0.0005
        total = float(claimed) + noise
        lower, upper = math.ceil((total - step) * (1 - ROUNDING)), math.ceil((total + step) * (1 + ROUNDING))
        if round(float(claimed), 3) != float(claimed) or not lower <= float(within) <= upper:
            return False
        if chosen in counts:
            assert isinstance(measured, Mapping)
            distance = float(np.abs(counts[chosen] - measured[chosen]).max())
            if abs(distance - float(claimed)) > step + ROUNDING:
                return False
    return True


def _synthetic_faults(
    question: RequestPart, contents: bytes, name: str, drawn: Release, *, header: bytes
) -> Iterator[str]:
    """Sentences about a file of synthetic rows; its header must be that of another one."""
    _check_size(contents)
    try:
        fits = _synthetic_fits(question, row_blocks(contents), drawn, header=next(row_blocks(header))[0])
    except (UnicodeDecodeError, csv.Error, OtherSpelling):
        yield NO_CSV.format(name=name)
        return
    if not fits:
        yield OTHER.format(name=name)


def _synthetic_fits(question: RequestPart, blocks: Iterable[Rows], drawn: Release, *, header: list[str]) -> bool:
    """Whether synthetic rows have in every column one of its labels, or a number or date within its ends.

    They are n, or, where rows are added or removed, at most the nominal n: the noisy total is in none of the files.
    """
    domain, count, fits = drawn.problem.domain, -1, True
    assert is_table(domain)
    columns = [(kind, column_codes(kind)) for kind in domain.columns]
    for block in blocks:  # all are read: a file that is spelled otherwise is said to be
        rows = block if count >= 0 else block[1:]
        fits = fits and (count >= 0 or block[0] == header) and all(len(row) == len(header) for row in rows)
        if fits and rows:
            texts = zip(columns, zip(*rows, strict=True), strict=True)
            fits = all(_column_fits(kind, codes, set(cells)) for (kind, codes), cells in texts)
        count += len(block)
    return fits and (count == question.n if question.neighbours is Neighbours.REPLACE_ONE else 0 < count <= question.n)


def _column_fits(kind: Number | Labels, codes: Mapping[str, int] | None, cells: set[str]) -> bool:
    """Return whether these values are possible in a column of synthetic rows; see ``column_codes``."""
    cells -= {""} if kind.missing else set()
    if codes is not None:
        return cells <= codes.keys()
    assert is_number(kind)
    low, high = float(kind.edges[0]), float(kind.edges[-1])
    shift = 0.5 if kind.whole else 0.0  # a whole number is the middle of its cell
    if (kind.edges + shift == np.floor(kind.edges + shift)).all():
        return all(_is_whole(cell, low=low + shift, high=high + shift) for cell in cells)
    return all(_is_number(cell, low=low, high=high) for cell in cells)
