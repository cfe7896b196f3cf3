from __future__ import annotations

import copy
import io
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpcore.core import Entry, Neighbours
from dpcore.core.safe_csv import frame_csv
from dpcore.mechanisms import catalogue
from dprelease.certificate import CONTRACT, _accuracy, certificate, faults_against_ledger, verify
from dprelease.ledger.canonical import canonical, digest, digest_of_bytes
from dprelease.ledger.chain import line_of
from dprelease.ledger.records import Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from dprelease.release import SAW_TRUE_VALUES, release
from dprelease.requests.intervals import LEVEL, noise_of_counts
from tests import ROOT
from tests.dpcore.mechanisms.test_contract import ENTRIES
from tests.kit.ledgers import ANALYST, STEWARD, few_rows, plan_of, registered, released_in, request_of
from tests.kit.sources import inside

Certificate = dict[str, Any]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ledger, str, Stored]:
    """A ledger of three releases, the third of which is certified."""
    ledger, dataset_id = registered(tmp_path_factory.mktemp("ledger"), epsilon=2.0, delta=1e-6)
    for draw in (1, 2, 3):
        stored = release(ledger, dataset_id, request_of(draw=draw), few_rows(), ANALYST)
        if draw == 1:
            ledger.publish(dataset_id, 1, STEWARD)
            ledger.record_access(dataset_id, SAW_TRUE_VALUES, STEWARD)
    assert isinstance(stored, Stored)
    return ledger, dataset_id, stored


@pytest.fixture
def told(held: tuple[Ledger, str, Stored]) -> Certificate:
    return copy.deepcopy(certificate(held[2]))


def sealed(document: Certificate) -> Certificate:
    """Return the changed certificate with a matching digest."""
    return document | {"digest": digest({k: v for k, v in document.items() if k != "digest"})}


def rebooked(document: Certificate) -> Certificate:
    """Return the changed certificate with a matching digest and last entry."""
    body = {k: v for k, v in document.items() if k not in {"digest", "ledger"}}
    chain = document["ledger"]["chain"]
    last = chain[-1]
    chain[-1] = line_of(
        seq=last["seq"],
        kind="stored",
        about=last["about"],
        amount=Price.read(last["amount"]),
        body=body,
        salt=document["ledger"]["salt"],
        previous=last["previous"],
    )
    return sealed(document)


def test_a_certificate_holds_with_its_files_and_its_ledger(held: tuple[Ledger, str, Stored], told: Certificate) -> None:
    ledger, dataset_id, stored = held
    assert verify(canonical(told), stored.files) == [] == verify(told, stored.files)
    assert faults_against_ledger(canonical(told), ledger.lines(dataset_id)) == []
    assert told["guarantee"]["whole_data_set"]["spent"] == {"epsilon": "1.5", "delta": "0"}
    assert told["tuning"] == {"charged_previews": 1, "counted": "unpublished when sampled"}  # not the first
    assert told["guarantee"]["steward_saw_true_values"] is True
    assert stored.body["by"] == ANALYST.name


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 5, 6, 7, 8])
def test_no_other_format_holds(held: tuple[Ledger, str, Stored], told: Certificate, number: int) -> None:
    told["format"] = f"dpscope-certificate/{number}"
    faults = verify(rebooked(told), held[2].files)
    other = f"The certificate is of the format “dpscope-certificate/{number}”; only dpscope-certificate/7 is verified."
    assert faults == ([] if number == 7 else [other])


def change(*path: str | int, to: Any) -> Callable[[Certificate], None]:
    """Sets one value of a certificate."""

    def changed(document: Certificate) -> None:
        place = inside(document, path[:-1])
        assert place[path[-1]] != to
        place[path[-1]] = to

    return changed


FORGERIES: dict[str, list[Callable[[Certificate], None]]] = {
    "a changed byte": [change("by", to="Grice")],
    "a smaller epsilon": [change("guarantee", "epsilon", to="0.4")],
    "a smaller delta, and so another variant": [change("guarantee", "variant", to="perfect privacy")],
    "a larger budget": [change("guarantee", "whole_data_set", "budget", "epsilon", to="3")],
    "less spent": [change("guarantee", "whole_data_set", "spent", "epsilon", to="0.5")],
    "and the registration have different neighbouring relations": [change("guarantee", "relation", to="replace_one")],
    "another relation throughout": [
        change("guarantee", "relation", to="replace_one"),
        change("data", "relation", to="replace_one"),
        change("request", "data", "relation", to="replace_one"),
    ],
    "bounds of the data": [lambda document: document["request"]["parts"][0].update(bounds_from_data=True)],
    "rows capped by a reading": [
        lambda document: document["request"]["parts"][0].update(
            reading={"type": "Capped", "reading": document["request"]["parts"][0]["reading"], "person": "person"}
        )
    ],
    "a person with any number of rows": [
        change("guarantee", "unit", to={"kind": "person", "rows_a_person": 10**400, "stated_by": "Ada"}),
        change("data", "unit", to={"kind": "person", "rows_a_person": 10**400, "stated_by": "Ada"}),
    ],
    "another unit": [change("guarantee", "unit", "kind", to="person")],
    "another file": [change("files", "counts.csv", to="0" * 64)],
    "another sampler": [change("parts", 0, "mechanism", "sampler", to="preview")],
    "another parameter": [change("parts", 0, "mechanism", "parameters", "epsilon", to="0.25")],
    "an entry dropped": [lambda document: document["ledger"]["chain"].pop(1)],
    "The first entry dropped": [lambda document: document["ledger"]["chain"].pop(0)],
    "the chain re-ordered": [
        lambda document: document["ledger"]["chain"].insert(0, document["ledger"]["chain"].pop(1))
    ],
    "an earlier charge made smaller": [change("ledger", "chain", 3, "amount", "epsilon", to="0.1")],
    "an earlier outcome changed": [change("ledger", "chain", 4, "kind", to="machine failed")],
    "a version that was never registered": [change("version", to=2)],
    "no failures of a machine": [change("guarantee", "whole_data_set", "machine_failures_declared", to=2)],
    "nothing unprotected": [change("guarantee", "unprotected", to=["number of rows: 20"])],
}
BOUND_TO_THE_ENTRY = {"a changed byte"}
"""Once entry and digest are made up to fit, only the ledger tells."""


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_caught_however_well_it_is_sealed(
    held: tuple[Ledger, str, Stored], told: Certificate, name: str
) -> None:
    ledger, dataset_id, stored = held
    for forge in FORGERIES[name]:
        forge(told)
    assert verify(told, stored.files)
    assert verify(sealed(told), stored.files)
    made_up = rebooked(told)
    assert bool(verify(made_up, stored.files)) == (name not in BOUND_TO_THE_ENTRY)
    assert faults_against_ledger(made_up, ledger.lines(dataset_id))


def test_a_whole_made_up_entry_is_told_by_the_ledger_alone(held: tuple[Ledger, str, Stored], told: Certificate) -> None:
    ledger, dataset_id, stored = held
    smaller = request_of(epsilon=0.25, draw=3)
    [told_of], [question] = told["parts"], smaller.parts
    told["request"], told_of["mechanism"]["parameters"] = smaller.document, question.parameters
    told["guarantee"]["epsilon"] = told_of["guarantee"]["epsilon"] = "0.25"
    attempt, outcome = told["ledger"]["chain"][-2:]
    attempt["amount"]["epsilon"] = outcome["amount"]["epsilon"] = "0.25"
    outcome["previous"] = digest(attempt)
    told["guarantee"]["whole_data_set"]["spent"]["epsilon"] = "1.25"
    told_of["accuracy"] = _accuracy(question)
    assert verify(rebooked(told), stored.files), "the intervals in the file are of another ε"
    table = pd.read_csv(io.BytesIO(stored.files["counts.csv"]))
    noise = noise_of_counts(question.mechanism, question.problem)
    assert noise is not None
    half = noise.half_width(1 - LEVEL)
    table["rows low"], table["rows high"] = table["rows"] - half, table["rows"] + half
    contents = frame_csv(table).encode()
    told["files"]["counts.csv"] = digest_of_bytes(contents)
    assert verify(rebooked(told), {"counts.csv": contents}) == []
    assert "not genuine" in faults_against_ledger(rebooked(told), ledger.lines(dataset_id))[0]


def test_a_swapped_missing_or_added_file_is_caught(held: tuple[Ledger, str, Stored], told: Certificate) -> None:
    [(name, contents)] = held[2].files.items()
    assert verify(told, {name: contents + b"\n"}) == [f"The file {name} is not the one that was released."]
    assert verify(told, {}) == [f"The file {name} is missing."]
    assert verify(told, {name: contents, "more.csv": b""}) == ["One of the files is not named in the certificate."]


@pytest.mark.slow
def test_every_change_of_one_value_is_caught(held: tuple[Ledger, str, Stored], told: Certificate) -> None:
    def leaves(value: Any, *path: str | int) -> list[tuple[str | int, ...]]:
        if isinstance(value, dict | list):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            return [leaf for step, each in items for leaf in leaves(each, *path, step)]
        return [path]

    found = leaves(told)
    assert len(found) > 60
    for path in found:
        forged = copy.deepcopy(told)
        change(*path, to="other")(forged)
        assert verify(forged, held[2].files), path
        if path[0] != "digest":
            assert verify(sealed(forged), held[2].files), path


DEEP = b'{"format":' + b'{"a":' * 450 + b"1" + b"}" * 451


@pytest.mark.parametrize(
    "text", [b"", DEEP, b"{}", b"[]", b"\xff", b'{"format":1}', b'{"format":"dpscope-certificate/4"}', b'{ "a":1}']
)
def test_what_is_no_certificate_gets_a_sentence(text: bytes) -> None:
    assert len(verify(text, {})) == 1 and verify(text, {})[0].endswith(".")
    assert faults_against_ledger(text, []) == ["The certificate lacks fields that its format requires."]


@pytest.mark.slow
def test_any_part_left_out_or_of_another_kind_gets_a_sentence(
    held: tuple[Ledger, str, Stored], told: Certificate
) -> None:
    for name in set(told) - {"digest"}:
        assert verify(sealed({k: v for k, v in told.items() if k != name}), held[2].files)
        others: tuple[Any, ...] = (None, [], {}, "", 0, [[]])
        for other in others:
            assert verify(sealed(told | {name: other}), held[2].files), (name, other)
    told["ledger"]["chain"] = []
    assert verify(sealed(told), held[2].files)


def test_an_old_copy_of_a_ledger_is_told_by_a_certificate(held: tuple[Ledger, str, Stored], told: Certificate) -> None:
    ledger, dataset_id, _ = held
    assert faults_against_ledger(told, ledger.lines(dataset_id)[:2]) == [
        "The ledger ends at line 2, but line 11 was certified. The ledger is an old copy."
    ]


@pytest.mark.parametrize(
    "changed",
    [
        change("guarantee", "epsilon", to="0.1"),
        change("by", to="Eve"),
        change("version", to=2),
        lambda document: document["ledger"]["chain"].pop(),
    ],
)
def test_a_ledger_is_not_compared_with_a_certificate_that_was_changed(
    held: tuple[Ledger, str, Stored], told: Certificate, changed: Callable[[Certificate], None]
) -> None:
    changed(told)
    for each in (told, sealed(told), certificate(held[2]) | {"digest": "0" * 64}):
        assert faults_against_ledger(each, held[0].lines(held[1])) == [
            "The certificate's digests do not match its contents: it was changed."
        ]
    told["ledger"]["chain"] = []
    assert faults_against_ledger(sealed(told), held[0].lines(held[1])) == [
        "The certificate lacks fields that its format requires."
    ]


def test_it_names_the_version_of_the_rows_and_of_the_software(told: Certificate) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert told["version"] == 1 and told["software"]["dpscope"] == project["version"]
    assert set(told["software"]) == {"dpscope", "numpy", "opendp", "python"}


def test_no_float_stands_in_a_certificate(told: Certificate) -> None:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    assert json.loads(canonical(told), parse_float=refuse) == told


# The fields of the Differential Privacy Deployments Registry (opendp/deployments-registry-data) that a release answers.
# Those about the product's use, region and sector, and the actors, are for whoever publishes it.
REGISTRY: dict[str, Callable[[Certificate], Any]] = {
    "product.name": lambda c: c["data"]["name"],
    "product.data_curators": lambda c: [c["guarantee"]["unit"]["stated_by"]],
    "product.publication_date": lambda c: c["at"],
    "dp_variant.variant_name": lambda c: c["guarantee"]["variant"],
    "dp_variant.data_domain": lambda c: [each["reading"]["on"]["type"] for each in c["request"]["parts"]],
    "dp_variant.input_metric": lambda c: c["guarantee"]["relation"],
    "dp_variant.bound_on_input_distance": lambda c: c["guarantee"]["unit"]["rows_a_person"],
    "dp_variant.bound_on_output_distance": lambda c: c["guarantee"]["epsilon"],
    "dp_variant.unprotected_quantities": lambda c: c["guarantee"]["unprotected"],
    "privacy_loss.privacy_unit": lambda c: c["guarantee"]["unit"]["kind"],
    "privacy_loss.privacy_parameters.epsilon": lambda c: float(c["guarantee"]["epsilon"]),
    "privacy_loss.privacy_parameters.delta": lambda c: float(c["guarantee"]["delta"]),
    "accounting.composition": lambda c: c["guarantee"]["whole_data_set"]["rule"],
    "implementation.pre_processing_eda_hyperparameter_tuning": lambda c: c["tuning"]["charged_previews"],
    "implementation.mechanisms": lambda c: [part["mechanism"]["key"] for part in c["parts"]],
    "implementation.justification": lambda c: [part["mechanism"]["theorems"][0] for part in c["parts"]],
}
# And what NIST SP 800-226 asks of a claim beyond them.
CLAIM: dict[str, Callable[[Certificate], Any]] = {
    "total_budget": lambda c: float(c["guarantee"]["whole_data_set"]["budget"]["epsilon"]),
    "total_spent": lambda c: float(c["guarantee"]["whole_data_set"]["spent"]["epsilon"]),
    "accuracy": lambda c: [part["accuracy"]["statement"] for part in c["parts"]],
    "software": lambda c: c["software"]["opendp"],
}


def test_a_certificate_answers_what_a_registry_asks(told: Certificate) -> None:
    entry = {field: read(told) for field, read in {**REGISTRY, **CLAIM}.items()}
    assert entry["privacy_loss.privacy_parameters.epsilon"] == 0.5 and entry["total_spent"] == 1.5
    assert entry["privacy_loss.privacy_parameters.delta"] == 0 and entry["dp_variant.bound_on_input_distance"] == 1
    assert entry["privacy_loss.privacy_unit"] == "row"
    assert entry["dp_variant.input_metric"] == Neighbours.ADD_REMOVE_ONE and entry["dp_variant.data_domain"] == [
        "Number"
    ]
    assert all(value not in (None, "", "unknown") for value in entry.values())
    assert entry["implementation.mechanisms"] == ["identity"]


def test_a_certificate_of_a_plan_answers_it_for_every_question(tmp_path: Path) -> None:
    stored = released_in(tmp_path, plan_of(pure=False).request(), delta=1e-6)
    entry = {field: read(certificate(stored)) for field, read in {**REGISTRY, **CLAIM}.items()}
    assert entry["privacy_loss.privacy_parameters.epsilon"] == 0.5
    assert entry["privacy_loss.privacy_parameters.delta"] == 1e-7
    assert entry["implementation.mechanisms"] == ["identity", "gaussian"]
    assert len(entry["accuracy"]) == len(entry["implementation.justification"]) == len(entry["dp_variant.data_domain"])


@pytest.mark.parametrize("path", [("parts", 0, "accuracy"), ("guarantee",), ("parts", 0, "mechanism")])
def test_a_field_that_was_added_is_named(
    held: tuple[Ledger, str, Stored], told: Certificate, path: tuple[str | int, ...]
) -> None:
    inside(told, path)["surely"] = "exact"
    faults = verify(rebooked(told), held[2].files)
    name = ".".join(str(step + 1) if isinstance(step, int) else step for step in (*path, "surely"))
    assert f"The field “{name}” does not belong to a certificate of this request." in faults


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.key)
def test_the_test_that_a_certificate_names_is_there(entry: Entry) -> None:
    """A law is enumerated by the contract, or in the folder of its family by a test that names the mechanism."""
    if entry.mechanism.releases in CONTRACT:
        assert entry in ENTRIES
        return
    folder = ROOT / "tests" / Path(*entry.mechanism.__module__.split(".")[:-1])
    tests = [path.read_text(encoding="utf-8") for path in folder.glob("test_*.py")]
    exact = re.compile(r"hockey_stick|exact_delta|exact_epsilon|losses\(|Enumerate\(")
    assert any(entry.mechanism.__name__ in text and exact.search(text) for text in tests), folder
