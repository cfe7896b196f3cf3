"""A genuine release is verified by another computer, whose processor adds up matrices in another order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcore.core import Neighbours, exactly
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product
from dpcore.data.readings import Columns
from dpcore.data.twin import twin
from dpcore.mechanisms.grouped.quantiles import STEPS
from dpcore.mechanisms.ranges.strategy import serialise, strategy
from dpcore.queries.groups import GroupQuantiles
from dpcore.queries.ranges import Intervals
from dpcore.randomness import Preview
from dprelease import certificate
from dprelease.requests.file_checks import table_faults
from dprelease.requests.parts import Request
from dprelease.requests.tables import csv_files
from dprelease.verification import differences
from tests import ROOT
from tests.kit.ledgers import DIGEST, request_of

PLAINEST = {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1", "DPSCOPE_CACHE": "0"}
"""The oldest processor that the library of matrices knows; elsewhere the variable says nothing."""


def requests() -> Iterator[Request]:
    """Requests whose errors are worked out by iteration, on as many cells as there are usually."""
    line = Number(high=100.0, bits=8)
    groups = Product(names=("job", "age"), columns=(Labels(labels=("a", "b")), line))
    table, quantiles = Columns(names=groups.names, on=groups), GroupQuantiles(domain=groups)
    for neighbours in Neighbours:
        usual: dict[str, Any] = {"n": 4_000, "neighbours": neighbours, "values": {"epsilon": 0.7}}
        age = Columns(names=("age",), on=line)
        yield request_of(reading=age, queries=Intervals(domain=line), entry_key="windows", **usual)
        yield request_of(reading=table, queries=quantiles, entry_key="group-quantiles", **usual)


def computed() -> tuple[list[dict[str, Any]], list[str]]:
    """What certificates say of the error of each of them; and the windows of prefixes, by which groups are measured."""
    sizes = (128, 200, 365, 1_024)
    plans = (strategy(cells, prefixes=True, known=False, steps=STEPS) for cells in sizes)
    return [certificate._accuracy(each.parts[0]) for each in requests()], [serialise(plan).hex() for plan in plans]


def faults(request: Request, said: dict[str, Any], here: dict[str, Any]) -> list[str]:
    """What verification says of an accuracy."""
    each, other = ({"parts": [{"accuracy": accuracy}]} for accuracy in (said, here))
    return list(differences(each, other, skip=lambda _: False, rounded=certificate._rounded(request)))


@pytest.mark.slow
def test_what_another_processor_computes_is_accepted_and_nothing_else() -> None:
    program = "import json; from tests.dprelease.test_other_computer import computed; print(json.dumps(computed()))"
    run = [sys.executable, "-c", program]
    elsewhere = json.loads(subprocess.run(run, cwd=ROOT, env=os.environ | PLAINEST, stdout=-1, check=True).stdout)
    accuracies, plans = computed()
    assert elsewhere[1] == plans, "quantiles of groups follow from them to the last digit"
    for request, said, here in zip(requests(), elsewhere[0], accuracies, strict=True):
        assert not faults(request, said, here)
        for factor, accepted in ((1 + 1e-13, True), (1 - 1e-7, True), (1 - 1e-4, False), (1 + 1e-4, False)):
            forged = {**said, "worst_error": exactly(float(here["worst_error"]) * factor)}
            assert (not faults(request, forged, here)) == accepted, (factor, request.parts[0].entry_key)


@pytest.mark.slow
def test_files_of_windows_whose_weights_differ_by_a_step_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files hold estimates; a few weights of another computer's windows differ by one step of 4,096."""
    for request in (each for each in requests() if each.parts[0].entry_key == "windows"):
        part = request.parts[0]
        state = part.mechanism.prepare(twin(part.reading, n=4_000, seed=3).dataset(), part.problem)
        assert isinstance(part.mechanism, certificate.WITH_STRATEGY)
        plan = part.mechanism.plan(part.problem)
        moved = plan.windows.copy()
        places = np.argwhere(moved > 0)
        moved[tuple(places[:: len(places) // 20].T)] -= 1
        elsewhere = replace(plan, own=plan.steps - moved.sum(axis=0), windows=moved)
        with monkeypatch.context() as patch:
            patch.setattr(type(part.mechanism), "plan", lambda *_, other=elsewhere: other)
            files = csv_files(part.mechanism.run(state, Preview(seed=5), 1), part.mechanism, digest=DIGEST)
        assert not list(table_faults(part, files, prefix="", digest=DIGEST)), part.entry_key
        assert list(table_faults(part, files, prefix="", digest=DIGEST[::-1])), "ends of another digest"
