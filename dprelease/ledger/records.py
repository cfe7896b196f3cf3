"""Values that a ledger stores and returns."""

from __future__ import annotations

import enum
import itertools
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from dpcore.core import Neighbours, is_visible
from dpcore.core.sizes import MAX_PERSON_ROWS, MAX_ROWS
from dprelease.ledger.units import BudgetMeasure, Price
from dprelease.sizes import MAX_WORDS

OVER = "The release needs {need}, but only {left} is left. Nothing was released."
RAISED = "The release failed, and nothing was shown. The cause may depend on the rows, so the charge stays."
DIED = "The release did not finish, and nothing was shown. The cause may depend on the rows, so the charge stays."
DRAW_IN_PROGRESS = "Another release is running. Nothing was charged."
UNWRITABLE = "The ledger cannot be read or written now. Nothing was charged or shown."
UNSURE = "The ledger did not confirm the release, and nothing was shown. Request the same release again."
UNFIT = "The ledger would become inconsistent. Nothing was charged or shown."
RELEASE = "release"
"""Name of the action of releasing, for messages."""
DAMAGED = "The ledger cannot be read. Restore a backup."
MAX_MARKS = 8
"""Largest number of combining marks on a letter, beyond those of any script: more grow over the lines around."""


def is_words(text: str) -> bool:
    """Return whether a name or reason is visible, printable and not too long, and no letter has too many marks."""
    return len(text) <= MAX_WORDS and is_visible(text) and text.isprintable() and _most_marks(text) <= MAX_MARKS


def _most_marks(text: str) -> int:
    """Return the largest number of combining marks in a row."""
    are_marks = (unicodedata.category(each)[0] == "M" for each in text)
    return max((sum(1 for _ in run) for is_mark, run in itertools.groupby(are_marks) if is_mark), default=0)


def restored_sentence(times: int) -> str:
    """Return a sentence on the charges that are missing after copies of the ledger were restored; empty without any."""
    if not times:
        return ""
    return (
        f"A copy of the ledger was restored {'once' if times == 1 else f'{times:,} times'}. Charges made "
        "after the copy are not in the total, but their results may have been seen."
    )


class LedgerError(ValueError):
    """Error with a sentence that can be shown; it holds no value of the data."""


class LedgerBusy(LedgerError):
    """Another process holds the lock."""


class LedgerUnsure(LedgerError):
    """It is unknown whether something was written, or will remain written."""


class LedgerNotPrivate(LedgerError):
    """Another account may enter or change the ledger's folder or key; the sentence names no path."""


class LedgerDamaged(LedgerError):
    """The file is readable but its contents are not a valid ledger: a copy may replace it."""


class Role(enum.StrEnum):
    """Role of a user, which determines the allowed actions."""

    STEWARD = "steward"
    """Register, set budgets, publish, say that a machine failed, see true values; and all that analysts do."""
    ANALYST = "analyst"
    """Plan, rehearse, release within the budget."""


@dataclass(frozen=True, kw_only=True)
class Actor:
    """A user with a name and a role."""

    name: str
    role: Role | None = Role.ANALYST
    """None for a user who may only see published releases."""

    def must_have_a_role(self, what: str) -> None:
        """Raise LedgerError unless the user is a steward or an analyst."""
        if self.role is None:
            raise LedgerError(f"Only data owners and analysts may {what}.")

    def must_be_steward(self, what: str) -> None:
        """Raise LedgerError unless the user is the steward, the data owner."""
        if self.role is not Role.STEWARD:
            raise LedgerError(f"Only the data owner may {what}.")


@dataclass(frozen=True, kw_only=True)
class Registration:
    """Fixed properties of a data set, all of them public.

    Attributes:
        dataset_id: random id; empty before the registration.
        name: public name of the data.
        neighbours: the neighbouring relation.
        public_n: the number of rows where rows are replaced, else a nominal number.
        person_column: the column that identifies the person of a row; empty where single rows are protected.
        rows_a_person: largest number of rows of a person; further rows are left out, in the order of the file.
        measure: measure of the budget, from the budget at registration.
        salt: random salt, so that digests cannot be guessed.
        by: name of the steward.
        at: date of the registration.
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
        """Reason why this cannot be registered, as a sentence; empty if it can."""
        if self.person_column and self.neighbours is not Neighbours.ADD_REMOVE_ONE:
            return "Persons with several rows can be protected only if rows are added or removed."
        if self.person_column and not is_words(self.person_column):
            return f"The person column's name must be 1 to {MAX_WORDS} printable characters."
        rows_of_a_row = self.rows_a_person > 1 and not self.person_column
        if not 1 <= self.public_n <= MAX_ROWS or rows_of_a_row:
            return "A registration needs a public n. A maximum of rows per person needs a person column."
        if not 1 <= self.rows_a_person <= MAX_PERSON_ROWS:
            return f"The maximum rows per person must be between 1 and {MAX_PERSON_ROWS:,}."
        return ""

    @property
    def unit(self) -> dict[str, Any]:
        """Unit of protection, and the name of the steward who stated it."""
        kind = "person" if self.person_column else "row"
        return {"kind": kind, "rows_a_person": self.rows_a_person, "stated_by": self.by}

    @classmethod
    def of(cls, document: Mapping[str, Any], *, measure: BudgetMeasure = BudgetMeasure.SUMS) -> Self:
        """Decode a registration; raises LookupError, TypeError or ValueError for an invalid document."""
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
        """Body of the first entry of the chain."""
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
    """A started draw without an outcome: it is running, or its process died."""

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
        budget: total budget; zero before one is set.
        spent: charges, plus the prices of attempts without an outcome.
        begun: attempts without an outcome.
        machine_failures: attempts that the steward declared failed by the machine, without a charge.
        copies_put_back: number of copies that replaced this ledger; charges in between are missing.
    """

    budget: Price
    spent: Price
    begun: tuple[Attempt, ...] = ()
    machine_failures: int = 0
    copies_put_back: int = 0

    @property
    def left(self) -> Price:
        """Part of the budget that is not spent."""
        return self.budget - self.spent

    def refusal(self, price: Price) -> str:
        """Return a sentence if the price exceeds the remaining budget; empty otherwise."""
        left = self.left
        if price.within(left):
            return ""
        if price.epsilon_or_rho > left.epsilon_or_rho or not price.delta:
            price, left = replace(price, delta=0), replace(left, delta=0)
        return OVER.format(need=price, left=left.left_words)


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A release that was charged, drawn and stored together.

    Attributes:
        entry: number of the entry.
        body: public body of its certificate.
        salt: salt of its digest in the chain.
        chain: the lines of the entries up to this one.
        files: contents of the files by name.
        published: whether it may be given to others; before that, it is a charged private preview.
    """

    entry: int
    body: Mapping[str, Any]
    salt: str
    chain: tuple[Mapping[str, Any], ...]
    files: Mapping[str, bytes]
    published: bool = False


@dataclass(frozen=True, kw_only=True)
class Failed:
    """A draw that raised an error or died. Its charge remains; a new draw needs another number."""

    sentence: str


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Nothing was charged or drawn."""

    sentence: str


@dataclass(frozen=True, kw_only=True)
class Busy:
    """Nothing was charged or drawn, as another draw is running."""

    sentence: str = DRAW_IN_PROGRESS
