"""Online answers: exact privacy of whole conversations, spending, promises, refusals, and faults that are caught."""

from __future__ import annotations

import dataclasses
import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dpcore.core import Entry, HistogramState, Integers, Neighbours, ParameterError, Problem
from dpcore.data.bundled import bundled
from dpcore.data.columns import Labels, Number, is_number
from dpcore.mechanisms import catalogue, entry
from dpcore.mechanisms.net.databases import candidates
from dpcore.mechanisms.online.conversation import Conversation, Transcript
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.mechanisms.online.median_mechanism import MedianMechanism
from dpcore.mechanisms.online.multiplicative_weights import MultiplicativeWeights
from dpcore.queries.linear import LinearQueries, generated
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from dpcore.randomness import Account, Draw, NoisyCounts, Preview, Sampler, Secure, SparseVector
from dplab.audit import exact_delta
from tests.cases import full_but, one_relation
from tests.kit import contract, problems
from tests.kit.problems import dataset_of, law_problem, tiny_mechanism, tiny_problems
from tests.kit.promises.conversations import Talk
from tests.kit.statistics import assert_chance_at_most

ENTRIES = [each for each in catalogue() if each.mechanism.releases == "conversation"]
every_entry = pytest.mark.parametrize("entry", [pytest.param(each, id=each.key) for each in ENTRIES])
every_relation = pytest.mark.parametrize("neighbours", list(Neighbours))
both = pytest.mark.parametrize("kind", [MultiplicativeWeights, MedianMechanism])


def on_a_line(*, n: int, bits: int = 5, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Problem:
    domain = Number(bits=bits)
    return Problem(domain=domain, queries=Thresholds(domain=domain), n=n, neighbours=neighbours)


def skewed(problem: Problem) -> Any:
    """Half of the rows in the first cell, a quarter in the next, and so on."""
    cells = np.floor(-np.log2(1 - (np.arange(problem.n) + 0.5) / problem.n)).astype(np.int64)
    return dataset_of(problem, np.minimum(cells, problem.domain.size - 1))


def played(mechanism: Interactive, problem: Problem, sampler: Sampler, *, trials: int = 1) -> Transcript:
    return mechanism.run(mechanism.prepare(skewed(problem), problem), sampler, trials)


def test_both_are_in_the_catalogue() -> None:
    assert {each.key for each in ENTRIES} == {"weights", "median"}


@every_entry
def test_declarations(entry: Entry) -> None:
    contract.check_declaration(entry)


@pytest.mark.slow
@every_entry
@every_relation
@pytest.mark.parametrize("first", full_but([True, False], True), ids=["one class", "other classes"])
def test_whole_conversations_are_private_exactly(entry: Entry, neighbours: Neighbours, first: bool) -> None:
    every = list(tiny_problems(entry, neighbours))
    one = {problem.domain: problem for problem in reversed(every)}
    tiny = [each for each in every if (each is one[each.domain]) is first]
    assert tiny
    for problem in tiny:
        contract.check_privacy(tiny_mechanism(entry), problem)


@pytest.mark.slow
@every_entry
@one_relation
@pytest.mark.parametrize(
    "told",
    full_but([{"analyst": "sweeping"}, {"updates": 2, "questions": 2}, {"alpha": 1.0}], {"updates": 2, "questions": 2}),
    ids=str,
)
def test_whole_conversations_of_other_settings_are_private_exactly(
    entry: Entry, neighbours: Neighbours, told: dict[str, Any]
) -> None:
    # Weighted sums, which are rounded before anything else happens to them, have a test of their own.
    every = [problem for problem in tiny_problems(entry, neighbours) if not isinstance(problem.queries, LinearQueries)]
    first = {problem.domain: problem for problem in reversed(every)}
    small = [each for each in every if each.domain.size <= 2 or (each.domain.size == 3 and each is first[each.domain])]
    assert {each.domain.size for each in small} == {2, 3}
    for problem in small:
        contract.check_privacy(tiny_mechanism(entry, **told), problem)


@pytest.mark.slow
@every_entry
@every_relation
def test_spending_is_within_the_guarantee(entry: Entry, neighbours: Neighbours, seed: int) -> None:
    for problem in problems.ordinary_problems(entry, neighbours, n=60):
        contract.check_spending(entry.make(questions=20), problem, seed=seed)


@pytest.mark.slow
@every_entry
@one_relation
def test_previews_have_the_exact_law(entry: Entry, neighbours: Neighbours, seed: int) -> None:
    contract.check_law(entry, law_problem(entry, neighbours), Preview(seed), seed=seed + 1)


@pytest.mark.slow
@every_entry
def test_secure_conversations_have_the_exact_law(entry: Entry, seed: int) -> None:
    problem = next(tiny_problems(entry, Neighbours.REPLACE_ONE))
    contract.check_law(entry, problem, Secure(), seed=seed)


@pytest.mark.slow
@every_entry
def test_transcripts_hold_everything_said(entry: Entry, seed: int) -> None:
    for problem in problems.ordinary_problems(entry, Neighbours.REPLACE_ONE):
        contract.check_trials(entry.make(questions=12, updates=3), problem, seed=seed)


# Faults that must be caught.


@dataclass(frozen=True, kw_only=True)
class Overspender(MultiplicativeWeights):
    """Draws one noisy count of its own before the conversation begins."""

    def open(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> Conversation:
        sampler.draw(NoisyCounts(state.histogram[None, :1], epsilon=0.05, sensitivity=1), trials)
        return super().open(state, sampler, trials)


@dataclass(frozen=True, kw_only=True)
class TwoGates(MultiplicativeWeights):
    """Opens a second gate when it feels like it: each is a whole epsilon."""

    def open(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> Conversation:
        super().open(state, sampler, trials)
        return super().open(state, sampler, trials)


@pytest.mark.parametrize("kind", [Overspender, TwoGates])
def test_a_planted_overspend_is_caught(kind: type[MultiplicativeWeights], seed: int) -> None:
    with pytest.raises(AssertionError, match="spent"):
        contract.check_spending(kind(questions=5), on_a_line(n=50), seed=seed)


class Planted:
    """Changes one thing a conversation does with its gate."""

    def __init__(self, gate: Any, fault: str) -> None:
        self._gate, self._fault = gate, fault

    @property
    def closed(self) -> Any:
        return self._gate.closed

    def above(self, values: Integers, threshold: int) -> Any:
        return self._gate.above(5 * values if self._fault == "sensitivity" else values, threshold)

    def answer(self, counts: Integers) -> Integers:
        noisy: Integers = self._gate.answer(counts)
        return np.where(noisy != 0, counts, 0) if self._fault == "bare" else noisy


class Peeking:
    """A belief that is told the truth."""

    def __init__(self, belief: Any, histogram: Integers, problem: Problem) -> None:
        self._belief, self._histogram, self._problem = belief, histogram, problem
        self._asked: Any = None

    def guess(self, asked: Integers) -> Integers:
        self._asked = asked
        guess: Integers = self._belief.guess(asked)
        return guess

    def learn(self, rows: Integers, where: Any) -> None:
        truth = self._problem.queries.answer(self._histogram[None], self._asked)[0].astype(np.int64)
        self._belief.learn(truth, np.ones_like(where))


@dataclass(frozen=True, kw_only=True)
class Faulty(MultiplicativeWeights):
    """Multiplicative weights with a fault."""

    fault: str = "bare"

    def open(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> Conversation:
        problem = state.problem
        belief: Any = self.belief(problem, trials)
        peeking: Any = Peeking(belief, state.histogram, problem)
        gate: Any = sampler.draw(SparseVector(epsilon=self.epsilon, sensitivity=1, updates=1, answers=0.25), trials)
        return Conversation(
            state,
            guarantee=self.guarantee(problem),
            sampler=sampler.name,
            gate=Planted(gate, self.fault),
            threshold=self.threshold(problem),
            belief=peeking if self.fault == "peeks" else belief,
            trials=trials,
        )


@pytest.mark.slow
@every_relation
@pytest.mark.parametrize("fault", ["bare", "sensitivity", "peeks"])
def test_faults_are_caught_by_the_audit(fault: str, neighbours: Neighbours) -> None:
    settings: dict[str, Any] = {"epsilon": 1.0, "alpha": 0.3, "updates": 1, "questions": 3}
    problem = on_a_line(n=3, bits=1, neighbours=neighbours)
    right = exact_delta(MultiplicativeWeights(**settings), problem)
    assert right.delta <= 1e-9
    delta = exact_delta(Faulty(fault=fault, **settings), problem)
    assert delta.delta > 1e-3, f"{fault}: exact delta {delta.delta:.3g}"


# Promises.


@pytest.mark.slow
@both
def test_errors_stay_within_the_promise(kind: type[Interactive], seed: int) -> None:
    problem, beta, trials = on_a_line(n=20_000), 0.1, 400
    mechanism = kind(epsilon=1.0, alpha=0.1, updates=12, questions=100)
    bound = mechanism.accuracy(problem, beta)
    assert bound.applies
    assert bound.value < 0.2
    # The first belief is off by a little more than the threshold, at the question the analyst asks first.
    below = problem.n // 2 - mechanism.threshold(problem) - 20
    cells = np.where(np.arange(problem.n) < below, np.arange(problem.n) % 16, 16 + np.arange(problem.n) % 16)
    dataset = dataset_of(problem, cells)
    for data in (dataset, skewed(problem)):
        transcript = mechanism.run(mechanism.prepare(data, problem), Preview(seed), trials)
        worst = np.nanmax(np.abs(transcript.errors(data.histogram)), axis=1)
        assert_chance_at_most(int((worst > bound.value).sum()), trials=trials, chance=beta)
        if data is dataset:
            # The noise is there: without its allowance the promise would fail.
            bare = (mechanism.threshold(problem) - 1) / problem.n
            assert (worst > bare).mean() > 0.2


@pytest.mark.slow
@both
def test_with_enough_updates_nothing_is_refused(kind: type[Interactive], seed: int) -> None:
    problem, beta = on_a_line(n=400_000), 0.1
    budget_free = kind(epsilon=2.0, alpha=0.2, updates=1, questions=200)
    enough = next(
        updates
        for updates in range(1, 400)
        if "so no query is refused" in dataclasses.replace(budget_free, updates=updates).accuracy(problem, beta).note
    )
    transcript = played(dataclasses.replace(budget_free, updates=enough), problem, Preview(seed), trials=100)
    assert enough < 400
    assert_chance_at_most(int(transcript.declined.any(axis=1).sum()), trials=100, chance=beta)
    assert transcript.paid.any(axis=1).all(), "the first belief is wrong about these data"
    one = played(dataclasses.replace(budget_free, updates=1), problem, Preview(seed), trials=100)
    assert one.declined.any(axis=1).mean() > 0.9, "a single update does not do"


@both
@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("bits", [3, 10])
@pytest.mark.parametrize("updates", [10, 300])
def test_updates_promised_are_those_of_the_papers(
    kind: type[Interactive], alpha: float, bits: int, updates: int
) -> None:
    mechanism = kind(alpha=alpha, updates=updates)
    rows = mechanism.accuracy(on_a_line(n=1_000, bits=bits), 0.05).rows_needed
    assert rows is not None
    problem = on_a_line(n=rows + math.ceil(4 / alpha), bits=bits)
    bound = mechanism.accuracy(problem, 0.05)
    assert bound.value <= alpha + 1 / problem.n
    # Where the noise is at most a quarter of alpha, that few guesses can be paid for: 4 ln U/alpha^2, or log2 |N|.
    size = problem.domain.size
    limit = (
        4 * math.log(size) / alpha**2
        if kind is MultiplicativeWeights
        else math.log2(candidates(size=size, points=math.ceil(2 / alpha)))
    )
    slack = (rows * alpha) / 4
    assert (
        0
        < mechanism.max_paid_answers(problem, wrong=mechanism.threshold(problem) - slack - 0.5, noise=int(slack))
        <= limit
    )


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("epsilon", [0.5, 20.0])
def test_weighted_sums_keep_their_promise_at_the_rows_they_need(alpha: float, epsilon: float) -> None:
    domain = Number(bits=4)
    queries = generated("waves", queries=5, domain=domain, seed=1)
    mechanism = MultiplicativeWeights(epsilon=epsilon, alpha=alpha)
    problem = Problem(domain=domain, queries=queries, n=1_000)
    needed = mechanism.accuracy(problem, 0.2).rows_needed
    assert needed is not None and mechanism.accuracy(dataclasses.replace(problem, n=needed), 0.2).value <= alpha


def test_paid_answers_promised_by_hand() -> None:
    problem = on_a_line(n=100, bits=2)
    weights = MultiplicativeWeights(alpha=0.5)
    # ln 4 * 100^2 / (2 * (30^2 - 10^2)) = 8.66
    assert weights.max_paid_answers(problem, wrong=30, noise=10) == 8
    assert weights.max_paid_answers(problem, wrong=10, noise=10) == math.inf
    # Four points on four cells: C(7, 4) = 35 databases, 2^5 < 35 < 2^6; within 12.5 rows; dropped beyond 25 rows.
    median = MedianMechanism(alpha=0.5)
    assert median.max_paid_answers(problem, wrong=30, noise=12) == 5
    assert median.max_paid_answers(problem, wrong=30, noise=13) == math.inf
    assert median.max_paid_answers(problem, wrong=12.5, noise=1) == math.inf


@both
def test_the_promise_is_about_the_gate_that_is_opened(kind: type[Interactive], seed: int) -> None:
    class Told(Preview):
        """Keeps the gate it was asked for."""

        def make(self, draw: Draw[Any], trials: int) -> Any:
            """See Sampler."""
            if isinstance(draw, SparseVector):
                self.opened = draw
            return super().make(draw, trials)

    problem, sampler = on_a_line(n=1_000), Told(seed)
    mechanism = kind(epsilon=0.7, updates=3)
    mechanism.open(mechanism.prepare(skewed(problem), problem), sampler, 2)
    assert sampler.opened.sensitivity == 1
    assert sampler.opened.budget == mechanism.budget()
    assert sampler.opened.budget.total == pytest.approx(0.7, rel=1e-12)


@both
def test_no_number_of_updates_is_promised_whose_own_noise_breaks_it(kind: type[Interactive]) -> None:
    problem = on_a_line(n=61_395, bits=10)
    few = kind(alpha=0.1, updates=20)
    note = few.accuracy(problem, 0.05).note
    match = re.search(r"At this noise up to ([\d,]+) answers may need an update", note)
    assert match is not None
    assert (
        "you allow 20, so some queries may be refused. More updates increase the noise. No answer (⊥) does not count"
        in note
    )
    paid = int(match[1].replace(",", ""))
    # The benchmark reads its promise out of this note: it must not find none.
    talk = Talk(mechanism=few, dataset=skewed(problem), problem=problem, who="knowing")
    assert talk.most_paid(0.05).value == paid / 20
    # So many updates share one epsilon: their noise voids the promise that was made for 20 of them.
    more = dataclasses.replace(few, updates=paid + 1).accuracy(problem, 0.05).note
    assert "Nothing is guaranteed" in more
    assert f"{paid + 1:,}" not in note


def test_a_list_too_coarse_is_said_to_be() -> None:
    domain = Number(bits=6)
    note = MedianMechanism().accuracy(Problem(domain=domain, queries=Intervals(domain=domain), n=9_000), 0.1).note
    assert "databases of 3 points can be listed here, but α = 0.1 needs 40" in note
    assert "listed" not in MedianMechanism().accuracy(on_a_line(n=9_000, bits=6), 0.1).note
    for beta in (0.0, 1e-14, 2.5):
        with pytest.raises(ParameterError, match="failure probability"):
            MedianMechanism().accuracy(on_a_line(n=9_000), beta)


@pytest.mark.slow
@pytest.mark.parametrize(("key", "most_paid"), [("weights", 40), ("median", 15)])
def test_500_adaptive_thresholds_on_real_earnings(key: str, most_paid: int, seed: int) -> None:
    dataset = bundled("earnings", "earnings", bits=10).dataset()
    assert dataset.n == 61_395
    assert is_number(dataset.domain)
    problem = Problem(domain=dataset.domain, queries=Thresholds(domain=dataset.domain), n=dataset.n)
    mechanism = entry(key).make(epsilon=1.0, alpha=0.05, updates=40)
    transcript = mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 1)
    assert isinstance(transcript, Transcript)
    assert transcript.query_indices.shape == (1, 500)
    assert len(np.unique(transcript.query_indices)) > 50
    assert 1 <= transcript.paid.sum() <= most_paid
    assert not transcript.declined.any()
    worst = float(np.abs(transcript.errors(dataset.histogram)).max())
    assert worst <= mechanism.accuracy(problem, 0.05).value < 0.06


# Conversations.


@every_entry
def test_questions_one_at_a_time(entry: Entry, seed: int) -> None:
    problem = on_a_line(n=1_000)
    mechanism = entry.make(epsilon=5.0, alpha=0.2, updates=1, questions=10)
    assert isinstance(mechanism, Interactive)
    account = Account(Preview(seed))
    conversation = mechanism.open(mechanism.prepare(skewed(problem), problem), account)
    with pytest.raises(ParameterError, match="No query was asked"):
        conversation.transcript()
    no_questions: tuple[Any, ...] = (-1, problem.queries.count, 1.9, np.nan, "1", np.array([1, 2]))
    for wrong in no_questions:
        with pytest.raises(ParameterError, match=r"A query is (an|one) integer"):
            conversation.ask(wrong)
    paid = conversation.ask(1)  # three quarters of the rows; the first belief says little
    assert paid.paid.all()
    assert not paid.refused.any()
    assert abs(paid.value(problem.n)[0] - 0.75) < 0.1
    refused = conversation.ask(1)
    assert refused.refused.all()
    assert np.isnan(refused.value(problem.n)).all()
    assert not refused.paid.any()
    assert len(account.charges) == 1
    transcript = conversation.close()
    assert transcript.query_indices.tolist() == [[1, 1]]
    assert transcript.free.sum() == 0
    with pytest.raises(ParameterError, match="over"):
        conversation.ask(1)


def test_what_is_paid_is_far_from_the_belief_and_what_is_free_is_near(seed: int) -> None:
    """The first belief has equally many rows in each cell: right of all rows, far off of the first two cells."""
    problem = on_a_line(n=100_000)
    mechanism = MultiplicativeWeights(epsilon=20.0, alpha=0.2, updates=5, questions=10)
    conversation = mechanism.open(mechanism.prepare(skewed(problem), problem), Account(Preview(seed)))
    free, paid = conversation.ask(problem.queries.count - 1), conversation.ask(1)
    assert not free.paid.any() and free.value(problem.n)[0] == 1
    assert paid.paid.all() and abs(paid.value(problem.n)[0] - 0.75) < 0.05


@every_entry
def test_after_a_refusal_nothing_depends_on_the_data(entry: Entry, seed: int) -> None:
    problem = on_a_line(n=1_000)
    mechanism = entry.make(epsilon=5.0, alpha=0.2, updates=1, questions=30, analyst="sweeping")
    answers = []
    for rows in (np.zeros(1_000), np.arange(1_000) % 3):
        transcript = mechanism.run(mechanism.prepare(dataset_of(problem, rows), problem), Preview(seed), 50)
        assert isinstance(transcript, Transcript)
        first = np.argmax(transcript.declined, axis=1)
        assert (transcript.declined.sum(axis=1) == 30 - first).all(), "once refused, always refused"
        assert not transcript.rows[transcript.declined].any()
        answers.append(transcript)
    assert answers[0].declined.any()


@pytest.mark.slow
def test_classes_and_domains(seed: int) -> None:
    labels = Labels(labels=("a", "b", "c"))
    line = Number(bits=4, missing=True)
    for each in ENTRIES:
        for queries in (Cells(domain=labels), Intervals(domain=line), Cells(domain=line), Thresholds(domain=line)):
            assert each.serves(queries)
            problem = Problem(domain=queries.domain, queries=queries, n=30_000)
            mechanism = each.make(alpha=0.3, updates=10, questions=60)
            data = dataset_of(problem, np.arange(30_000) % queries.domain.size)
            transcript = mechanism.run(mechanism.prepare(data, problem), Preview(seed), 20)
            assert isinstance(transcript, Transcript)
            failing = (
                np.nanmax(np.abs(transcript.errors(data.histogram)), axis=1) > mechanism.accuracy(problem, 0.05).value
            )
            assert_chance_at_most(int(failing.sum()), trials=20, chance=0.05)
