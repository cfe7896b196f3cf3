"""A hostile data dictionary is refused in one sentence that quotes nothing but names made safe to show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dpcore.core import DataError
from dpcore.core.sizes import MAX_DICTIONARY_BYTES
from dpcore.data.dictionaries import opening
from dpcore.data.dictionaries.codebook import read_codebook, write_codebook
from dpcore.data.dictionaries.opening import open_dictionary

SECRET = "Rumpelstilzchen"


def schema(**field: Any) -> str:
    """A Table Schema of one field."""
    return json.dumps({"fields": [{"name": "pay", "type": "number"} | field]})


def bounds(low: Any, high: Any = 5, *, type: str = "number", **field: Any) -> str:
    """A Table Schema of one field with bounds."""
    return schema(type=type, constraints={"minimum": low, "maximum": high}, **field)


FINITE, NUMBERS, DAY = (
    "pay: The bounds must be finite numbers.",
    "pay: From and to must be numbers. If the column holds words, its kind is “category”.",
    "pay: Write an existing day, for example 2024-02-29.",
)  # fmt: skip
NOT_JSON = "The description is not JSON with unique keys and finite numbers."
NO_NAMES = "Every column of a description needs a visible name of at most 600 characters."
REFUSED = {
    "NaN is not JSON": (bounds(float("nan")), NOT_JSON),
    "NaN as text": (bounds("nan"), FINITE),
    "infinity": (bounds("1e999"), FINITE),
    "one infinite bound": (schema(constraints={"minimum": "-inf"}), FINITE),
    "a whole number that no double holds": (bounds(10**400), FINITE),
    "a truth value": (bounds(True), FINITE),
    "a list": (bounds([SECRET]), FINITE),
    "words": (bounds(SECRET), NUMBERS),
    "bounds the wrong way round": (bounds(7), "pay: The lower bound must be a finite number below the upper bound."),
    "no date": (bounds("2023-02-29", "2024-01-01", type="date"), DAY),
    "a word for a date": (bounds(SECRET, "2024-01-01", type="date"), DAY),
    "a number of cells": (bounds(0, dpscope={"bins": 10**9}),
                          "pay: The number of cells must lie between 2 and 65,536."),
    "cells in words": (bounds(0, dpscope={"bins": SECRET}),
                       "pay: The number of cells must be a whole number, and the unit a text."),
    "an unknown type": (schema(type=SECRET), "pay: The type is none of Table Schema's types."),
    "labels that are no list": (schema(type="string", constraints={"enum": {"a": SECRET}}),
                                "pay: The labels must be a list of texts or numbers."),
    "labels of lists": (schema(type="string", constraints={"enum": [[SECRET]]}),
                        "pay: The labels must be a list of texts or numbers."),
    "a label twice": (schema(type="string", constraints={"enum": [SECRET, SECRET]}),
                      "pay: Every label must be listed once."),
    "a hostile name": (bounds(7, name="<script>alert(1)</script>"),
                       "script_alert(1)_/script: The lower bound must be a finite number below the upper bound."),
    "a name that turns text round": (bounds(7, name="\u202eyap"),
                                     "yap: The lower bound must be a finite number below the upper bound."),
    "an empty name": (schema(name=" "), NO_NAMES),
    "an endless name": (schema(name="n" * 601), NO_NAMES),
    "a name that is no text": (schema(name=[SECRET]),
                               "Every field of a Table Schema needs a name and a type in words."),
    "an unpaired surrogate": ('{"fields": [{"name": "\\ud800"}]}', NOT_JSON),
    "a name twice": (json.dumps({"fields": [{"name": SECRET}] * 2}),
                     "Two columns of the description have the same name."),
    "too many columns": (json.dumps({"fields": [{"name": f"{each}"} for each in range(1001)]}),
                         "The description has more than 1,000 columns."),
    "too many rows of a person": (json.dumps({"fields": [], "dpscope": {"person": "a", "personRows": 10**6}}),
                                  "The maximum rows per person must be between 1 and 1,000."),
    "fields that are no list": ('{"fields": 1}', "The fields of a Table Schema must be a list of mappings."),
    "tables that are no list": ('{"resources": 1}', "The tables of a data package must be a list of mappings."),
    "a document that is a list": ("[]", "The description must be a JSON mapping."),
    "an empty mapping": ("{}", "The description is no Table Schema, data package or CSVW metadata with a schema."),
    "a schema elsewhere": ('{"resources": [{"schema": "/etc/passwd"}]}',
                           "The schema is in another file: open that file."),
    "too deep": ('{"fields":' * 65 + "1" + "}" * 65, "The description nests lists or mappings more than 64 deep."),
    "far too deep": ("[" * 100_000, NOT_JSON),
    "half a file": ('{"fields": [', NOT_JSON),
    "CSVW's unknown type": (json.dumps({"tableSchema": {"columns": [{"name": "pay", "datatype": SECRET}]}}),
                            "pay: The datatype is none of CSVW's."),
    "CSVW's schema elsewhere": ('{"tables": [{"tableSchema": "https://x.invalid"}]}',
                                "The schema is in another file: open that file."),
    "CSVW's columns that are no list": ('{"tableSchema": {"columns": 1}}',
                                        "The columns of CSVW metadata must be a list of mappings."),
    "CSVW without a table": ('{"tables": [{}]}', "The CSVW metadata state the schema of no table."),
}  # fmt: skip
OPEN_QUOTE = "A quotation mark of the codebook is not closed, or a cell is far too long."
CODEBOOKS = {
    "no titles": (f"{SECRET},1\n", "The first row of a codebook has titles, one of them “name”."),
    "an open quote": (f'name,type\n"{SECRET}', OPEN_QUOTE),
    "a cell that is too long": (
        f'name,type\n"{"n" * 200_000}",number\n',
        OPEN_QUOTE,
    ),
    "no name": ("name,type\n,number\n", NO_NAMES),
    "an unknown type": (
        f"name,type\npay,{SECRET}\n",
        "pay: The type is none that a codebook may have, such as number, category or date.",
    ),
    "words for a bound": (f"name,type,min,max\npay,number,{SECRET},1\n", NUMBERS),
    "NaN": ("name,type,min,max\npay,number,nan,1\n", FINITE),
    "cells in words": (f"name,type,bins\npay,number,{SECRET}\n", "pay: The number of cells must be a whole number."),
    "empty": ("", "The first row of a codebook has titles, one of them “name”."),
}  # fmt: skip


def refusal(content: bytes, name: str) -> str:
    """The sentence that a dictionary is refused with; it does not quote SECRET."""
    with pytest.raises(DataError) as refused:
        open_dictionary(content, name=name)
    sentence = str(refused.value)
    assert SECRET not in sentence and "\n" not in sentence
    return sentence


@pytest.mark.parametrize("what", REFUSED)
def test_json_is_refused_in_a_sentence(what: str) -> None:
    text, sentence = REFUSED[what]
    assert refusal(text.encode(), "x.json") == sentence


@pytest.mark.parametrize("what", CODEBOOKS)
def test_a_codebook_is_refused_in_a_sentence(what: str) -> None:
    text, sentence = CODEBOOKS[what]
    assert refusal(text.encode(), "x.csv") == sentence


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (b"\xff\xfe{", "x.json", "The description is no UTF-8 text."),
        (b"{}\0", "x.json", "The description is no UTF-8 text."),
        (b"{}", f"{SECRET}.exe", "The name of a description must end in .json, .yaml, .yml, .csv, .tsv or .txt."),
    ],
)
def test_a_file_that_is_no_text_is_refused(content: bytes, name: str, sentence: str) -> None:
    assert refusal(content, name) == sentence


def test_a_huge_file_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    content = schema().encode() + b" " * MAX_DICTIONARY_BYTES
    monkeypatch.setattr(opening, "_decoded", None)
    assert refusal(content, "x.json") == "The description is larger than 4 MB."
    monkeypatch.undo()
    assert open_dictionary(schema().encode() + b" " * 100, name="x.json").columns[0].name == "pay"


def test_a_formula_in_a_codebook_is_a_name_again() -> None:
    """A spreadsheet does not run what is written, and what is read is the name."""
    read = open_dictionary(schema(name="=1+1").encode(), name="x.json")
    assert write_codebook(read).splitlines()[1].startswith("'=1+1,")
    assert read_codebook(write_codebook(read)) == read


@pytest.mark.parametrize("step", [[], {}, None, 7, SECRET])
def test_a_unit_of_dates_that_is_none_leaves_that_of_the_type(step: Any) -> None:
    content = bounds("2023-01-01", "2024-01-01", type="date", dpscope={"step": step}).encode()
    assert open_dictionary(content, name="x.json").columns[0].step == "day"
