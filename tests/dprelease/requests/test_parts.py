from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcore.core import Neighbours, ParameterError
from dpcore.core.basics import MAX_MESSAGE
from dpcore.data.reading.format import Format
from dpcore.queries.linear import LinearQueries
from dprelease.ledger.canonical import canonical
from dprelease.requests.parts import FORMAT, Request, other_unit
from dprelease.sizes import MAX_PARTS
from tests.kit.ledgers import plan_of, question_of, request_of
from tests.kit.sources import inside

FILE: dict[str, Any] = {
    "format": FORMAT,
    "data": {"relation": "add_remove_one", "n": 30},
    "parts": [
        {
            "reading": {"type": "Columns", "names": ["age"], "on": {"type": "Number", "high": 20, "bits": 2}},
            "queries": {"type": "Intervals"},
            "mechanism": {"key": "identity", "parameters": {"epsilon": 0.5}},
        }
    ],
}
PARTS = (question_of(), question_of(epsilon=0.25))


def test_a_file_is_the_request_it_says() -> None:
    assert Request.of(FILE) == request_of()
    assert Request.read(json.dumps(FILE, indent=2)).digest == request_of().digest


def test_spelling_and_usual_values_do_not_matter_and_everything_else_does() -> None:
    digest = request_of().digest
    spelled = copy.deepcopy(FILE) | {"draw": 1, "person": "", "rows_a_person": 1}
    [part] = spelled["parts"]
    part["bounds_from_data"] = False
    part["mechanism"]["parameters"]["epsilon"] = "0.50"
    part["reading"]["on"] |= {"low": 0, "high": "2e1", "missing": False}
    assert Request.of(spelled).digest == digest
    others = [request_of(draw=2), request_of(epsilon=0.5000001), request_of(n=31), request_of(bounds_from_data=True)]
    others += [request_of(person="who"), request_of(person="who", rows_a_person=2)]
    others += [Request(parts=PARTS), Request(parts=PARTS[::-1])]
    assert len({digest, *(other.digest for other in others)}) == 9
    assert all(Request.read(other.text) == other for other in others)


def test_a_plan_asks_for_its_columns_and_names_its_persons() -> None:
    rows, persons = plan_of().request(), plan_of(person="person", rows=3).request(draw=4)
    assert rows.parts == persons.parts and (rows.person, rows.rows_a_person) == ("", 1)
    assert (persons.person, persons.rows_a_person, persons.draw) == ("person", 3, 4)
    assert {column for part in persons.parts for column in part.reading.columns} == {"age"}


def test_another_unit_is_told_whatever_number_of_questions_is_asked() -> None:
    for parts in (PARTS, PARTS[:1]):
        request = Request(parts=parts, person="who", rows_a_person=2)
        assert other_unit(request, person="who", rows=2) == "" == other_unit(Request(parts=parts), person="", rows=1)
        assert other_unit(request, person="who", rows=1) == (
            "The request protects persons (column “who”) with at most 2 rows,"
            " but the data are registered for persons (column “who”) with at most 1 row."
        )
        assert "protects single rows," in other_unit(Request(parts=parts), person="who", rows=1)
        assert "registered for single rows." in other_unit(request, person="", rows=1)


def test_questions_of_two_relations_or_numbers_of_rows_are_not_released_together() -> None:
    for changed in ({"n": 31}, {"neighbours": Neighbours.REPLACE_ONE}):
        with pytest.raises(ParameterError, match="must have the same neighbouring relation and n"):
            Request(parts=(question_of(), question_of(**changed)))


WRONG: list[tuple[tuple[str | int, ...], Any, str]] = [
    (("format",), "dpscope-request/1", "of an older program. Create it again in the format “dpscope-r"),
    (("format",), "dpscope-request/3", "A request's format must be “dpscope-request/2”"),
    (("format",), "dpscope-joint-request/1", "format must be"),
    (("mechanism",), {}, "no field “mechanism”"),
    (("surprise",), 1, "no field “surprise”"),
    (("data", "n"), 0, "n must be an integer"),
    (("data", "n"), True, "n must be an integer"),
    (("data", "n"), "30", "n must be an integer"),
    (("data", "relation"), "replace", "relation must be one of"),
    (("data", "extra"), 1, "no field “extra”"),
    (("parts", 0, "reading", "type"), "Table", "must be one of"),
    (("parts", 0, "reading", "type"), "Number", "must be one of"),
    (("parts", 0, "reading", "names"), "age", "must be a list"),
    (("parts", 0, "reading", "names"), [1], "must be a string"),
    (("parts", 0, "reading", "names"), ["age", "pay"], "not encoded from 2 columns"),
    (("parts", 0, "reading", "on", "bits"), 2.0, "must be an integer"),
    (("parts", 0, "reading", "on", "bits"), 99, "Bits must lie"),
    (("parts", 0, "reading", "on", "high"), "many", "must be a finite number"),
    (("parts", 0, "reading", "on", "high"), "1e999", "must be a finite number"),
    (("parts", 0, "reading", "on", "missing"), 1, "must be true or false"),
    (("parts", 0, "reading", "on", "secret"), 1, "no field “secret”"),
    (("parts", 0, "queries", "type"), "Rectangles", "is not possible on this domain"),
    (("parts", 0, "queries", "domain"), {"type": "Number"}, "no field “domain”"),
    (("parts", 0, "queries"), [], "must be a mapping"),
    (("parts", 0, "mechanism", "key"), "magic", "No mechanism of the catalogue"),
    (("parts", 0, "mechanism", "key"), "direct-tables", "cannot release this statistic"),
    (("parts", 0, "mechanism", "parameters"), {"epsilon": "x"}, "must be a finite number"),
    *(
        (("parts", 0, "mechanism", "parameters"), {"epsilon": value}, words)
        for words, values in {
            "must lie between": (0, "1e-400", "5e-324", "-1", 10**40, 1e308),
            "must be a finite number": ("9" * 10_000, "1/2", "1e400", "1_0", "0x1", True, None, 10**4000),
        }.items()
        for value in values
    ),
    (("data", "n"), 10**4000, "n must be an integer"),
    (("data", "n"), "9" * 100_000, "n must be an integer"),
    (("data", "n"), ["a"] * 100_000, "n must be an integer"),
    (("parts", 0, "reading", "on", "bits"), 10**4000, "Bits must lie"),
    (("\u202e2202",), 1, "no field “\ufffd2202”"),
    (("data", "a\nb"), 1, "no field “a\ufffdb”"),
    (("draw",), 10**4000, "number of a repetition"),
    (("parts", 0, "mechanism", "parameters"), {"gamma": 1}, "has no parameter “gamma”"),
    (("parts", 0, "mechanism", "parameters"), [], "are a mapping"),
    (("draw",), 0, "number of a repetition"),
    (("draw",), "1", "number of a repetition"),
    (("parts", 0, "bounds_from_data"), 1, "true or false"),
    (("parts",), [], "between 1 and 64"),
    (("parts",), FILE["parts"] * (MAX_PARTS + 1), "between 1 and 64"),
    (("parts",), {}, "its parts a list"),
    (("parts", 0), 1, "statistic must be a mapping"),
    (("parts", 0), FILE, "no field “data”"),
    (("parts", 0, "draw"), 2, "no field “draw”"),
    (("person",), 1, "a column name"),
    (("rows_a_person",), 0, "The maximum rows per person must be"),
    (("rows_a_person",), True, "The maximum rows per person must be"),
    (("rows_a_person",), 1001, "The maximum rows per person must be"),
    (("rows_a_person",), 2, "need a column"),
    (("draw",), True, "number of a repetition"),
]


@pytest.mark.parametrize(
    ("path", "value", "words"), WRONG, ids=lambda each: "-".join(map(str, each)) if type(each) is tuple else ""
)
def test_what_is_not_known_is_refused_in_a_sentence(path: tuple[str | int, ...], value: Any, words: str) -> None:
    document = copy.deepcopy(FILE)
    inside(document, path[:-1])[path[-1]] = value
    with pytest.raises(ParameterError, match=words) as told:
        Request.of(document)
    sentence = str(told.value)
    assert sentence.endswith(".") and sentence.isprintable() and len(sentence) <= MAX_MESSAGE


@pytest.mark.parametrize(
    "path", [("data",), ("parts",), ("data", "n"), ("parts", 0, "queries"), ("parts", 0, "mechanism", "key")]
)
def test_what_is_missing_is_named(path: tuple[str | int, ...]) -> None:
    document = copy.deepcopy(FILE)
    del inside(document, path[:-1])[path[-1]]
    with pytest.raises(ParameterError, match=f"needs the field “{path[-1]}”"):
        Request.of(document)


def test_readings_within_each_other_without_end_are_refused_in_a_sentence() -> None:
    reading = '{"type":"Capped","person":"p","reading":' * 300 + '{"type":"Columns"}' + "}" * 300
    text = request_of().text.decode()
    own = canonical(question_of().document["reading"]).decode()
    assert own in text
    with pytest.raises(ParameterError, match="64 deep"):
        Request.read(text.replace(own, reading))


@pytest.mark.parametrize("weights", [[1001, 0, 0, 0], [-1, 0, 0, 0], [1000, 0, 0], []])
def test_weights_of_a_file_stay_between_none_and_one(weights: list[int]) -> None:
    """A weight of 32 would move an answer by 32 for a row, and cost as much as one of 1."""
    part = FILE["parts"][0] | {"mechanism": {"key": "mwem", "parameters": {"epsilon": 0.5}}}
    packed = {"type": "LinearQueries", "packed": np.array([[0, 250, 500, 1000]], dtype=np.int16).tobytes().hex()}
    [asked] = Request.of(FILE | {"parts": [part | {"queries": packed}]}).parts
    assert isinstance(asked.queries, LinearQueries)
    packed["packed"] = np.array(weights, dtype=np.int16).tobytes().hex()
    with pytest.raises(ParameterError, match=r"(?i)weights"):
        Request.of(FILE | {"parts": [part | {"queries": packed}]})


def test_a_request_carries_the_settings_with_which_its_file_is_read_and_leaves_the_usual_ones_out() -> None:
    """A decimal comma that a preview read must not be left to the next reader's guess."""
    usual = [Format(separator=separator, decimal=decimal) for separator in ("", ",") for decimal in ("", ".")]
    assert {request_of(file_format=each).text for each in usual} == {request_of().text}
    chosen = Format(
        separator=";", decimal=",", date_order="day first", encoding="cp1252", skip=2, missing=("-99", "?"),
        days="local",
    )  # fmt: skip
    request = request_of(file_format=chosen)
    assert Request.read(request.text).file_format == chosen and Request.read(request.text).digest == request.digest
    others = [replace(chosen, decimal="."), replace(chosen, skip=3), replace(chosen, missing=("-99",)), Format()]
    others += [replace(chosen, header=False), Format(header=False)]
    assert len({request.digest, *(request_of(file_format=each).digest for each in others)}) == 7
    assert all(Request.read(request_of(file_format=each).text).file_format == each for each in others)
    assert request_of(file_format=replace(chosen, header=True)).text == request.text, "names are usual"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"type": "Format", "skip": "2"}, "must be an integer"),
        ({"type": "Format", "skip": -1}, "lines can be skipped"),
        ({"type": "Format", "decimal": "x"}, "a point or a comma"),
        ({"type": "Format", "missing": "-99"}, "must be a list"),
        ({"type": "Format", "header": 0}, "must be true or false"),
        ({"type": "Format", "values": ["7"]}, "no field “values”"),
        ({"type": "Number"}, "must be one of Format"),
        ("decimal=,", "must be a mapping"),
    ],
)
def test_settings_of_a_file_that_are_none_are_refused(settings: Any, words: str) -> None:
    wrong = copy.deepcopy(FILE)
    wrong["data"]["file_format"] = settings
    with pytest.raises(ParameterError, match=words):
        Request.of(wrong)
