from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcore.core import ParameterError
from dpcore.core.basics import MAX_MESSAGE
from dpcore.data.reading.format import Format
from dpcore.queries.linear import LinearQueries
from dprelease.ledger.canonical import canonical
from dprelease.requests.single import FORMAT, Request
from tests.kit.ledgers import request_of

FILE: dict[str, Any] = {
    "format": FORMAT,
    "data": {
        "reading": {"type": "Columns", "names": ["age"], "on": {"type": "Number", "high": 20, "bits": 2}},
        "relation": "add_remove_one",
        "n": 30,
    },
    "queries": {"type": "Intervals"},
    "mechanism": {"key": "identity", "parameters": {"epsilon": 0.5}},
}


def test_a_file_is_the_request_it_says() -> None:
    assert Request.of(FILE) == request_of()
    assert Request.read(json.dumps(FILE, indent=2)).digest == request_of().digest


def test_spelling_and_usual_values_do_not_matter_and_everything_else_does() -> None:
    digest = request_of().digest
    spelled = copy.deepcopy(FILE) | {"draw": 1, "bounds_from_data": False}
    spelled["mechanism"]["parameters"]["epsilon"] = "0.50"
    spelled["data"]["reading"]["on"] |= {"low": 0, "high": "2e1", "missing": False}
    assert Request.of(spelled).digest == digest
    others = [request_of(draw=2), request_of(epsilon=0.5000001), request_of(n=31), request_of(bounds_from_data=True)]
    assert len({digest, *(other.digest for other in others)}) == 5


WRONG: list[tuple[tuple[str, ...], Any, str]] = [
    (("format",), "dpscope-request/2", "format must be"),
    (("surprise",), 1, "no field “surprise”"),
    (("data", "n"), 0, "n must be a whole number"),
    (("data", "n"), True, "n must be a whole number"),
    (("data", "n"), "30", "n must be a whole number"),
    (("data", "relation"), "replace", "relation must be one of"),
    (("data", "extra"), 1, "no field “extra”"),
    (("data", "reading", "type"), "Table", "must be one of"),
    (("data", "reading", "type"), "Number", "must be one of"),
    (("data", "reading", "names"), "age", "must be a list"),
    (("data", "reading", "names"), [1], "must be a text"),
    (("data", "reading", "names"), ["age", "pay"], "not encoded from 2 columns"),
    (("data", "reading", "on", "bits"), 2.0, "must be a whole number"),
    (("data", "reading", "on", "bits"), 99, "Bits must lie"),
    (("data", "reading", "on", "high"), "many", "must be a finite number"),
    (("data", "reading", "on", "high"), "1e999", "must be a finite number"),
    (("data", "reading", "on", "missing"), 1, "must be true or false"),
    (("data", "reading", "on", "secret"), 1, "no field “secret”"),
    (("queries", "type"), "Rectangles", "cannot be asked on this domain"),
    (("queries", "domain"), {"type": "Number"}, "no field “domain”"),
    (("queries",), [], "written as a mapping"),
    (("mechanism", "key"), "magic", "No mechanism of the catalogue"),
    (("mechanism", "key"), "direct-tables", "does not serve this question"),
    (("mechanism", "parameters"), {"epsilon": "x"}, "must be a finite number"),
    *(
        (("mechanism", "parameters"), {"epsilon": value}, words)
        for words, values in {
            "must lie between": (0, "1e-400", "5e-324", "-1", 10**40, 1e308),
            "must be a finite number": ("9" * 10_000, "1/2", "1e400", "1_0", "0x1", True, None, 10**4000),
        }.items()
        for value in values
    ),
    (("data", "n"), 10**4000, "n must be a whole number"),
    (("data", "n"), "9" * 100_000, "n must be a whole number"),
    (("data", "n"), ["a"] * 100_000, "n must be a whole number"),
    (("data", "reading", "on", "bits"), 10**4000, "Bits must lie"),
    (("\u202e2202",), 1, "no field “\ufffd2202”"),
    (("data", "a\nb"), 1, "no field “a\ufffdb”"),
    (("draw",), 10**4000, "draw's number"),
    (("mechanism", "parameters"), {"gamma": 1}, "has no parameter “gamma”"),
    (("mechanism", "parameters"), [], "are a mapping"),
    (("draw",), 0, "draw's number"),
    (("draw",), "1", "draw's number"),
    (("bounds_from_data",), 1, "true or false"),
]


@pytest.mark.parametrize(
    ("path", "value", "words"), WRONG, ids=lambda each: "-".join(each) if type(each) is tuple else ""
)
def test_what_is_not_known_is_refused_in_a_sentence(path: tuple[str, ...], value: Any, words: str) -> None:
    document = copy.deepcopy(FILE)
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(ParameterError, match=words) as told:
        Request.of(document)
    sentence = str(told.value)
    assert sentence.endswith(".") and sentence.isprintable() and len(sentence) <= MAX_MESSAGE


@pytest.mark.parametrize("path", [("data",), ("queries",), ("mechanism",), ("data", "n"), ("mechanism", "key")])
def test_what_is_missing_is_named(path: tuple[str, ...]) -> None:
    document = copy.deepcopy(FILE)
    place = document
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    with pytest.raises(ParameterError, match=f"needs the field “{path[-1]}”"):
        Request.of(document)


def test_readings_within_each_other_without_end_are_refused_in_a_sentence() -> None:
    reading = '{"type":"Capped","person":"p","reading":' * 300 + '{"type":"Columns"}' + "}" * 300
    text = request_of().text.decode()
    own = canonical(request_of().document["data"]["reading"]).decode()
    assert own in text
    with pytest.raises(ParameterError, match="64 deep"):
        Request.read(text.replace(own, reading))


@pytest.mark.parametrize("weights", [[1001, 0, 0, 0], [-1, 0, 0, 0], [1000, 0, 0], []])
def test_weights_of_a_file_stay_between_none_and_one(weights: list[int]) -> None:
    """A weight of 32 would move an answer by 32 for a row, and cost as much as one of 1."""
    document = copy.deepcopy(FILE) | {"mechanism": {"key": "mwem", "parameters": {"epsilon": 0.5}}}
    packed = {"type": "LinearQueries", "packed": np.array([[0, 250, 500, 1000]], dtype=np.int16).tobytes().hex()}
    assert isinstance(Request.of(document | {"queries": packed}).queries, LinearQueries)
    packed["packed"] = np.array(weights, dtype=np.int16).tobytes().hex()
    with pytest.raises(ParameterError, match=r"(?i)weights"):
        Request.of(document | {"queries": packed})


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
        ({"type": "Format", "skip": "2"}, "must be a whole number"),
        ({"type": "Format", "skip": -1}, "lines can be skipped"),
        ({"type": "Format", "decimal": "x"}, "a point or a comma"),
        ({"type": "Format", "missing": "-99"}, "must be a list"),
        ({"type": "Format", "header": 0}, "must be true or false"),
        ({"type": "Format", "values": ["7"]}, "no field “values”"),
        ({"type": "Number"}, "must be one of Format"),
        ("decimal=,", "written as a mapping"),
    ],
)
def test_settings_of_a_file_that_are_none_are_refused(settings: Any, words: str) -> None:
    wrong = copy.deepcopy(FILE)
    wrong["data"]["file_format"] = settings
    with pytest.raises(ParameterError, match=words):
        Request.of(wrong)
