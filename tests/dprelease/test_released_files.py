"""No digit of a released file comes from anything but public values and what was drawn: its low bits tell nothing."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from pandas.io.formats.csvs import CSVFormatter

import dpcore
import dprelease.release as releases
from dpcore.core import Dataset, Neighbours, Provenance, ProvenanceKind
from dpcore.data.columns import Number
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns
from dpcore.data.twin import twin
from dpcore.queries.ranges import Intervals
from dpcore.randomness import Account, Secure
from dpcore.randomness.sampler import Draw, DrawnT, Sampler
from dprelease.certificate import unreleasable
from dprelease.requests.parts import RequestPart
from dprelease.requests.tables import csv_files
from tests.dprelease.test_catalogue_releases import ENTRIES, ROWS, requested
from tests.kit.ledgers import DIGEST, question_of

SHOWS_THE_DATA = {"stable_median": "a stable median is shown as it is: a neighbour has the same one, hardly ever not"}
"""What is published beside draws, and why it may be."""


class Recorded(Sampler):
    """Draws by the secure sampler, and keeps what came out."""

    name: ClassVar[str] = "secure"

    def __init__(self) -> None:
        self.inner = Account(Secure())
        self.kept: list[Any] = []

    def make(self, draw: Draw[DrawnT], trials: int) -> DrawnT:
        """The inner sampler's draw."""
        drawn = self.inner.draw(draw, trials)
        self.kept.append(drawn)
        return drawn


class Replayed(Sampler):
    """Says again what was drawn, whatever it is asked to protect now."""

    name: ClassVar[str] = "secure"

    def __init__(self, kept: list[Any]) -> None:
        self.left = list(kept)

    def make(self, draw: Draw[DrawnT], trials: int) -> DrawnT:
        """Return the next recorded draw."""
        drawn: DrawnT = self.left.pop(0)
        return drawn


def people(*, changed: bool, neighbours: Neighbours) -> Table:
    """Four hundred rows; or with the last one changed, or without it."""
    lines = [f"{place % 97 + 1}.5,{place % 10},{'abc'[place % 3]}" for place in range(ROWS)]
    if changed:
        lines[-1:] = ["3.25,9,b"] if neighbours is Neighbours.REPLACE_ONE else []
    return read_table("\n".join(["age,pay,job", *lines]).encode(), name="people.csv", header=True)


def dataset(part: RequestPart, *, changed: bool) -> Dataset:
    """Return the data set of a part."""
    table = people(changed=changed, neighbours=part.neighbours)
    return part.reading.dataset(table, Provenance(kind=ProvenanceKind.PRIVATE, title="people"))


def files(part: RequestPart, mechanism: Any, sampler: Sampler, *, changed: bool) -> dict[str, bytes]:
    """Return the files that would be released."""
    state = mechanism.prepare(dataset(part, changed=changed), part.problem)
    return csv_files(mechanism.run(state, sampler, 1), mechanism, digest=DIGEST)


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_a_released_file_is_made_of_what_was_drawn_alone(entry: dpcore.Entry) -> None:
    asked = (requested(entry, neighbours) for neighbours in reversed(Neighbours))
    request = next((each for each in asked if not unreleasable(each)), None)
    if request is None or entry.key in SHOWS_THE_DATA:
        return
    [part] = request.parts
    recorded = Recorded()
    told = files(part, part.mechanism, recorded, changed=False)
    replayed = Replayed(recorded.kept)
    assert files(part, part.mechanism, replayed, changed=True) == told
    assert recorded.kept and not replayed.left


def test_a_file_with_private_low_bits_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    [part] = requested(dpcore.entry("identity"), Neighbours.ADD_REMOVE_ONE).parts
    usual = type(part.mechanism).run

    def leaky(mechanism: Any, state: Any, sampler: Any, trials: int = 1) -> Any:
        drawn: Any = usual(mechanism, state, sampler, trials)
        object.__setattr__(drawn, "counts", drawn.counts + 1e-9 * state.histogram)
        return drawn

    monkeypatch.setattr(type(part.mechanism), "run", leaky)
    recorded = Recorded()
    told = files(part, part.mechanism, recorded, changed=False)
    assert files(part, part.mechanism, Replayed(recorded.kept), changed=True) != told


def test_a_long_file_is_written_in_blocks_between_which_others_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    """While pandas makes a block's texts no page is shown: of 65,536 lines at once for a tenth of a second."""
    blocks, usual = list[int](), CSVFormatter._save_chunk

    def noted(self: CSVFormatter, start: int, stop: int) -> None:
        blocks.append(stop - start)
        usual(self, start, stop)

    monkeypatch.setattr(CSVFormatter, "_save_chunk", noted)
    line = Number(high=20.0, bits=13)
    part = question_of(reading=Columns(names=("age",), on=line), queries=Intervals(domain=line))
    made = csv_files(
        releases.draw(part, part.problem, twin(part.reading, n=ROWS).dataset()), part.mechanism, digest=DIGEST
    )
    assert made["counts.csv"].count(b"\n") == line.size + 1 == sum(blocks) + 1 and max(blocks) <= 1024
