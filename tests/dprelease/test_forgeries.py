"""Every field of a certificate times every kind of wrong value, sealed and booked anew as a whole ledger would be.

What a forger cannot make up is compared with what the request implies. What no file tells is in
``UNVERIFIABLE_FIELDS``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpcore.data.columns import Number
from dpcore.data.readings import Columns
from dpcore.queries.ranges import Thresholds
from dprelease.certificate import PROVED, certificate, verify
from dprelease.commands import main
from dprelease.ledger.canonical import canonical, digest, digest_of_bytes
from dprelease.ledger.chain import FIRST, details_of
from dprelease.ledger.records import Stored, is_words
from dprelease.sizes import MAX_DRAWS
from dprelease.verification import UNVERIFIABLE_FIELDS, is_hex, unverifiable
from tests.dprelease.ledger.test_rho import asked as gaussian_request
from tests.dprelease.ledger.test_rho import opened as in_rho
from tests.kit.ledgers import plan_of, registered, request_of, stored_release
from tests.kit.sources import inside

Certificate = dict[str, Any]
Path_ = tuple[str | int, ...]
DERIVED = {"details", "previous", "digest"}
"""Fields that a forger makes up anew."""
KINDS = ("single", "joint", "persons", "rho", "refused")


def make(kind: str, folder: Path) -> Stored:
    """A release of one kind, the second of its ledger."""
    if kind == "single":
        ledger, dataset_id = registered(folder)
        requests: list[Any] = [request_of(draw=draw) for draw in (1, 2)]
    elif kind == "joint":
        ledger, dataset_id = registered(folder, delta=1e-6)
        requests = [request_of(), plan_of(pure=False).request()]
    elif kind == "persons":
        ledger, dataset_id = registered(folder, epsilon=9.0, person_column="person", rows_a_person=3)
        requests = [request_of(person="person", rows_a_person=3), plan_of(person="person", rows=3).request()]
    elif kind == "persons of a row":
        ledger, dataset_id = registered(folder, person_column="person", rows_a_person=1)
        requests = [request_of(person="person", rows_a_person=1)]
    elif kind == "rho":
        ledger, dataset_id = in_rho(folder)
        requests = [gaussian_request(1), gaussian_request(2)]
    else:
        ledger, dataset_id = registered(folder, epsilon=4.0, delta=0.1)
        domain = Number(high=20.0, bits=2)
        values = {"epsilon": 0.01, "delta": 1e-12}  # ten rows from another median: an answer has chance 10⁻¹¹
        median = request_of(
            key="stable_median",
            values=values,
            reading=Columns(names=("age",), on=domain),
            queries=Thresholds(domain=domain),
        )
        requests = [request_of(), median]
    for request in requests:
        came = stored_release(ledger, dataset_id, request)
        stored = came
    return stored


@pytest.fixture(scope="module", params=KINDS)
def stored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return make(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return make("single", tmp_path_factory.mktemp("one"))


def leaves(value: Any, *path: str | int) -> Iterator[tuple[Path_, Any]]:
    """Every value that is no mapping or list, with its path; and every empty one."""
    if isinstance(value, dict | list) and value:
        for step, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(each, *path, step)
    else:
        yield path, value


def mappings(value: Any, *path: str | int) -> Iterator[Path_]:
    """The path of every mapping."""
    if isinstance(value, dict):
        yield path
    for step, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from mappings(each, *path, step)


def rebooked(document: Certificate) -> Certificate:
    """Return the certificate with all digests recomputed, from the registration to its own, where possible."""
    try:
        body = {k: v for k, v in document.items() if k not in {"digest", "ledger"}}
        previous, lines = FIRST, document["ledger"]["chain"]
        lines[0]["details"] = details_of(body["data"], salt=body["data"]["salt"])
        lines[-1]["details"] = details_of(body, salt=document["ledger"]["salt"])
        for line in lines:
            line["previous"] = previous
            previous = digest(line)
        document["digest"] = digest({k: v for k, v in document.items() if k != "digest"})
    except (KeyError, TypeError, AttributeError, IndexError):
        pass
    return document


def wrong_values(value: Any) -> list[Any]:
    """Other values, of the same kind and of others."""
    others: list[Any] = [None, True, False, 0, 1, -1, 10**30, "", "other", "-1", "0.1", "1e400", [], [[]], {}, {"x": 1}]
    if isinstance(value, str):
        others += [value + "0", value[:-1], value + " ", value.replace("0", "1", 1), f"{value}\n", "x" * 5000]
    if isinstance(value, int):
        others += [value + 1, -value, str(value)]
    return [other for other in others if type(other) is not type(value) or other != value]


def untold(genuine: Certificate, path: Path_, value: Any) -> str:
    """Why no file tells this value of this field, which must be of its form; empty if files tell it."""
    name = ".".join(map(str, path))
    if name in UNVERIFIABLE_FIELDS:
        return UNVERIFIABLE_FIELDS[name][2] if UNVERIFIABLE_FIELDS[name][0](value) else ""
    if path[:2] == ("ledger", "chain"):
        chain = genuine["ledger"]["chain"]
        if path[-1] == "details" and 0 < int(path[2]) < len(chain) - 1 and is_hex(value, 64):
            return "a digest of what stays in the ledger"
        budgets = [place for place, line in enumerate(chain) if line["kind"] == "budget"]
        if path[2] in budgets[:-1] and "amount" in path:
            return "a budget in epsilon of an earlier entry"
    if path[0] == "request":
        if path[-2] == "names" and type(value) is str and (value == "" or is_words(value)):
            return "the name of a column, which no file repeats"
        if path == ("request", "draw") and type(value) is int and 1 <= value <= MAX_DRAWS:
            return "the number of the draw"
        if path[-1] == "bits" and type(value) is int and genuine["parts"][0]["mechanism"]["key"] == "stable_median":
            return "how fine the line of a question without an answer was"
    return ""


@pytest.mark.slow
def test_every_wrong_value_of_every_field_is_caught_though_all_is_booked_anew(stored: Stored) -> None:
    genuine = certificate(stored)
    assert verify(genuine, stored.files) == [] == verify(canonical(genuine), stored.files)
    tried = 0
    for path, value in leaves(genuine):
        if path[-1] in DERIVED:
            continue
        for other in wrong_values(value):
            forged = copy.deepcopy(genuine)
            inside(forged, path[:-1])[path[-1]] = other
            faults = verify(rebooked(forged), stored.files)
            assert all(each.endswith(".") and each.isprintable() for each in faults), (path, other, faults)
            tried += 1
            if not faults:
                assert untold(genuine, path, other), (path, other)
    assert tried > 1000


MARKS = "a" + "\u0301" * 9
HOSTILE = (MARKS, "\n", "a\x00b", "\u202egnp", "\u200b", "\u3164", "a\nb", "x" * 201, "x" * 10**6)
"""What shows nothing, something else than it is, or too much."""


@pytest.mark.slow
def test_no_text_of_any_field_is_one_that_nobody_could_register(stored: Stored) -> None:
    genuine, tried = certificate(stored), 0
    for path, value in leaves(genuine):
        if isinstance(value, str) and path[-1] not in DERIVED:
            for text in HOSTILE:
                forged = copy.deepcopy(genuine)
                inside(forged, path[:-1])[path[-1]] = text
                assert verify(rebooked(forged), stored.files), (path, text[:9])
                tried += 1
    assert tried > 300


@pytest.mark.parametrize("text", HOSTILE)
def test_a_person_column_that_nobody_could_register_is_refused(tmp_path: Path, text: str) -> None:
    """Persons of one row each: every field that says so is changed together."""
    stored = make("persons of a row", tmp_path)
    genuine = certificate(stored)
    assert verify(genuine, stored.files) == []
    for name, refused in (("who", False), (text, True)):
        forged = copy.deepcopy(genuine)
        sets(("data.person_column", name), ("request.person", name))(forged)
        assert bool(verify(rebooked(forged), stored.files)) is refused


@pytest.mark.slow
def test_a_field_more_or_less_anywhere_is_caught(stored: Stored) -> None:
    genuine = certificate(stored)
    for path in mappings(genuine):
        for change in ("extra", *inside(genuine, path)):
            forged = copy.deepcopy(genuine)
            place = inside(forged, path)
            if change in DERIVED:
                continue
            if change == "extra":
                place["extra"] = 1
            else:
                del place[change]
            faults = verify(rebooked(forged), stored.files)
            assert faults or (change == "bits" and untold(genuine, (*path, change), 1)), (path, change)


def sets(*changes: tuple[str, Any]) -> Callable[[Certificate], None]:
    """Change several fields together, so that they agree with each other."""

    def changed(document: Certificate) -> None:
        for name, value in changes:
            *way, last = (int(step) if step.isdigit() else step for step in name.split("."))
            inside(document, way)[last] = value

    return changed


def unit(kind: str, rows: int) -> list[tuple[str, Any]]:
    return [
        (f"{where}.unit", {"kind": kind, "rows_a_person": rows, "stated_by": "Ada"}) for where in ("data", "guarantee")
    ]


REPLACED = [
    *((f"{where}.relation", "replace_one") for where in ("data", "guarantee", "request.data")),
    ("guarantee.unprotected", ["number of rows: 30"]),
]


def charged(epsilon: str, *, first: int = 5) -> list[tuple[str, str]]:
    """Another amount of an attempt, which is the line of this place, and of its outcome, which follows."""
    return [(f"ledger.chain.{place}.amount.epsilon", epsilon) for place in (first, first + 1)]


NEVER_REGISTERED = "persons of two rows where rows are replaced"
TOGETHER: dict[str, Callable[[Certificate], None]] = {
    "households": sets(*unit("household", 1)),
    "persons without a person column": sets(*unit("person", 1)),
    "rows of a rows": sets(*unit("row", 5)),
    # Nothing of it is wrong but that such persons may not be registered.
    NEVER_REGISTERED: sets(
        *REPLACED, *unit("person", 2), ("data.person_column", "who"), ("guarantee.epsilon", "1"),
        ("request.person", "who"), ("request.rows_a_person", 2), ("parts.0.guarantee.epsilon", "1"),
        *charged("1"), ("guarantee.whole_data_set.spent.epsilon", "1.5"),
        ("parts.0.mechanism.test", f"{PROVED}::test_exact_privacy[identity-replace_one]"),
        ("parts.0.accuracy.guaranteed_error", "No guarantee: the bound is 100% of n or more. It needs n = 73 or more."),
    ),
    "the file of another folder": lambda d: d.update(files={"../counts.csv": d["files"]["counts.csv"]}),
    "the file of another name": lambda d: d.update(files={"value.csv": d["files"]["counts.csv"]}),
    "the file of an endless name": lambda d: d.update(files={f"{'x' * 10_000}.csv": d["files"]["counts.csv"]}),
    "the file more": lambda d: d["files"].update({"more.csv": digest_of_bytes(b"")}),
    "drawn before it was registered": sets(("at", "1999-01-01")),
    "more previews than entries": sets(("tuning.charged_previews", 2)),
    "fewer previews than entries": sets(("tuning.charged_previews", 0)),
    "nobody saw anything": sets(("guarantee.steward_saw_true_values", True)),
    "a copy put back": sets(("guarantee.whole_data_set.copies_put_back", 1)),
    "a more expensive claim": sets(
        ("guarantee.epsilon", "0.6"), ("parts.0.guarantee.epsilon", "0.6"), *charged("0.6"),
        ("guarantee.whole_data_set.spent.epsilon", "1.1"),
    ),
    "a free entry": sets(
        *charged("0", first=3), ("guarantee.whole_data_set.spent.epsilon", "0.5"),
    ),
    "no delta and an endless budget": sets(
        ("ledger.chain.2.amount.epsilon", "9" * 20), ("guarantee.whole_data_set.budget.epsilon", "9" * 20),
        ("guarantee.whole_data_set.private.epsilon", "9" * 20),
    ),
    "than entry of a truth value": sets(("ledger.chain.0.seq", True)),
}  # fmt: skip


@pytest.mark.parametrize("name", TOGETHER)
def test_changes_that_agree_with_each_other_are_caught(single: Stored, name: str) -> None:
    forged = copy.deepcopy(certificate(single))
    TOGETHER[name](forged)
    files = {each: single.files["counts.csv"] for each in forged["files"]}
    for given in (files, {}):
        faults = verify(rebooked(forged), given)
        assert faults and max(map(len, faults)) < 500
    if name == NEVER_REGISTERED:
        assert faults == ["Persons with several rows can be protected only if rows are added or removed."]


def test_a_budget_in_rho_does_not_change_along_the_chain(tmp_path: Path) -> None:
    stored = make("rho", tmp_path)
    forged = copy.deepcopy(certificate(stored))
    chain = forged["ledger"]["chain"]
    chain.insert(3, copy.deepcopy(chain[2]))
    for place, line in enumerate(chain, 1):
        line["seq"] = place
    assert "The chain breaks at line 4: a budget in rho cannot be changed after registration." in verify(
        rebooked(forged), stored.files
    )


WRONG_FILE = "The columns, lines, labels or numbers of counts.csv do not match the request."
FILES: dict[str, Callable[[bytes], bytes]] = {
    "a line less": lambda b: b"\n".join(b.split(b"\n")[:-2]) + b"\n",
    "a line more": lambda b: b + b.split(b"\n")[-2] + b"\n",
    "another column": lambda b: b.replace(b"rows", b"people"),
    "another label": lambda b: b.replace(b"17.5", b"18.5"),
    "another order": lambda b: b"\n".join([b.split(b"\n")[0], *reversed(b.split(b"\n")[1:-1])]) + b"\n",
    "a text for a number": lambda b: b.replace(b",17.5,", b",17.5,many"),
    "a refusal of one line": lambda b: b.replace(b"False,0", b"True,0"),
    "nothing": lambda _: b"",
    "no text": lambda _: b"\xff\xfe\x00",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_the_request_cannot_give_is_caught_though_all_is_booked_anew(single: Stored, name: str) -> None:
    genuine = single.files["counts.csv"]
    contents = FILES[name](genuine)
    assert contents != genuine
    forged = copy.deepcopy(certificate(single))
    forged["files"]["counts.csv"] = digest_of_bytes(contents)
    faults = verify(rebooked(forged), {"counts.csv": contents})
    spelled = name not in ("nothing", "no text")
    assert faults == [WRONG_FILE if spelled else "counts.csv is not CSV as this program writes it."]


def test_every_file_is_its_own(stored: Stored) -> None:
    genuine = certificate(stored)
    for name, contents in stored.files.items():
        assert b"e" in contents
        others = {each: whole for each, whole in stored.files.items() if each != name}
        for changed in (contents + b" ", contents[:-1], contents.replace(b"e", b"a", 1), b""):
            assert verify(genuine, others | {name: changed}) == [f"The file {name} is not the one that was released."]
        assert verify(genuine, others) == [f"The file {name} is missing."]
        assert verify(genuine, others | {f"x-{name}": contents}) and verify(genuine, {**stored.files, "x.csv": b""})
    if len({*stored.files.values()}) > 1:  # noise may make two files the same, now and then
        names = list(stored.files)
        assert verify(genuine, dict(zip(names, reversed(list(stored.files.values())), strict=True)))


def test_a_refusal_is_certified(tmp_path: Path) -> None:
    stored = make("refused", tmp_path)
    assert [part["mechanism"]["key"] for part in certificate(stored)["parts"]] == ["stable_median"]
    assert b"True" in next(iter(stored.files.values()))


def test_the_command_reads_each_name_once_and_says_what_files_cannot_tell(
    tmp_path: Path, single: Stored, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "certificate.json").write_bytes(canonical(certificate(single)))
    genuine, forged = tmp_path / "counts.csv", tmp_path / "other" / "counts.csv"
    genuine.write_bytes(single.files["counts.csv"])
    forged.write_bytes(b"refused,cell,value,rows\n")
    command = ["verify", str(tmp_path / "certificate.json")]
    for pair in ((forged, genuine), (genuine, forged)):
        assert main([*command, *map(str, pair)]) == 1
        assert "Two files have the same name" in capsys.readouterr().err
    assert main([*command, str(tmp_path / "other")]) == 1 and "not folders" in capsys.readouterr().err
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "counts.csv").symlink_to(forged)
    assert main([*command, str(tmp_path / "link" / "counts.csv")]) == 1
    capsys.readouterr()
    assert main([*command, str(genuine)]) == 0
    output = capsys.readouterr().out
    assert all(name in output for name in UNVERIFIABLE_FIELDS) and all(each in output for each in unverifiable())


@pytest.mark.parametrize("document", [None, 5, "x", [], [["a", 1]], {1: 2}, {"format": 1.5}, {"format": object()}])
def test_what_is_no_mapping_of_a_certificate_gets_a_sentence(document: Any) -> None:
    assert len(verify(document, {})) == 1
