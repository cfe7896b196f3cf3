"""What a ledger is told and tells."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from dpcore.core import Neighbours, is_visible
from dpcore.core.problem import MAX_ROWS
from dpcore.data.declared import MAX_PERSON_ROWS
from dprelease.ledger.units import BudgetMeasure, Price

OVER = "Needs {need}; {left} is left. Nothing was drawn."
RAISED = "The draw failed. As that may depend on the rows, the charge stays. Nothing was shown."
DIED = "The draw did not finish, and nothing was shown. As that may depend on the rows, its charge stands."
DRAW_IN_PROGRESS = "Another release is being drawn. Nothing was charged."
UNWRITABLE = "The ledger cannot be read or written now, and this charged and showed nothing."
UNSURE = "The ledger did not say whether this was stored, and nothing was shown: ask for the same again."
UNFIT = "The ledger would not add up with this. Nothing was charged or shown."
RELEASE = "release"
"""What somebody may or may not do."""
DAMAGED = "The ledger cannot be read. Restore a backup."
MAX_WORDS = 200
"""Characters of a name or a reason."""


def is_words(text: str) -> bool:
    """Whether it is a name or a reason that shows: visible, printable and of a bounded length."""
    return len(text) <= MAX_WORDS and is_visible(text) and text.isprintable()


def restored_sentence(times: int) -> str:
    """Return what a total of charges leaves out where copies of the ledger were put back; empty where none was."""
    if not times:
        return ""
    return (
        f"A copy of the ledger was put back {'once' if times == 1 else f'{times:,} times'}: what was charged after it "
        "was made is not in the total, though its results may have been seen."
    )


class LedgerError(ValueError):
    """A sentence that can be shown; it holds no value of the data."""


class LedgerBusy(LedgerError):
    """Somebody else writes."""


class LedgerUnsure(LedgerError):
    """Nobody knows whether something was written, or will stay so."""


class LedgerDamaged(LedgerError):
    """The file can be read, and what is in it is no ledger: a copy may take its place."""


class Role(enum.StrEnum):
    """What somebody may do."""

    STEWARD = "steward"
    """Register, set budgets, publish, say that a machine failed, see true values; and all that analysts do."""
    ANALYST = "analyst"
    """Plan, rehearse, release within the budget."""


@dataclass(frozen=True, kw_only=True)
class Actor:
    """Who does something."""

    name: str
    role: Role | None = Role.ANALYST
    """None for whoever may only see what is published."""

    def must_have_a_role(self, what: str) -> None:
        """Raise LedgerError unless this is a steward or an analyst."""
        if self.role is None:
            raise LedgerError(f"Only stewards and analysts may {what}.")

    def must_be_steward(self, what: str) -> None:
        """Raise LedgerError unless this is the data's steward."""
        if self.role is not Role.STEWARD:
            raise LedgerError(f"Only the data's steward may {what}.")


@dataclass(frozen=True, kw_only=True)
class Registration:
    """What is fixed for a data set, all of it public.

    Attributes:
        dataset_id: random; empty before it is registered.
        name: how the steward calls the data.
        neighbours: the relation.
        public_n: the number of rows where rows are replaced, else a nominal one.
        person_column: where a person has several rows, the column that tells whose a row is; empty for single rows.
        rows_a_person: rows of one person that count; the others are left out, in the order of the file.
        measure: what its budget adds up; told by the budget it is registered with.
        salt: random, so that digests of all this cannot be guessed.
        by: who said so.
        at: the day.
    """

    name: str
    neighbours: Neighbours
    public_n: int
    person_column: str = ""
    rows_a_person: int = 1
    measure: BudgetMeasure = BudgetMeasure.SUMS
    dataset_id: str = ""
    salt: str = ""
    by: str = ""
    at: str = ""

    @property
    def refusal(self) -> str:
        """Why nobody may register this, in a sentence; empty if it may be registered."""
        if self.person_column and self.neighbours is not Neighbours.ADD_REMOVE_ONE:
            return "Persons with several rows are protected where rows are added or removed."
        if self.person_column and not is_words(self.person_column):
            return f"The person column's name must be 1 to {MAX_WORDS} printable characters."
        rows_of_a_row = self.rows_a_person > 1 and not self.person_column
        if not 1 <= self.public_n <= MAX_ROWS or rows_of_a_row:
            return "A registration names a public n, and rows a person only beside a person column."
        if not 1 <= self.rows_a_person <= MAX_PERSON_ROWS:
            return f"A person may have between 1 and {MAX_PERSON_ROWS:,} rows."
        return ""

    @property
    def unit(self) -> dict[str, Any]:
        """Who is protected, and who said so."""
        kind = "person" if self.person_column else "row"
        return {"kind": kind, "rows_a_person": self.rows_a_person, "stated_by": self.by}

    @classmethod
    def of(cls, document: Mapping[str, Any], *, measure: BudgetMeasure = BudgetMeasure.SUMS) -> Self:
        """The registration that a document tells of; raises LookupError, TypeError or ValueError for another."""
        return cls(
            name=document["name"],
            neighbours=Neighbours(document["relation"]),
            public_n=document["public_n"],
            person_column=document["person_column"],
            rows_a_person=document["unit"]["rows_a_person"],
            measure=measure,
            dataset_id=document["dataset_id"],
            salt=document["salt"],
            by=document["unit"]["stated_by"],
            at=document["registered"],
        )

    @property
    def document(self) -> dict[str, Any]:
        """As the chain of entries begins with it."""
        return {
            "dataset_id": self.dataset_id,
            "name": self.name,
            "relation": self.neighbours.value,
            "public_n": self.public_n,
            "person_column": self.person_column,
            "unit": self.unit,
            "registered": self.at,
            "salt": self.salt,
        }


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A draw that was begun and has no outcome: it is under way, or it died."""

    number: int
    request_digest: str
    price: Price
    request: Mapping[str, Any]
    by: str
    at: str


@dataclass(frozen=True, kw_only=True)
class Spent:
    """The state of a data set's budget.

    Attributes:
        budget: what may be spent in all; nothing before one is set.
        spent: what was charged, and what attempts without an outcome hold.
        begun: those attempts.
        machine_failures: attempts that the steward said a machine let down, whose charge was not booked.
        copies_put_back: in the place of this ledger; what was charged between is forgotten.
    """

    budget: Price
    spent: Price
    begun: tuple[Attempt, ...] = ()
    machine_failures: int = 0
    copies_put_back: int = 0

    @property
    def left(self) -> Price:
        """What may still be spent."""
        return self.budget - self.spent

    def refusal(self, price: Price) -> str:
        """Why this cannot be paid; empty if it can."""
        left = self.left
        if price.within(left):
            return ""
        if price.epsilon_or_rho > left.epsilon_or_rho or not price.delta:
            price, left = replace(price, delta=0), replace(left, delta=0)
        return OVER.format(need=price, left=left)


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A release that was charged, drawn and stored together.

    Attributes:
        entry: its number.
        body: everything its certificate says, public.
        salt: of its digest in the chain.
        chain: a line for each entry up to this one.
        files: name to contents.
        published: whether it may be given to others; before, it is a private preview, charged all the same.
    """

    entry: int
    body: Mapping[str, Any]
    salt: str
    chain: tuple[Mapping[str, Any], ...]
    files: Mapping[str, bytes]
    published: bool = False


@dataclass(frozen=True, kw_only=True)
class Failed:
    """A draw that raised or died. Its charge stays; another draw has another number."""

    sentence: str


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Nothing was charged or drawn."""

    sentence: str


@dataclass(frozen=True, kw_only=True)
class Busy:
    """Nothing was charged or drawn: somebody else draws."""

    sentence: str = DRAW_IN_PROGRESS
