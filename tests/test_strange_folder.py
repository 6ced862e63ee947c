"""Every verb, standing in a folder of strangers and with keys in the environment.

Modules are planted in the working folder under names that passband and its workers import. None of
them may run, and no process that is started may see a key. A hook in the command's own interpreter,
from a folder beside the working one, notes every process that it starts.

Two verbs run as the installed script. One interpreter, with the script's import path, runs all
others: one for each would spend most of its time on the import of numpy.
"""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from passband.cli.app import Verbs
from support.servers.serving import write_bank_file

pytestmark = [pytest.mark.process, pytest.mark.slow]

PLANTED = "import pathlib; pathlib.Path({marker!r}).write_text(__name__)\n"
STRANGERS = ("functools", "sympy", "re", "types", "json", "math_verify", "jinja2", "passband")
PLACES = {"rendering": "tasks.", "patterns": "score.", "math": "score.workers."}
CANARIES = {"OPENAI_API_KEY": "sk-canary-1", "SECRET_TOKEN": "canary-2"}
HOOK = """
import json, sys
def note(event, arguments):
    if event in ("subprocess.Popen", "os.fork", "os.system", "os.exec", "os.posix_spawn"):
        with open({log!r}, "a") as file:
            file.write(json.dumps([event, *map(repr, arguments)]) + "\\n")
sys.addaudithook(note)
"""
SCRIPT = """
import json, pathlib, sys
from passband.cli import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["passband", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (words, end.code)
    assert not pathlib.Path({marker!r}).exists(), words
"""
TASK = {
    "task": "strange",
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": "rows.jsonl"},
    "doc_to_text": "{% set q = question %}{{ q | regex_replace('(a+)+(b+)+$', '') }}",
    "doc_to_target": "answer",
    "filter_list": [
        {"name": "hard", "filter": [{"function": "regex", "regex_pattern": r"(a)\1|([0-9]+)"}]}
    ],
    "metric_list": [{"metric": "exact_match"}, {"metric": "math"}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the strange working folder; the hook and what it notes are beside it."""
    folder = tmp_path / "strange"
    (folder / "passband").mkdir(parents=True)
    planted = PLANTED.format(marker=str(tmp_path / "marker"))
    for name in STRANGERS:
        (folder / f"{name}.py").write_text(planted)
    (folder / "passband" / "__init__.py").write_text(planted)
    (folder / "strange.yaml").write_text(json.dumps(TASK))
    rows = [{"question": f"{n}+{n}=", "answer": rf"\sqrt{{{4 * n * n}}}"} for n in range(4)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(HOOK.format(log=str(tmp_path / "log")))
    script = SCRIPT.format(marker=str(tmp_path / "marker"))
    (tmp_path / "hook" / "verbs.py").write_text(script)
    return folder


def environment(folder: Path) -> dict[str, str]:
    return os.environ | CANARIES | {"PYTHONPATH": str(folder.parent / "hook")}


def ended_well(folder: Path, *command: str) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, (command, done.stderr)
    assert "canary" not in done.stdout + done.stderr
    assert not (folder.parent / "marker").exists(), command


def started(folder: Path) -> list[list[str]]:
    log = folder.parent / "log"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


INSTALLED = str(Path(sys.executable).with_name("passband"))
VERBS = [
    "ls",
    "metrics",
    "init rows.jsonl",
    "run rows.jsonl --prompt {{question}} --model tiny --max-tokens 24 --out plain",
    "run strange.yaml --model tiny -n 2 --out a",
    "run arithmetic --model tiny --limit 20 -n 2 --temperature 0.5 --out b",
    "run arithmetic --model tiny --limit 20 -n 2 --temperature 2 --out c",
    "run arithmetic --model tiny --limit 20 -n 2 --temperature 1 --out d",
    "show a --wrong",
    "show b --same-wrong",
    "score a --scorer math",
    "label a -m 4 -o labels.csv",
    "stats a",
    "summarize a",
    "compare b c",
    "gate b c --tolerance 0.9",
    "report a b -o report.html",
    "plan --half-width 0.05 --pilot b",
    "calibrate b c d -o bank.jsonl",
    "export b -o trials.jsonl",
    "import trials.jsonl -o imported",
    "merge b -o merged",
    "check a b",
    "backup b copied",
    "salvage b salvaged",
]


def test_no_verb_runs_planted_code_or_shows_a_key(folder: Path) -> None:
    ended_well(folder, INSTALLED, "validate", "strange.yaml")
    script = str(folder.parent / "hook" / "verbs.py")
    ended_well(folder, sys.executable, script, json.dumps([words.split() for words in VERBS]))
    write_bank_file(folder / "served.jsonl")
    start_and_stop(folder, "serve", "served.jsonl", "--port", "0")
    start_and_stop(folder, "view", "a", "--no-browser")
    assert not (folder.parent / "marker").exists()
    processes = started(folder)
    assert {"rendering", "patterns", "math"} <= {
        name
        for _, *arguments in processes
        for name in ("rendering", "patterns", "math")
        if f"passband.{PLACES[name]}{name}" in arguments[1]
    }
    for event, *arguments in processes:
        shown = " ".join(arguments)
        assert event == "subprocess.Popen"
        assert "'-I', '-S', '-B'" in shown
        assert "canary" not in shown
        assert not any(name in shown for name in CANARIES)
        assert repr(str(folder)) not in shown


def test_those_are_all_verbs() -> None:
    verbs = {*Verbs()}
    others = {
        "validate",
        "serve",
        "view",
        "doctor",
    }  # the last: tests/system/processes/test_launch.py
    assert verbs == {*others, *(words.split()[0] for words in VERBS)}


def start_and_stop(folder: Path, *words: str) -> None:
    with subprocess.Popen(
        [INSTALLED, *words],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        readable, _, _ = select.select([process.stdout], [], [], 60)
        assert readable
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def test_python_m_works_in_a_folder_that_was_deleted(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = 'rmdir "$PWD" && exec "$0" -m passband --version'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable], cwd=gone, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_python_m_leaves_the_working_folder_out_as_soon_as_it_can(folder: Path) -> None:
    """What Python imports before passband runs, and `passband` itself, are out of its hands."""
    for name in ("functools", "re", "types", "json", "passband"):
        (folder / f"{name}.py").unlink()
    (folder / "passband" / "__init__.py").unlink()
    (folder / "passband").rmdir()
    for name in ("typer", "yaml", "numpy", "rich"):
        (folder / f"{name}.py").write_text(PLANTED.format(marker=str(folder.parent / "marker")))
    run = ("run", "strange.yaml", "--model", "tiny", "-n", "1")
    ended_well(folder, sys.executable, "-m", "passband", *run)
