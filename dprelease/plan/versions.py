"""Differences between a plan and a released request, which the ledger stores part by part. Public."""

from __future__ import annotations

from dprelease.ledger.canonical import canonical
from dprelease.ledger.records import Stored
from dprelease.requests.parts import Request, RequestPart


def changes(before: Stored, after: Request) -> tuple[str, ...]:
    """Return a sentence for each difference between a released request and a new one; none if they are equal.

    Parts match if they read the same columns and answer the same queries.
    """
    then, now = Request.of(before.body["request"]), after
    sentences = []
    if then.n != now.n:
        sentences.append(f"n was {then.n:,} and is {now.n:,}.")
    if then.neighbours is not now.neighbours:
        sentences.append(f"The neighbouring relation was “{then.neighbours.words}” and is “{now.neighbours.words}”.")
    if then.file_format != now.file_format:
        sentences.append("The format settings of the file were changed.")
    if then.level != now.level:
        sentences.append(f"The confidence of intervals was {then.level:.0%} and is {now.level:.0%}.")
    old, new = ({canonical(part.document): part for part in each.parts} for each in (then, now))
    unchanged = old.keys() & new.keys()
    left = [part for document, part in old.items() if document not in unchanged]
    for part in [part for document, part in new.items() if document not in unchanged]:
        same = next((each for each in left if _identity(each) == _identity(part)), None)
        if same is None:
            sentences.append(f"New: {_describe(part)}, ε = {_epsilon(part)}.")
        else:
            left.remove(same)
            sentences.append(
                f"Changed: {_describe(same)}, ε = {_epsilon(same)}, is now {_describe(part)}, ε = {_epsilon(part)}."
            )
    return (*sentences, *(f"Left out: {_describe(part)}, ε = {_epsilon(part)}." for part in left))


def _identity(part: RequestPart) -> tuple[object, ...]:
    """Return the identity of a part without its mechanism."""
    return part.reading, part.queries, part.mechanism.releases, part.values.get("quantile")


def _describe(part: RequestPart) -> str:
    """Return a part in words."""
    return f"{part.entry.title} for {part.queries.title.partition(':')[0].lower()} of {part.reading.title}"


def _epsilon(part: RequestPart) -> str:
    return str(part.parameters["epsilon"])
