from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dpcore.data.columns import Number
from dpcore.data.reading.format import Format
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Columns
from dpcore.queries.ranges import Intervals
from dprelease.commands import default_folder, main
from dprelease.plan.margins import margin
from dprelease.plan.questions import Plan
from tests import ROOT
from tests.kit.ledgers import plan_of, request_of

ROWS = "age,job\n" + "\n".join(f"{place % 20},cook" for place in range(50)) + "\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to the folder in which the commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("DPSCOPE_LEDGER")
    Path("data.csv").write_text(ROWS)
    Path("request.json").write_bytes(request_of().text)
    Path("again.json").write_bytes(request_of(draw=2).text)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], command: str | list[str]) -> tuple[int, str]:
    """A command's exit code, and what it printed."""
    code = main(command.split() if isinstance(command, str) else command)
    printed = capsys.readouterr()
    assert bool(printed.err) == bool(code)
    return code, printed.out + printed.err


REGISTER = "ledger register data.csv --name ages --n 30 --epsilon 1 --delta 1e-6"


@pytest.mark.slow
def test_the_walk_of_a_release(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert told(capsys, "release request.json")[1].startswith("On mock data")
    code, sentence = told(capsys, "release request.json data.csv")
    assert code == 1 and "There is no ledger" in sentence
    assert told(capsys, REGISTER)[0] == 0
    assert default_folder() == folder / "home" / "dpscope" / "ledger" and default_folder().is_dir()
    code, sentence = told(capsys, "release request.json data.csv --out first")
    assert code == 0 and "Entry 1, charged ε 0.5. Not published. Left: ε 0.5 and δ 10⁻⁶." in sentence
    before = Path("first/counts.csv").read_bytes()
    assert told(capsys, "release request.json data.csv --out first")[0] == 0  # free, the same bytes
    assert Path("first/counts.csv").read_bytes() == before
    assert told(capsys, "verify first/certificate.json first/counts.csv")[0] == 0
    assert told(capsys, "ledger backup old")[0] == 0
    code, sentence = told(capsys, "release again.json data.csv --out first")
    assert code == 1 and "Choose another folder" in sentence
    assert told(capsys, "release again.json data.csv --out second")[0] == 0
    assert told(capsys, "ledger publish 2")[0] == 0
    assert "Published" in told(capsys, "release again.json data.csv --out second")[1]
    assert told(capsys, "release again.json data.csv --zip")[0] == 0 and Path("release-2.zip").is_file()
    assert "left ε 0 and δ 10⁻⁶" in told(capsys, "ledger show")[1]
    assert told(capsys, "ledger check")[0] == 0
    assert told(capsys, "ledger check --against second/certificate.json")[0] == 0
    code, sentence = told(capsys, "ledger check --ledger old --against second/certificate.json")
    assert code == 1 and "The ledger is an old copy" in sentence


@pytest.mark.slow
def test_a_plan_is_released_from_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, REGISTER)
    Path("plan.json").write_bytes(plan_of().text)
    assert "8 numbers. Nothing was charged" in told(capsys, "release plan.json")[1]
    assert "Entry 1, charged ε 0.5." in told(capsys, "release plan.json data.csv --out first")[1]
    assert told(capsys, "verify first/certificate.json first/01-counts.csv first/02-counts.csv")[0] == 0
    everything = " ".join(str(path) for path in Path("first").iterdir())
    assert "with_opendp.py" in everything
    assert told(capsys, f"verify first/certificate.json {everything}")[0] == 0
    for name in ("report.html", "analysis.py", "analysis.ipynb", "with_opendp.py"):
        genuine = Path("first", name).read_bytes()
        Path("first", name).write_bytes(genuine.replace(b"0", b"1", 1))
        code, sentence = told(capsys, f"verify first/certificate.json {everything}")
        assert code == 1 and sentence == f"The file {name} does not belong to this certificate.\n"
        Path("first", name).write_bytes(genuine)
    assert "Entry 1" in told(capsys, "release plan.json data.csv --out first")[1]
    Path("joint.json").write_bytes(plan_of().request().text)
    assert "Entry 1" in told(capsys, "release joint.json data.csv --out first")[1], "a plan is what it asks"
    assert "Entry 2" in told(capsys, "release plan.json data.csv --draw 2 --out second")[1]
    Path("older.json").write_bytes(plan_of().text.replace(b"dpscope-plan/2", b"dpscope-plan/1"))
    assert told(capsys, "release older.json") == (
        1,
        "This plan has the format “dpscope-plan/1” of an older program. Create it again in the format "
        "“dpscope-plan/2”.\n",
    )
    code, sentence = told(capsys, "release joint.json data.csv --draw 2")
    assert code == 1 and "--draw only with plans" in sentence


CODEBOOK = """name,type,min,max,labels,missing
income,number,0,100000,,yes
region,category,,,north;south,no
smoker,yes/no,,,,no
note,text,,,,no
"""
STATISTICS = "mean income by region, groups of 300\nsum income by region\nshare smoker = yes by region\nsmoker = yes\n"


def test_a_plan_is_made_of_a_description_and_lines(capsys: pytest.CaptureFixture[str]) -> None:
    Path("codebook.csv").write_text(CODEBOOK)
    Path("lines.txt").write_text(STATISTICS)
    command = "plan codebook.csv lines.txt --n 5000 --epsilon 1.5"
    code, printed = told(capsys, command)
    plan = Plan.read(Path("plan.json").read_bytes())
    assert code == 0 and len(plan.questions) == 3, "mean and sum of income are one draw"
    assert plan.cost.epsilon == pytest.approx(1.5) and plan.n == 5000 and plan.table.on("income").missing
    mean = next(each for each in plan.questions if each.columns == ("income",))
    wide = margin(plan, mean, plan.mechanism(mean)).half_width
    assert f"Mean of income, sum by region: ± {wide:,.0f} in a group of 300, with ε = {mean.epsilon:g}." in printed
    assert "1 column has no labels: declare it." in printed
    assert "ε = 1.5 (add or remove one row). Written: plan.json." in printed
    assert told(capsys, "release plan.json")[0] == 0
    assert told(capsys, command) == (1, "The file plan.json exists already. Name another with --out.\n")
    Path("lines.txt").write_text("mean incme by region\nnonsense\n")
    code, printed = told(capsys, f"{command} --out other.json")
    assert code == 1 and printed.startswith("Line 1: no column is called") and "Line 2:" in printed
    assert not Path("other.json").exists()


@pytest.mark.parametrize(
    ("lines", "options", "sentence"),
    [
        (b"", "--n 5000 --epsilon 1", "A plan has between 1 and"),
        (b"\xff\xfe\x00people", "--n 5000 --epsilon 1", "Line 1:"),
        (b"people by region", "--n 5000 --epsilon -1", "Privacy budget must"),
        (b"people by region", "--n 5000 --epsilon nan", "Privacy budget must"),
        (b"people by region", "--n 0 --epsilon 1", "n "),
        (b"people by region\n" * 5_000_000, "--n 5000 --epsilon 1", "The list of statistics is too long."),
    ],
    ids=["empty", "bytes", "negative", "nan", "no rows", "long"],
)
def test_lines_and_numbers_that_make_no_plan_are_refused(
    capsys: pytest.CaptureFixture[str], lines: bytes, options: str, sentence: str
) -> None:
    Path("codebook.csv").write_text(CODEBOOK)
    Path("lines.txt").write_bytes(lines)
    code, printed = told(capsys, f"plan codebook.csv lines.txt {options}")
    assert code == 1 and sentence in printed and not Path("plan.json").exists()
    assert printed.count("\n") == 1


@pytest.mark.slow
def test_a_terminal_without_greek_letters_is_told_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, REGISTER)
    variables = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "dprelease.commands", "ledger", "show"]
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    assert "Spent ? 0 of ? 1" in done.stdout


@pytest.mark.slow
def test_what_was_changed_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, REGISTER)
    told(capsys, "release request.json data.csv")
    certificate = json.loads(Path("certificate.json").read_bytes())
    Path("pretty.json").write_text(json.dumps(certificate, indent=2))
    assert "canonical form" in told(capsys, "verify pretty.json counts.csv")[1]
    Path("counts.csv").write_text("refused,cell,value,rows\n")
    assert told(capsys, "verify certificate.json counts.csv") == (
        1, "The file counts.csv is not the one that was released.\n",
    )  # fmt: skip


WRONG = {
    "verify missing.json": "No such file",
    "release data.csv data.csv": "request is not JSON",
    "release . data.csv": "not a folder or a device",
    "release /dev/zero data.csv": "not a folder or a device",
    "release long.json data.csv": "The request is too long",
    "verify request.json long.json": "These files would take 16,384 MiB of memory",
    "ledger check --against /dev/zero": "not a folder or a device",
    "release plan.json --draw 0": "number of a repetition",
    "release request.json missing.csv": "no such file",
    "ledger register data.csv --name x --epsilon 1": "give a public n with --n",
    "ledger register data.csv --name x --epsilon 0 --n 3": "A budget needs",
    "ledger register data.csv --name x --epsilon 1 --n 3 --person who": "no such person column",
    "ledger register data.csv --name x --epsilon 1 --n 3 --rows 2": "needs a person column",
    "ledger register data.csv --name x --epsilon 1 --n 3": "registered already",
    "ledger register data.csv --name x --epsilon 1 --n 3 --role analyst": "Only the data owner",
    "ledger budget --epsilon 5 --reason more --role analyst": "Only the data owner",
    "ledger version data.csv --role analyst": "Only the data owner",
    "ledger publish 1 --role analyst": "Only the data owner",
    "ledger publish 1": "no such release",
    "ledger publish 99999999999999999999": "no such release",
    "ledger register data.csv --name x --epsilon 1 --n 99999999999999999999": "a public n",
    "ledger register data.csv --name x --epsilon 1 --n 3 --person job --rows 1001": "between 1 and 1,000",
    "ledger machine-failed 1 --role analyst": "Only the data owner",
    "ledger machine-failed 1": "no such attempt",
    "ledger check --dataset ../../etc": "no such data set",
    "ledger check --ledger nowhere": "There is no ledger",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", WRONG)
def test_what_goes_wrong_is_one_sentence(capsys: pytest.CaptureFixture[str], command: str) -> None:
    told(capsys, REGISTER)
    Path("plan.json").write_bytes(plan_of().text)
    with Path("long.json").open("wb") as file:
        file.truncate(1 << 34)  # none of it is on the disk
    code, sentence = told(capsys, command)
    assert code == 1 and WRONG[command] in sentence and sentence.count("\n") == 1


@pytest.mark.slow
def test_lines_above_the_header_are_skipped_only_where_it_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """A title that is guessed could be a person's row."""
    Path("titled.csv").write_text("Report of 2026\n" + Path("data.csv").read_text(encoding="utf-8"), encoding="utf-8")
    command = REGISTER.replace("data.csv", "titled.csv")
    code, sentence = told(capsys, command)
    assert code == 1 and "row 1 could be column names or data" in sentence
    assert "Skip a title above the header with --format skip=1" in sentence
    assert told(capsys, f"{command} --format skip=1")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("planned", [False, True])
def test_a_release_reads_the_file_as_its_request_says(capsys: pytest.CaptureFixture[str], planned: bool) -> None:
    """Semicolons alone would have the decimal comma guessed: 7.5 would be no number, and every cell the first."""
    Path("points.csv").write_text("age;job\n" + "7.5;cook\n" * 40 + "-99;cook\n" * 10)
    settings = Format(separator=";", decimal=".", missing=("-99",))
    plan = replace(plan_of().with_losses({0: 5, 1: 5}), file_format=settings)
    asked = plan if planned else request_of(epsilon=10, file_format=settings)
    Path("request.json").write_bytes(asked.text)
    register = REGISTER.replace("data.csv", "points.csv").replace("--epsilon 1 ", "--epsilon 20 ")
    assert told(capsys, [*register.split(), "--format", "decimal=. missing=-99"])[0] == 0
    code, sentence = told(capsys, ["release", "request.json", "points.csv", "--format", "decimal=,"])
    assert code == 1 and "The request and --format disagree on “decimal”" in sentence
    code, sentence = told(capsys, "release request.json points.csv --out first")
    assert code == 0 and "fields between semicolons, first row of names, decimal sign “.”" in sentence
    name = "01-counts.csv" if planned else "counts.csv"
    rows = [float(line.rpartition(",")[2]) for line in Path("first", name).read_text().splitlines()[1:]]
    assert rows[1] == max(rows) and abs(rows[1] - 40) < 25
    certificate = json.loads(Path("first/certificate.json").read_bytes())
    assert certificate["request"]["data"]["file_format"] == {
        "type": "Format",
        "separator": ";",
        "decimal": ".",
        "missing": ["-99"],
    }
    files = " ".join(str(path) for path in Path("first").glob("*.csv"))
    assert told(capsys, f"verify first/certificate.json {files}")[0] == 0
    assert not Path("first/with_opendp.py").exists(), "it reads commas and points alone"


def test_a_request_says_that_row_1_is_data(capsys: pytest.CaptureFixture[str]) -> None:
    """Else it was left to --header, and the first record of a file could be taken for names."""
    Path("bare.csv").write_text("7,cook\n" * 30 + "9,cook\n" * 10)
    line = Number(high=20.0, bits=4)
    reading, queries = Columns(names=("column 1",), on=line), Intervals(domain=line)
    table = read_table(Path("bare.csv"), name="bare.csv", header=False, ask=True)
    request = request_of(epsilon=10, reading=reading, queries=queries, file_format=table.format)
    assert json.loads(request.text)["data"]["file_format"] == {"type": "Format", "header": False} | (
        {"separator": ",", "decimal": "."}
    )
    Path("request.json").write_bytes(request.text)
    register = REGISTER.replace("data.csv", "bare.csv").replace("--epsilon 1 ", "--epsilon 20 ")
    assert told(capsys, f"{register} --header no")[0] == 0
    code, sentence = told(capsys, "release request.json bare.csv --header yes")
    assert code == 1 and "The request and --header disagree on whether row 1 holds names" in sentence
    code, sentence = told(capsys, "release request.json bare.csv --out first")
    assert code == 0 and "first row of data" in sentence


@pytest.mark.slow
def test_a_budget_is_set_again_and_another_file_is_a_version(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, REGISTER)
    Path("more.csv").write_text(ROWS + "7,nurse\n")
    assert "not registered" in told(capsys, "release request.json more.csv")[1]
    assert told(capsys, "ledger version more.csv")[0] == 0
    assert told(capsys, "release request.json more.csv")[0] == 0
    assert "at least what is spent" in told(capsys, "ledger budget --epsilon 0.4 --reason less")[1]
    assert told(capsys, "ledger budget --epsilon 2 --reason more")[0] == 0
    assert "of ε 2, left ε 1.5" in told(capsys, "ledger show")[1]


@pytest.mark.slow
def test_an_analyst_gets_a_release_once_it_is_published(capsys: pytest.CaptureFixture[str]) -> None:
    """The Release page shows it no sooner either."""
    told(capsys, REGISTER)
    for options in ("", " --zip"):
        code, sentence = told(capsys, f"release request.json data.csv --out got --role analyst{options}")
        assert code == 0 and "Entry 1, charged ε 0.5. Not published." in sentence
        assert sentence.endswith("Repeat the request after the data owner has published it.\n")
        assert not Path("got").exists() and "Written" not in sentence
    assert told(capsys, "ledger publish 1")[0] == 0
    assert "Written: " in told(capsys, "release request.json data.csv --out got --role analyst")[1]
    assert told(capsys, "verify got/certificate.json got/counts.csv")[0] == 0
    told(capsys, "release again.json data.csv --out mine")
    assert Path("mine/counts.csv").is_file(), "the data owner has it at once"


NUMBERS = {
    "--epsilon": "ledger register data.csv --name x --n 3 --epsilon {}",
    "--delta": "ledger register data.csv --name x --n 3 --epsilon 1 --delta {}",
    "--n": "ledger register data.csv --name x --epsilon 1 --n {}",
    "--rows": "ledger register data.csv --name x --epsilon 1 --n 3 --person job --rows {}",
    "--draw": "release request.json --draw {}",
    "entry": "ledger publish {}",
    "attempt": "ledger machine-failed {}",
}


@pytest.mark.parametrize("option", NUMBERS)
def test_a_number_with_an_underscore_is_refused(capsys: pytest.CaptureFixture[str], option: str) -> None:
    """A slip for 1.0, and Python reads 10."""
    with pytest.raises(SystemExit) as raised:
        main(NUMBERS[option].format("1_0").split())
    assert raised.value.code == 2
    assert f"argument {option}: invalid" in capsys.readouterr().err and not default_folder().exists()


@pytest.mark.slow
def test_a_reader_that_has_gone_ends_nothing_and_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, REGISTER)
    told(capsys, "release request.json data.csv")
    variables = os.environ | {"PYTHONPATH": str(ROOT)}
    for command, code in (
        ("verify certificate.json counts.csv", 0),
        ("ledger show", 0),
        ("release request.json", 0),
        ("release again.json data.csv --out second", 0),
        ("verify missing.json", 1),
    ):
        reading, writing = os.pipe()
        os.close(reading)
        words = [sys.executable, "-m", "dprelease.commands", *command.split()]
        output, errors = (subprocess.PIPE, writing) if code else (writing, subprocess.PIPE)
        done = subprocess.run(words, env=variables, check=False, stdout=output, stderr=errors)
        os.close(writing)
        assert done.returncode == code and not (done.stdout or done.stderr), command
    assert Path("second/certificate.json").is_file()


def test_a_folder_that_others_may_enter_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, REGISTER)[0] == 0
    default_folder().chmod(0o755)
    code, sentence = told(capsys, "ledger show")
    assert code == 1 and sentence.endswith(f"(`chmod 700`). The ledger is in {default_folder()}.\n")
