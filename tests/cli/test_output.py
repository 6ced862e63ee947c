"""Hostile names of tasks, models, problems and files go through every verb as mere text."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from passband.cli.output import print_json
from support.runs.commands import run
from support.samples.stores import filled

ANSI = "\x1b]52;c;aGk=\x07\x1b]8;;http:x\x1b\\\x1b[2J\x7f\x9b31m\u202e\u2066[red]x"
FORMULA = '=HYPERLINK("http://x")'
TASK = """
task: {task}
dataset_path: json
dataset_kwargs: {{data_files: rows.jsonl}}
problem_id: id
doc_to_text: "{{{{ a }}}}="
doc_to_target: "{{{{ a }}}}"
repeats: 2
metric_list: [{{metric: exact_match}}]
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with two runs, a task and a log, all of them named by an enemy."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PASSBAND_TASKS", raising=False)
    for name in ("one", "two", "three"):
        filled(tmp_path / f"{name}{ANSI}", [[1, 0], [1, 1], [0, 0]], task=ANSI, model=name + ANSI)
    rows = [{"id": f"{ANSI}{n}", "a": str(n)} for n in range(3)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / f"{ANSI}.yaml").write_text(TASK.format(task=json.dumps(ANSI)))
    (tmp_path / f"bad{ANSI}.yaml").write_text(json.dumps({ANSI: ANSI, "metric_list": [ANSI]}))
    trials = [
        {"problem": f"{ANSI}{n}", "score": n % 2, "model": ANSI, "error": ANSI} for n in range(4)
    ]
    (tmp_path / f"log{ANSI}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in trials))
    return tmp_path


VERBS = {
    "stats": ["stats", "one*"],
    "stats markdown": ["stats", "one*", "--format", "markdown"],
    "stats latex": ["stats", "one*", "--format", "latex"],
    "stats csv": ["stats", "log*", "--by", "error", "--format", "csv"],
    "stats json": ["stats", "one*", "--json"],
    "stats by": ["stats", "log*", "--by", "error"],
    "compare": ["compare", "one*", "two*"],
    "compare json": ["compare", "one*", "two*", "--json"],
    "plan": ["plan", "--pilot", "one*", "--half-width", "0.1", "--out", f"plan{ANSI}.json"],
    "summarize": ["summarize", "one*", "--output", "-"],
    "score": ["score", "one*", "--scorer", "exact_match"],
    "merge": ["merge", "one*", "two*", "--output", f"merged{ANSI}"],
    "salvage": ["salvage", "one*", f"saved{ANSI}"],
    "import": ["import", "log*", "--output", f"imported{ANSI}"],
    "export": ["export", "one*", "--format", "csv", "-o", f"out{ANSI}.csv"],
    "export to another tool": ["export", "one*", "--format", ANSI],
    "ls": ["ls"],
    "ls json": ["ls", "--json"],
    "validate": ["validate", "bad*"],
    "dry run": ["run", "TASK", "--model", "tiny", "--dry-run"],
    "run": ["run", "TASK", "--model", "tiny", "--out", f"run{ANSI}"],
    "calibrate": ["calibrate", "one*", "two*", "three*", "--output", f"bank{ANSI}.jsonl"],
    "no such file": ["stats", f"nothing{ANSI}"],
    "no such option": ["stats", f"--{ANSI}"],
    "no such verb": [ANSI],
    "extra argument": ["ls", ANSI],
    "option of the command": [f"--{ANSI}", "ls"],
    "wrong value": ["stats", "one*", "--over", ANSI],
    "no such metric": ["stats", "one*", "-m", ANSI],
}


SILENT = (
    "score",
    "export",
    "calibrate",
    "stats latex",
    "stats markdown",
)  # about names they say nothing
ESCAPED = ("stats latex", "stats markdown")


def expanded(words: list[str]) -> list[str]:
    """Replace patterns by the names that they match, as a shell does."""
    names = {"TASK": f"{ANSI}.yaml"}
    return [
        names.get(word) or (str(next(Path().glob(word))) if word.endswith("*") else word)
        for word in words
    ]


@pytest.mark.parametrize("verb", VERBS)
def test_a_terminal_shows_hostile_text_and_obeys_none(place: Path, verb: str) -> None:
    done = run(*expanded(VERBS[verb]))
    text = done.out + done.err
    is_json = VERBS[verb][-1] == "--json"
    allowed = {"\n", "\x7f"} if is_json else {"\n"}  # JSON leaves DEL, which terminals ignore
    assert not {sign for sign in text if not sign.isprintable()} - allowed, (verb, text)
    assert "Traceback" not in text
    assert "x1b]52" in text or "u001b]52" in text or verb in SILENT
    assert "[red]" in text or "x1b]8" not in text or verb in ESCAPED  # nor is it markup


def test_csv_has_no_formula(place: Path) -> None:
    models = [FORMULA, "-1+cmd|x", "@x", "+y", "＝1", "-5", "plain"]
    rows = [{"problem": n, "score": n % 2, "model": model} for model in models for n in range(4)]
    (place / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("stats", "t.jsonl", "--format", "csv", "-q")
    shown = [row["model"] for row in csv.DictReader(io.StringIO(done.out))]
    assert shown == [f"'{model}" for model in models[:5]] + models[5:]
    ranks = run("compare", "t.jsonl", "--format", "csv", "-q").out
    assert f"'{FORMULA[:5]}" in ranks
    assert f",{FORMULA[:5]}" not in ranks.replace('"', "")


def test_printed_json_is_the_same_value(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"é \x7f\x9b\u202e\u2028\U000e0041 模": [ANSI]}
    print_json(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    text = capsys.readouterr().out
    assert json.loads(text) == value
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    assert "é" in text
