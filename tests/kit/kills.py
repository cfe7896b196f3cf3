"""Kills releases under way, and looks at what they leave. Run as a program: it forks, so it must have one thread.

python -m tests.kit.kills FOLDER WHAT COUNT ASKED [CONTROL] prints what was seen as JSON. What is asked is one question
or a plan of two. A control is a broken way of releasing that the same looks must find.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from linecache import getline
from pathlib import Path
from types import FrameType
from typing import Any

import dprelease.ledger.writing
import dprelease.release
from dprelease.ledger.checks import check
from dprelease.ledger.copies import backup, restore
from dprelease.ledger.fingerprint import SUFFIX
from dprelease.ledger.records import Stored
from dprelease.ledger.store import Ledger
from dprelease.ledger.stores import database, files
from dprelease.ledger.units import Price
from dprelease.requests.parts import Request
from tests.kit.ledgers import STEWARD, few_rows, forge, plan_of, registered, request_of

for module in ("opendp.prelude", "pandas"):  # loaded once, not by every child
    importlib.import_module(module)

PRESSES_A_LEDGER = 8
"""Chains are read as a whole: long ones would make the later kills slow."""
PRICE = Price.allowed(epsilon=0.5)
ASKED: dict[str, Callable[[int], Request]] = {
    "question": lambda draw: request_of(draw=draw),
    "plan": lambda draw: plan_of().request(draw=draw),
}
"""By the number of the draw; each has the price."""
WATCHED = (
    "dprelease/release.py",
    *(f"dprelease/ledger/{name}.py" for name in ("store", "writing", "connection", "copies", "stores/files")),
)
BETWEEN = "charge = Price("
"""In the line before which the files of a result are written and the entry that names them is not."""
TRANSACTIONS = 3
"""Of a press: it settles, it begins, it draws."""


class Pipe:
    """Where a child shows things."""

    into = os.open(os.devnull, os.O_WRONLY)


def shown(came: Any) -> str:
    """What somebody who pressed sees."""
    told = hashlib.sha256(b"".join(came.files.values())).hexdigest() if isinstance(came, Stored) else came.sentence
    return f"{type(came).__name__} {told}"


def press(ledger: Ledger, dataset_id: str, request: Request) -> str:
    """Release, and show."""
    return shown(dprelease.release.release(ledger, dataset_id, request, few_rows(), STEWARD))


def child(work: Callable[[], str]) -> tuple[int, int]:
    """A process that works and writes what it shows into a pipe; its number, and the end to read from."""
    out, into = os.pipe()
    number = os.fork()
    if number:
        os.close(into)
        return number, out
    try:
        os.close(out)
        Pipe.into = into
        told = work()
        os.write(Pipe.into, told.encode())
    finally:
        os._exit(0)


def ended(number: int, out: int) -> str:
    """Wait for a child; what it showed."""
    os.waitpid(number, 0)
    with os.fdopen(out) as pipe:
        return pipe.read()


Moment = tuple[str, int, int]
"""A file, a line, and how often the line has begun."""


def moments(work: Callable[[], str], at: Callable[[Moment], None]) -> Callable[[], str]:
    """Work during which every moment in the watched files is told just before it."""
    begun: Counter[tuple[str, int]] = Counter()

    def on_line(frame: FrameType, what: str, _: Any) -> Any:
        if what == "line":
            line = (frame.f_code.co_filename, frame.f_lineno)
            begun[line] += 1
            at((*line, begun[line]))
        return on_line

    def traced() -> str:
        sys.settrace(lambda frame, *_: on_line if frame.f_code.co_filename.endswith(WATCHED) else None)
        try:
            return work()
        finally:
            sys.settrace(None)

    return traced


def moments_of(work: Callable[[], str]) -> list[Moment]:
    """The moments of some work, of each line the first few."""
    told: list[Moment] = []
    moments(work, told.append)()
    return [moment for moment in told if moment[2] <= TRANSACTIONS]


def dying_at(fatal: Moment, work: Callable[[], str]) -> Callable[[], str]:
    """Work that is killed at a moment."""

    def at(moment: Moment) -> None:
        if moment == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    return moments(work, at)


class Watch:
    """Ledgers, the requests pressed in them, and what was wrong."""

    def __init__(self, folder: Path, asked: str) -> None:
        self.asked = ASKED[asked]
        self.folder, self.wrong, self.seen = folder, [], Counter()  # type: tuple[Path, list[str], Counter[str]]
        self.pressed = 0

    def next(self) -> tuple[Ledger, str, Request]:
        """A request that nobody pressed yet."""
        if self.pressed % PRESSES_A_LEDGER == 0:
            self.ledger, self.dataset_id = registered(self.folder / str(self.pressed), epsilon=10_000)
        self.pressed += 1
        return self.ledger, self.dataset_id, self.asked(self.pressed)

    def look(self, request: Request, showed: str) -> None:
        """What a kill left, and what the next press makes of it."""
        ledger, dataset_id = self.ledger, self.dataset_id
        with ledger.drawing(dataset_id):
            pass  # a database may still be at what the dead asked of it: whoever writes next waits for that
        self.wrong += check(ledger, dataset_id)
        found, account = ledger.find(dataset_id, request.digest), ledger.account(dataset_id)
        if showed and (found is None or showed != shown(found)):
            self.wrong.append("what was shown is not what is stored")
        if len(account.begun) > 1 or (account.begun and found):
            self.wrong.append("an attempt has an outcome and is open")
        state = type(found).__name__ if found else "begun" if account.begun else "nothing"
        self.seen[state] += 1
        self.seen["shown"] += bool(showed)
        again = press(ledger, dataset_id, request)
        expected = shown(found) if found else "Failed" if account.begun else "Stored"
        if not again.startswith(expected):
            self.wrong.append(f"{state} was left, and the next press shows {again[:20]}")
        after = ledger.account(dataset_id)
        charged = sum(PRICE.epsilon_or_rho for _ in ledger.outcomes(dataset_id))
        if after.begun or after.spent.epsilon_or_rho != charged:
            self.wrong.append("what is spent is not what entries explain")

    def as_copied(self, ledger: Ledger, dataset_id: str, old: bytes) -> None:
        """What putting a copy back must have left: its one entry, word of it, the damaged file beside, and no other."""
        self.wrong += check(ledger, dataset_id)
        kept = [path.read_bytes() for path in ledger.folder.iterdir() if ".replaced" in path.name]
        if len(ledger.outcomes(dataset_id)) != 1 or kept != ([old] if old else []):
            self.wrong.append("the copy is not there, or the old file is not beside it")
        press(ledger, dataset_id, request_of(draw=3))
        told = ledger.stored(dataset_id)[-1].body["guarantee"]["whole_data_set"]["copies_put_back"]
        self.seen[f"counted {min(told, 2)}"] += 1
        if not told:
            self.wrong.append("a certificate does not say that a copy was put back")

    def told(self) -> dict[str, Any]:
        """For the test."""
        return {"wrong": len(self.wrong), "examples": sorted(set(self.wrong))[:5], "seen": dict(self.seen)}


def random_kills(watch: Watch, count: int) -> None:
    """At any moment of a press, or shortly after it."""
    coins = random.Random(str(watch.folder))
    start = time.perf_counter()
    for _ in range(10):
        ended(*child(partial(press, *watch.next())))
    longest = 1.1 * (time.perf_counter() - start) / 10
    for _ in range(count):
        now = watch.next()
        number, out = child(partial(press, *now))
        time.sleep(coins.random() * longest)
        os.kill(number, signal.SIGKILL)
        watch.look(now[2], ended(number, out))


def line_kills(watch: Watch, count: int) -> None:
    """At every line of a press, or at so many of them, evenly spread."""
    for _ in range(2):  # the first press of all does more
        now = watch.next()
        fatal = moments_of(partial(press, *now))
    watch.seen["lines"] = len(fatal)
    for moment in fatal[:: -(-len(fatal) // count)]:
        now = watch.next()
        watch.look(now[2], ended(*child(dying_at(moment, partial(press, *now)))))


def named_kills(watch: Watch, count: int) -> None:
    """At the line that writes what was drawn, the charge being written."""
    for _ in range(count):
        now = watch.next()
        fatal = [moment for moment in moments_of(partial(press, *now)) if BETWEEN in getline(*moment[:2])]
        watch.seen["lines"] += len(fatal)
        for moment in fatal:
            now = watch.next()
            watch.look(now[2], ended(*child(dying_at(moment, partial(press, *now)))))


def restore_kills(watch: Watch, count: int) -> None:
    """What putting a copy back leaves is the damaged file or the copy, which says so; or, of a lost file, none."""
    for damage in DAMAGES:
        exchange_kills(watch, count, partial(damaged, damage=damage), put_back, watch.as_copied, file="copies.py")


def exchange_kills(
    watch: Watch,
    count: int,
    opened: Callable[[Path], tuple[Ledger, str]],
    work: Callable[[Ledger, str], str],
    look: Callable[[Ledger, str, bytes], None],
    *,
    file: str = ".py",
) -> None:
    """At every line of what puts one file in another's place, or at so many; then it is done again, if it was not."""
    folder = watch.folder / str(len(list(watch.folder.glob("*"))))
    untouched, dataset_id = opened(folder / "untouched")

    def another(name: str) -> Ledger:
        return Ledger(shutil.copytree(untouched.folder, folder / name))

    ledger = another("whole")
    old = contents(ledger.path(dataset_id))
    fatal = [moment for moment in moments_of(partial(work, ledger, dataset_id)) if moment[0].endswith(file)]
    look(ledger, dataset_id, old)
    watch.seen["lines"] += len(fatal)
    for place, moment in enumerate(fatal[:: -(-len(fatal) // count)]):
        ledger = another(str(place))
        showed = ended(*child(dying_at(moment, partial(work, ledger, dataset_id))))
        unchanged = contents(ledger.path(dataset_id)) == old
        watch.seen["old" if unchanged else "new"] += 1
        if showed:
            watch.wrong.append("what died was told")
        if unchanged:
            work(ledger, dataset_id)
        look(ledger, dataset_id, old)


def contents(path: Path) -> bytes:
    """Of a file; none where there is none. Nobody of this process holds it."""
    return path.read_bytes() if path.exists() else b""


def put_back(ledger: Ledger, dataset_id: str) -> str:
    """Put the copy back, and say so."""
    return str(restore(ledger, ledger.folder / "copy" / f"{dataset_id}{SUFFIX}", STEWARD))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "lost": Path.unlink,
    "no database": lambda path: path.write_bytes(b"nothing" * 1000),
    "a chain that breaks": lambda path: forge(path, "UPDATE entries SET body = replace(body, '30', '31')"),
}


def damaged(folder: Path, *, damage: str) -> tuple[Ledger, str]:
    """A ledger that was copied after its first release, had a second, and was damaged then."""
    ledger, dataset_id = registered(folder, epsilon=10)
    for draw in (1, 2):
        press(ledger, dataset_id, request_of(draw=draw))
        if draw == 1:
            backup(ledger, dataset_id, folder / "copy")
    DAMAGES[damage](ledger.path(dataset_id))
    return ledger, dataset_id


def double_submits(watch: Watch, count: int) -> None:
    """Two press the same at once; every third time one of them is killed."""
    coins = random.Random(str(watch.folder))
    for place in range(count):
        ledger, dataset_id, _ = now = watch.next()
        first, second = (child(partial(press, *now)) for _ in range(2))
        if place % 3 == 0:
            time.sleep(coins.random() / 20)
            os.kill(first[0], signal.SIGKILL)
        told = [ended(*first), ended(*second)]
        watch.seen[told[1].split()[0]] += 1
        watch.wrong += check(ledger, dataset_id)
        if len({each for each in told if each}) != 1:
            watch.wrong.append("two presses of the same show two things")
        if place % 3 and not told[0].startswith("Stored"):
            watch.wrong.append("nobody was killed, and nothing is stored")
        if len(ledger.outcomes(dataset_id)) != place % PRESSES_A_LEDGER + 1:
            watch.wrong.append("two presses of the same are charged twice")


def races(watch: Watch, count: int) -> None:
    """Two press different requests, and the budget is for one of them."""
    for place in range(count):
        ledger, dataset_id, first = watch.next()
        second = watch.asked(100_000 + place)
        if place % PRESSES_A_LEDGER == 0:
            other, dataset_id = registered(watch.folder / f"race{place}", epsilon=0.5)
            watch.ledger, watch.dataset_id = ledger, dataset_id = other, dataset_id
        else:
            spent = ledger.account(dataset_id).spent
            ledger.set_budget(dataset_id, spent + PRICE, "one more", STEWARD)
        children = [child(partial(press, ledger, dataset_id, each)) for each in (first, second)]
        told = sorted(ended(*each).split()[0] for each in children)
        watch.seen[" ".join(told)] += 1
        watch.wrong += check(ledger, dataset_id)
        if told != ["Refused", "Stored"] or ledger.account(dataset_id).left.epsilon_or_rho:
            watch.wrong.append(f"a budget for one gave {told}")


@contextmanager
def two_transactions(*_: Any) -> Iterator[None]:
    """Every statement is a transaction of its own."""
    yield


def shown_early(connection: Any, attempt: Any, outcome: str, body: Any, files: Any) -> int:
    """Somebody sees the result before it is stored."""
    os.write(Pipe.into, f"Stored {hashlib.sha256(b''.join(files.values())).hexdigest()}".encode())
    os.close(Pipe.into)
    Pipe.into = os.open(os.devnull, os.O_WRONLY)
    return dprelease.ledger.writing.book(connection, attempt, outcome, body, files)


@contextmanager
def in_its_schema(connection: Any) -> Iterator[None]:
    """The same in Postgres, where it is the transaction that names the data set's schema."""
    connection.execute(f"SET search_path = {connection.store.schema(connection.dataset_id)}, pg_temp")
    yield


def in_pieces() -> None:
    """No transaction, whichever store it is."""
    changed: Any = (files, two_transactions), (database, in_its_schema)
    for store, in_pieces_too in changed:
        store.transaction = in_pieces_too


CONTROLS: dict[str, Callable[[], None]] = {
    "two transactions": in_pieces,
    "shown early": lambda: setattr(dprelease.release, "book", shown_early),
}


def main(folder: str, what: str, count: str, asked: str, control: str = "") -> None:
    """Run one kind of kills, with a control if one is named."""
    watch = Watch(Path(folder), asked)
    if control:
        CONTROLS[control]()
    kinds = {
        "random": random_kills,
        "lines": line_kills,
        "named": named_kills,
        "restore": restore_kills,
        "twice": double_submits,
        "races": races,
    }
    kinds[what](watch, int(count))
    print(json.dumps(watch.told()))


if __name__ == "__main__":
    main(*sys.argv[1:])
