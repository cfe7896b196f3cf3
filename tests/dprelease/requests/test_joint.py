from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from dpcore.core import Neighbours, ParameterError
from dpcore.data.reading.format import Format
from dprelease.requests.joint import MOST_PARTS, Asked, JointRequest, asked_in, other_unit
from tests.kit.ledgers import plan_of, request_of

PARTS = (request_of(), request_of(epsilon=0.25))


def test_a_file_is_what_is_asked_and_everything_in_it_matters() -> None:
    asked = JointRequest(parts=PARTS)
    assert asked_in(asked.text) == asked and asked_in(PARTS[0].text) == PARTS[0]
    others: tuple[Asked, ...] = (
        PARTS[0],
        JointRequest(parts=PARTS[:1]),
        JointRequest(parts=PARTS[::-1]),
        JointRequest(parts=PARTS, draw=2),
        JointRequest(parts=PARTS, person="person"),
        JointRequest(parts=PARTS, person="person", rows_a_person=2),
    )
    assert len({asked.digest, *(other.digest for other in others)}) == 7


def test_a_plan_asks_for_its_columns_and_names_its_persons() -> None:
    rows, persons = plan_of().joint_request(), plan_of(person="person", rows=3).joint_request(draw=4)
    assert rows.parts == persons.parts and (rows.person, rows.rows_a_person) == ("", 1)
    assert (persons.person, persons.rows_a_person, persons.draw) == ("person", 3, 4)
    assert {column for part in persons.parts for column in part.reading.columns} == {"age"}


def test_another_unit_is_told() -> None:
    asked = JointRequest(parts=PARTS, person="who", rows_a_person=2)
    assert other_unit(asked, person="who", rows=2) == "" == other_unit(PARTS[0], person="who", rows=2)
    assert other_unit(asked, person="who", rows=1) == (
        "What is asked protects persons (column “who”) with at most 2 rows;"
        " these data are registered for persons (column “who”) with at most 1 row."
    )
    assert "protects single rows;" in other_unit(JointRequest(parts=PARTS), person="who", rows=1)
    assert "registered for single rows." in other_unit(asked, person="", rows=1)


WRONG: list[tuple[str, Any, str]] = [
    ("format", "dpscope-joint-request/2", "format must be"),
    ("surprise", 1, "no field “surprise”"),
    ("parts", [], "Between 1 and 64"),
    ("parts", [PARTS[0].document] * (MOST_PARTS + 1), "Between 1 and 64"),
    ("parts", {}, "parts are a list"),
    ("parts", [1], "Each part of a joint request"),
    ("parts", [JointRequest(parts=PARTS).document], "Each part of a joint request"),
    ("parts", [PARTS[0].document, request_of(n=31).document], "one n"),
    ("parts", [PARTS[0].document, request_of(neighbours=Neighbours.REPLACE_ONE).document], "one relation"),
    ("parts", [request_of(draw=2).document], "all requests together"),
    ("person", 1, "the name of a column"),
    ("rows_a_person", 0, "A person may have"),
    ("rows_a_person", True, "A person may have"),
    ("rows_a_person", 1001, "A person may have"),
    ("rows_a_person", 2, "need the column"),
    ("draw", 0, "A draw's number"),
    ("draw", True, "A draw's number"),
]


@pytest.mark.parametrize(("name", "value", "said"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_one_sentence(name: str, value: Any, said: str) -> None:
    document = copy.deepcopy(JointRequest(parts=PARTS).document)
    document[name] = value
    with pytest.raises(ParameterError, match=said):
        asked_in(json.dumps(document))


def test_requests_that_read_one_file_in_two_ways_are_not_released_together() -> None:
    comma = Format(decimal=",")
    assert JointRequest(parts=(request_of(file_format=comma),) * 2).file_format == comma
    with pytest.raises(ParameterError, match="the same format"):
        JointRequest(parts=(request_of(file_format=comma), request_of()))
