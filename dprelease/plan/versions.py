"""What changed in a plan since it was released: the ledger keeps what was asked, question by question. Public."""

from __future__ import annotations

from dprelease.ledger.canonical import canonical
from dprelease.ledger.records import Stored
from dprelease.requests.parts import Request, RequestPart


def changes(before: Stored, after: Request) -> tuple[str, ...]:
    """A sentence for each difference between what an entry released and what is asked now; none where it is the same.

    Questions are the same if they read the same columns and ask the same of them.
    """
    then, now = Request.of(before.body["request"]), after
    found = []
    if then.n != now.n:
        found.append(f"n was {then.n:,} and is {now.n:,}.")
    if then.neighbours is not now.neighbours:
        found.append(f"The relation was “{then.neighbours.words}” and is “{now.neighbours.words}”.")
    if then.file_format != now.file_format:
        found.append("The settings with which the file is read were changed.")
    old, new = ({canonical(part.document): part for part in each.parts} for each in (then, now))
    kept = old.keys() & new.keys()
    left = [part for told, part in old.items() if told not in kept]
    for part in [part for told, part in new.items() if told not in kept]:
        same = next((each for each in left if _about(each) == _about(part)), None)
        if same is None:
            found.append(f"New: {_said(part)}, ε = {_epsilon(part)}.")
        else:
            left.remove(same)
            found.append(f"Changed: {_said(same)}, ε = {_epsilon(same)}, is now {_said(part)}, ε = {_epsilon(part)}.")
    return (*found, *(f"Left out: {_said(part)}, ε = {_epsilon(part)}." for part in left))


def _about(part: RequestPart) -> tuple[object, ...]:
    """What a question is, but for its mechanism."""
    return part.reading, part.queries, part.mechanism.releases, part.values.get("quantile")


def _said(part: RequestPart) -> str:
    """A question in words."""
    return f"{part.entry.title} for {part.queries.title.partition(':')[0].lower()} of {part.reading.title}"


def _epsilon(part: RequestPart) -> str:
    return str(part.parameters["epsilon"])
