"""Rows that are decision lists: "if this, say yes; else if not that, say no; ...; else yes", over s yes/no variables.

They are read of columns that say each rule's condition and what it then says (Thaler, Ullman and Vadhan 2012,
section 4.3, have rows of this kind).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeIs, override

from dpcore.core import DataError, Domain, DomainType, Integers, ParameterError
from dpcore.core.sizes import MAX_LIST_RULES, MAX_LIST_VARIABLES
from dpcore.data.readings import Reading

if TYPE_CHECKING:
    from dpcore.data.reading.tables import Table

NO, YES = 0, 1
OUTPUT_NAMES = ("no", "yes")

COLLEGE = ("top ten", "rural", "good basketball", "near home", "low fees", "large", "technical", "has scholarships")
NOT = len(COLLEGE)
NOTHING = 2 * NOT

STUDENT_TYPES: tuple[tuple[float, tuple[tuple[int, int], ...], int], ...] = (
    (0.22, ((0, 1), (NOT + 4, 0), (6, 1)), 0),  # ambitious: top ten; else not if dear; else if technical
    (0.20, ((NOT + 4, 0), (3, 1), (7, 1)), 0),  # careful: not if dear; else near home, or with a scholarship
    (0.16, ((0, 1), (1, 0), (2, 1)), 0),  # the paper's: top ten; else not if rural; else if the team is good
    (0.14, ((NOT + 3, 0), (5, 0), (4, 1)), 1),  # stays: not if far; else not if large; else anything
    (0.12, ((6, 1), (0, 1), (NOT + 7, 0)), 1),  # technical first
    (0.10, ((2, 1), (5, 1), (1, 0)), 0),  # campus life
    (0.06, ((7, 1), (3, 0), (NOT + 0, 1)), 0),  # away with a scholarship
)
"""Shares of the students, rules as (literal, output), and what they say if no rule fires."""
OWN_RULE = 0.25
"""Chance that a rule is the student's own instead of their kind's."""


@dataclass(frozen=True, kw_only=True)
class DecisionLists(Domain):
    """Lists of up to k rules over s variables; each variable stands in at most one rule of a list.

    A row is (literal of each of k rules, output of each rule, output if none fires): 2k + 1 whole numbers. Literal v
    is "variable v", s + v is "not variable v", and 2s is no rule at all: it never fires. (A second rule on a variable
    never fires, or always does where it is reached, so every list can be written this way.)
    """

    names: tuple[str, ...]
    rules: int = 3

    def __post_init__(self) -> None:
        if not 1 <= len(self.names) <= MAX_LIST_VARIABLES or len(set(self.names)) != len(self.names):
            raise ParameterError(f"Between 1 and {MAX_LIST_VARIABLES} different variables are needed.")
        if not 1 <= self.rules <= MAX_LIST_RULES:
            raise ParameterError(f"A list has between 1 and {MAX_LIST_RULES} rules, got {self.rules}.")

    @override
    @property
    def title(self) -> str:
        return "decision lists"

    @override
    @property
    def types(self) -> frozenset[DomainType]:
        """Lists; a missing one is a list without rules."""
        return frozenset({DomainType.LISTS})

    @override
    @property
    def listed(self) -> bool:
        return False

    @property
    def variables(self) -> int:
        """Number of variables, s."""
        return len(self.names)

    @property
    def literals(self) -> tuple[str, ...]:
        """Texts of the conditions, by the number of the literal."""
        return (*self.names, *(f"not {name}" for name in self.names))

    @override
    @property
    def size(self) -> int:
        """Rows there are, at most: literals and outputs of every kind."""
        return int((2 * self.variables + 1) ** self.rules * 2 ** (self.rules + 1))

    @override
    def checked(self, records: NDArray[Any]) -> Integers:
        """Rows (n, 2k + 1) as described above."""
        width = 2 * self.rules + 1
        if records.ndim != 2 or records.shape[1] != width or not np.issubdtype(records.dtype, np.integer):
            raise DataError(f"Every list must be {width} whole numbers: literals, then outputs.")
        rows = records.astype(np.int64, copy=False)
        literals, outputs = rows[:, : self.rules], rows[:, self.rules :]
        if ((literals < 0) | (literals > 2 * self.variables)).any() or ((outputs < 0) | (outputs > 1)).any():
            raise DataError(f"Literals lie between 0 and {2 * self.variables}, outputs are 0 or 1.")
        for later in range(self.rules):
            there = literals[:, later] < 2 * self.variables
            for earlier in range(later):
                same = literals[:, later] % self.variables == literals[:, earlier] % self.variables
                if (same & there & (literals[:, earlier] < 2 * self.variables)).any():
                    raise DataError("A list may use each variable in one rule only.")
        return rows

    def sentence(self, row: Integers) -> str:
        """Return a list in words."""
        rules = zip(row[: self.rules].tolist(), row[self.rules : -1].tolist(), strict=True)
        parts = [
            f"if {self.literals[rule]}: {OUTPUT_NAMES[output]}" for rule, output in rules if rule < 2 * self.variables
        ]
        return "; else ".join([*parts, OUTPUT_NAMES[row[-1]]])

    @override
    def table(self, records: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return columns of the texts that ``columns_of`` reads; nothing where there is no rule."""
        texts, outputs = np.array([*self.literals, None], dtype=object), np.array(OUTPUT_NAMES, dtype=object)
        columns: dict[str, NDArray[Any]] = {}
        for rule, (condition, output) in enumerate(columns_of(self).rules):
            columns |= {condition: texts[records[:, rule]], output: outputs[records[:, self.rules + rule]]}
        return {**columns, columns_of(self).otherwise: outputs[records[:, -1]]}


def is_lists(domain: object) -> TypeIs[DecisionLists]:
    """Return whether a record is a decision list."""
    return isinstance(domain, DecisionLists)


@dataclass(frozen=True, kw_only=True)
class ListColumns(Reading):
    """One list per row: a column with each rule's condition, one with what it then says, and one with the last word.

    A condition is a variable's name, or "not " and its name; in anything else there is no rule, and so there is none
    where it says neither yes nor no. A list whose last word is neither says no. Where a variable comes up again the
    list is written with what it means: the same literal never fires, the opposite one always does and ends the list.

    Attributes:
        variables: what conditions are about.
        rules: of each rule, in the order of the list, its column of conditions and its column of outputs.
        otherwise: the column of what a list says if no rule fires.

    Raises:
        ParameterError: a column is named twice, or what one variable is called is the opposite of another.
    """

    variables: tuple[str, ...]
    rules: tuple[tuple[str, str], ...]
    otherwise: str

    def __post_init__(self) -> None:
        if len(set(self.columns)) < len(self.columns):
            raise ParameterError("Every column of a list must be another.")
        if len(set(self.domain.literals)) < 2 * len(self.variables):
            raise ParameterError("The name of a variable may not be the negation of another name.")

    @override
    @property
    def domain(self) -> DecisionLists:
        """Lists of so many rules over the variables."""
        return DecisionLists(names=self.variables, rules=len(self.rules))

    @override
    @property
    def columns(self) -> tuple[str, ...]:
        """Rule by rule, the last word last."""
        return (*(column for rule in self.rules for column in rule), self.otherwise)

    @override
    @property
    def title(self) -> str:
        return f"lists of up to {len(self.rules)} rules"

    @override
    @property
    def room(self) -> int:
        return 32 * (len(self.rules) + 1)

    @override
    def records(self, table: Table) -> NDArray[Any]:
        """Literals, then outputs, (n, 2k + 1)."""
        literals = np.stack([table.labels(condition, self.domain.literals) for condition, _ in self.rules], axis=1)
        columns = (*(output for _, output in self.rules), self.otherwise)
        outputs = np.stack([table.truths(column) for column in columns], axis=1)
        return canonical_lists(literals, outputs, variables=len(self.variables))


def columns_of(domain: DecisionLists) -> ListColumns:
    """Return the columns of lists, named by their place: "if 1", "then 1", …, "otherwise"."""
    rules = tuple((f"if {place}", f"then {place}") for place in range(1, domain.rules + 1))
    return ListColumns(variables=domain.names, rules=rules, otherwise="otherwise")


def canonical_lists(literals: Integers, outputs: Integers, *, variables: int) -> Integers:
    """Return equivalent lists in which no variable occurs twice, (n, 2k + 1).

    Args:
        literals: of each rule, 2s where there is none, (n, k).
        outputs: NO, YES or anything else, of each rule and at the end, (n, k + 1).
        variables: s.
    """
    nothing, rules = 2 * variables, literals.shape[1]
    rows = np.where((outputs[:, :-1] == NO) | (outputs[:, :-1] == YES), literals, nothing)
    outputs = (outputs == YES).astype(np.int64)
    over = np.zeros(len(rows), dtype=np.bool_)  # lists that have ended
    for later in range(rules):
        here, before = rows[:, later, None], rows[:, :later]
        again = (before % variables == here % variables) & (before < nothing) & (here < nothing)
        same = (again & (before == here)).any(axis=1)
        opposite = again.any(axis=1) & ~same
        ends = opposite & ~over
        outputs[ends, -1] = outputs[ends, later]
        over |= ends
        rows[same | over, later] = nothing
    outputs[:, :-1][rows == nothing] = NO
    return np.concatenate([rows, outputs], axis=1)


def draw_mock_lists(domain: DecisionLists, *, n: int, seed: int) -> Integers:
    """Draw mock lists, (n, 2k + 1): each rule exists three times in four, about any variable, with any output."""
    random = np.random.Generator(np.random.SFC64(seed))
    drawn = random.integers(0, 2 * domain.variables, (n, domain.rules))
    drawn[random.random(drawn.shape) < 1 / 4] = 2 * domain.variables
    return canonical_lists(drawn, random.integers(0, 2, (n, domain.rules + 1)), variables=domain.variables)


def college_domain(rules: int) -> DecisionLists:
    """Return the domain of lists of this many rules over the attributes of a college."""
    return DecisionLists(names=COLLEGE, rules=rules)


def college_students(*, n: int, rules: int, seed: int) -> Integers:
    """Return the lists of n students, (n, 2 * rules + 1): kinds of students, with rules of their own mixed in.

    >>> college_students(n=3, rules=2, seed=1).shape
    (3, 5)
    """
    if not (1 <= n <= 1_000_000 and 1 <= rules <= MAX_LIST_RULES):
        raise ParameterError(f"Between 1 and 1,000,000 students with 1 to {MAX_LIST_RULES} rules are needed.")
    random = np.random.Generator(np.random.SFC64(seed))
    shares = np.array([share for share, _, _ in STUDENT_TYPES])
    kind = random.choice(len(STUDENT_TYPES), n, p=shares / shares.sum())
    shown = min(rules, 3)
    literals = np.full((n, rules), NOTHING, dtype=np.int64)
    outputs = random.integers(0, 2, (n, rules + 1))
    literals[:, :shown] = np.array([[literal for literal, _ in listed] for _, listed, _ in STUDENT_TYPES])[kind, :shown]
    outputs[:, :shown] = np.array([[output for _, output in listed] for _, listed, _ in STUDENT_TYPES])[kind, :shown]
    outputs[:, -1] = np.array([last for _, _, last in STUDENT_TYPES])[kind]
    own = random.random((n, rules)) < OWN_RULE
    literals = np.where(own, random.integers(0, NOTHING + 1, (n, rules)), literals)
    for later in range(1, rules):
        # A variable that stands earlier in the list decides nothing more: that rule is dropped.
        repeated = (literals[:, :later] % NOT == literals[:, later : later + 1] % NOT) & (literals[:, :later] < NOTHING)
        literals[repeated.any(axis=1), later] = NOTHING
    return np.concatenate([literals, outputs], axis=1)
