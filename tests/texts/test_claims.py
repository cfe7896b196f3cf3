"""Sentences with a number or a claim that a user reads: `claims.csv` says where each is from and which test holds it.

Parts that are computed stand as ``{}``. NONE in the place of a test: none holds it yet; FALSE: the source says what
would be true. ``python -m tests.texts.test_claims`` brings the table up to date: it adds a row for each new sentence,
whose source and test you fill in, and prints the rows that it removes because their sentence is gone.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests import ROOT

TABLE = Path(__file__).with_name("claims.csv")
PLACES = (
    "pages",
    "dprelease/downloads",
    "dprelease/certificate.py",
    "dprelease/commands.py",
    "dprelease/verification.py",
    "dprelease/release.py",
    "dprelease/plan",
    "dprelease/requests",
    "dpcore/mechanisms",
    "dpcore/limits",
    "dpcore/core",
    "dpcore/data",
    "dpcore/privacy",
    "dpcore/queries",
    "dpcore/randomness",
    "dprelease/ledger",
    "dprelease/engines",
    "dplab",
    "app.py",
    "launch.py",
    "run.py",
)
DOCUMENTS = ("README.md", "SECURITY.md")
CLAIM = re.compile(
    r"\d|%|\b(at most|at least|never|always|every|no|none|nobody|nothing|cannot|best|better|worse|exact|exactly|proved|"
    r"promise\w*|guarante\w*|half|twice|times|bounded|private|optimal|least|most|whatever|impossible|"
    r"nearly|less|fewer|more|together|everything|smallest|largest|safe|secure)\b",
    re.IGNORECASE,
)
QUANTIFIER = re.compile(r"\b(all|only|same|each|without)\b", re.IGNORECASE)
"""Words that claim something except in a question."""
BEYOND_THE_INPUT = re.compile(
    r"\b(prov(ed|es|en)|proof|promis\w+|guarantees?|private|privacy|protect\w*|compos\w+|charg\w+|draw\w*|exact|law|"
    r"noise|memory|known|nobody|otherwise|allows?|spent|refuse\w*|answers?)\b",
    re.IGNORECASE,
)
"""Of these an error message claims something; any other one only names what is wrong with what was given."""
OF_THE_INPUT = re.compile(r"\b(must|got|finite)\b")
PROGRAM = re.compile(r"\b(SELECT|CASE|WHEN|CAST|CREATE|FROM|AS (DATE|INTEGER|DOUBLE|VARCHAR))\b")
"""Keywords of SQL in capitals: a string with one of them goes to a database and to no user."""
WORD = re.compile(r"\\|(?<!\S)[“(]?[A-Za-zα-ω][a-zα-ω’'-]*[”)]?[.,:;]?(?!\S)")
SHORTEST = 5
"""Words of a sentence."""
LINES_OF_A_PROGRAM = 5
UNHELD = ("NONE", "FALSE")


def files() -> list[Path]:
    """Files whose strings a user reads: modules, and templates of programs."""
    found = list[Path]()
    for place in PLACES:
        found += [ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("*.py*")
    return sorted(each for each in found if each.name.endswith((".py", ".py.txt")))


def strings(tree: ast.Module) -> Iterator[str]:
    """Strings of a module that are shown: no docstrings, nothing that is raised, and computed parts as ``{}``.

    What a computed part may say is a string of its own.
    """
    silent: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            silent.add(id(node.value))
        if isinstance(node, ast.Raise | ast.Assert):
            silent |= {id(each) for each in ast.walk(node)}
        if isinstance(node, ast.JoinedStr):
            silent |= {id(each) for each in node.values if isinstance(each, ast.Constant)}
        if isinstance(node, ast.FormattedValue) and node.format_spec:
            silent |= {id(each) for each in ast.walk(node.format_spec)}
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from program_strings(node.value)


def program_strings(text: str) -> Iterator[str]:
    """A string; of one that is a program its own strings and comments."""
    try:
        tree = ast.parse(text) if text.count("\n") > LINES_OF_A_PROGRAM else None
    except SyntaxError:
        tree = None
    if tree is None:
        yield text
        return
    yield from strings(tree)
    yield from (line.partition("# ")[2] for line in text.splitlines() if line.lstrip().startswith("# "))


def sentences(text: str) -> Iterator[str]:
    """Sentences of a string that are long enough to claim something, with blanks made one.

    No SQL, and nothing that has neither a word nor a sign of LaTeX, as CSS or numbers.
    """
    if PROGRAM.search(text):
        return
    for each in re.split(r"(?<=[.!?:])\s+", " ".join(text.split())):
        claims = CLAIM.search(each) or (QUANTIFIER.search(each) and not each.endswith("?"))
        if len(each.split()) >= SHORTEST and claims and WORD.search(each):
            yield each


def raised(tree: ast.Module) -> Iterator[str]:
    """Claims of error messages that go beyond what is wrong with what was given."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Raise) or node.exc is None:
            continue
        for text in strings(ast.Module(body=[ast.Return(node.exc)], type_ignores=[])):
            for each in sentences(text):
                if BEYOND_THE_INPUT.search(each) and not OF_THE_INPUT.search(each):
                    yield each


def written(text: str) -> Iterator[str]:
    """Claims of a document: its paragraphs, the items of its lists and the lines of its tables; no code."""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-|#]|\d+\.) ?)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        if not block.lstrip().startswith("#"):
            yield from sentences(re.sub(r"^\s*(?:- |\d+\. +)", "", block))


@cache
def claimed() -> set[tuple[str, str]]:
    """Sentences with a number or a claim, with the file of each."""
    found = set[tuple[str, str]]()
    for file in files():
        name, text = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
        if file.suffix == ".txt":  # a template, in which names with a dollar sign are filled in
            found |= {(name, each) for part in program_strings(text.replace("$", "")) for each in sentences(part)}
            continue
        tree = ast.parse(text)
        shown = [sentence for text in strings(tree) for sentence in sentences(text)]
        found |= {(name, sentence) for sentence in (*shown, *raised(tree))}
    for name in DOCUMENTS:
        found |= {(name, sentence) for sentence in written((ROOT / name).read_text(encoding="utf-8"))}
    return found


@cache
def rows() -> list[dict[str, str]]:
    """The table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def exists(test: str) -> bool:
    """Whether a test of a file is there, by the name that pytest gives it without its parameters."""
    name, _, function = test.partition("::")
    path = ROOT / name
    return path.is_file() and f"def {function}(" in path.read_text(encoding="utf-8")


def test_every_row_has_a_source_and_a_test_that_exists() -> None:
    empty = [(row["file"], row["sentence"]) for row in rows() if not row["source"].strip()]
    assert not empty, (
        "Fill in source (such as `computed: accuracy`) and test (`tests/…/test_x.py::test_y`, several parted by `; `) "
        f"of these rows of tests/texts/claims.csv, as in the rows around them: {empty}"
    )
    assert [row for row in rows() if not (ROOT / row["file"]).is_file()] == []
    named = [test for row in rows() if row["test"] not in UNHELD for test in row["test"].split("; ")]
    assert [test for test in named if not exists(test)] == []


def test_every_sentence_has_its_row_and_every_row_its_sentence() -> None:
    known = {(row["file"], row["sentence"]) for row in rows()}
    new, gone = sorted(claimed() - known), sorted(known - claimed())
    assert not new and not gone, (
        "Run `python -m tests.texts.test_claims`, then fill in source and test of each new row of claims.csv: "
        f"{new}; no sentence any more: {gone}"
    )


def test_the_table_is_sorted_and_has_no_row_twice() -> None:
    keys = [(row["file"], row["sentence"]) for row in rows()]
    assert keys == sorted(set(keys))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('x = "The error is at most {} rows."', 1),
        ('x = f"It errs by {n} rows at most in all of them."', 1),
        ("x = f'It errs by {n} rows at most, {\"whatever the data of this case\" if n else 1}.'", 2),
        ('x = f"It errs by {n:,.3f} rows in some of them"', 0),
        ('x = "Too short: 5%."', 0),
        ('raise ValueError("This is at most three rows long.")', 0),
        ('"""A docstring that says at most three things."""', 0),
        ('st.write("Choose the column that you want to see.")', 0),
        ('execute("SELECT 1 FROM charges WHERE request_digest = ?")', 0),
        ('x = f"(floor(({days} + 3) / 7.0) + {week} - 1)"', 0),
        ('x = "Select one row from the data in this case, never two."', 1),
        ('x = f"Error {n} / {m} · 100 + {k} - 1"', 1),
    ],
)
def test_a_claim_is_found(text: str, expected: int) -> None:
    assert sum(len(list(sentences(each))) for each in strings(ast.parse(text))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('raise ParameterError("Guarantees for persons do not compose in parallel at all.")', 1),
        ('raise ParameterError("Only add-or-remove guarantees compose in parallel here.")', 1),
        ('raise ParameterError(f"A draw must have at most {n} rows of data.")', 0),
        ('raise ParameterError("There is no column of this name, only numbers.")', 0),
    ],
)
def test_a_claim_of_an_error_is_found(text: str, expected: int) -> None:
    assert len(list(raised(ast.parse(text)))) == expected


def test_claims_of_a_document_are_found() -> None:
    text = "# A title of no less than five words\n\nIt never shows a\nrow. It is nice to see and read."
    text += "\n\n- At most 5 rows are shown."
    text += "\n1. Each row is one of many.\n\n```sh\nrun all 5 of the tests\n```\n| all | of these are in it | 5 |"
    assert list(written(text)) == [
        "It never shows a row.",
        "At most 5 rows are shown.",
        "Each row is one of many.",
        "| all | of these are in it | 5 |",
    ]


def updated(
    table: Iterable[Mapping[str, str]], found: set[tuple[str, str]]
) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return the sorted table with a row for each sentence that is found, and the rows of sentences that are gone.

    A new row has no source, which a test refuses until you fill it in.
    """
    known = {(row["file"], row["sentence"]): dict(row) for row in table}
    empty = {"source": "", "test": UNHELD[0]}
    kept = [known.get(each, {"file": each[0], "sentence": each[1], **empty}) for each in sorted(found)]
    return kept, [row for each, row in known.items() if each not in found]


def example_for(row: Mapping[str, str], table: Iterable[Mapping[str, str]]) -> Mapping[str, str] | None:
    """Return a filled row whose source and test may fit: of the same sentence, or of a question where one is asked."""
    filled = [each for each in table if each["source"]]
    same = (each for each in filled if each["sentence"] == row["sentence"])
    name = Path(row["file"]).name
    questions = (
        each
        for each in filled
        if row["sentence"].endswith("?") and each["sentence"].endswith("?") and Path(each["file"]).name == name
    )
    return next(same, None) or next(questions, None)


def test_a_new_row_has_the_row_of_its_sentence_or_of_a_question_as_its_example() -> None:
    table = [
        {"file": f"{folder}/lesson.py", "sentence": sentence, "source": source, "test": "t.py::test"}
        for folder, sentence, source in (
            ("a", "How many?", "question"),
            ("b", "At most 5.", "theorem"),
            ("c", "No.", ""),
        )
    ]
    new = {"source": "", "test": UNHELD[0]}
    assert example_for({"file": "d/lesson.py", "sentence": "Which one?", **new}, table) == table[0]
    assert example_for({"file": "d/page.py", "sentence": "At most 5.", **new}, table) == table[1]
    assert example_for({"file": "d/page.py", "sentence": "Which one?", **new}, table) is None
    assert example_for({"file": "d/lesson.py", "sentence": "No.", **new}, table) is None


def test_the_table_is_brought_up_to_date() -> None:
    table = [{"file": "a.py", "sentence": one, "source": "theorem", "test": "t.py::test"} for one in ("Gone.", "Kept.")]
    kept, gone = updated(table, {("a.py", "Kept."), ("a.py", "Added.")})
    assert gone == table[:1] and kept[1] == table[1]
    assert kept[0] == {"file": "a.py", "sentence": "Added.", "source": "", "test": "NONE"}


if __name__ == "__main__":
    kept, gone = updated(rows(), claimed())
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["file", "sentence", "source", "test"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
    for row in gone:
        print("gone", *row.values(), sep="\t")
    for row in kept:
        if not row["source"]:
            example = example_for(row, kept)
            print("to fill in", row["file"], row["sentence"], sep="\t")
            if example:
                print("\tfor example", example["file"], example["source"], example["test"], sep="\t")
