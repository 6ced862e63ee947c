"""The scorer `command`: a checker in the sandbox, and all the ways in which it can fail."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.run.loop.grader import Grader
from passband.score.builtin.made import command
from passband.score.command import CommandScorer, read_reply, request
from passband.score.pipeline import make_scorer
from passband.score.sandbox.protocol import ProgramExit
from passband.score.sandbox.recipe import ZygoteRecipe
from passband.score.sandbox.zygotes import Zygotes
from passband.score.scorer import Reference, ScoredTrial
from passband.tasks.file.loader import load_task
from passband.trials.rows import TrialRow
from support.sandboxes.sandboxes import opened

CHECKER = """
import json, sys
trial = json.load(sys.stdin)
right = trial["answer"] in trial["targets"]
print(json.dumps({"score": right, "detail": f"{trial['doc']['id']} {trial['text']}"}))
"""
FOUR = Reference(("4",), doc={"id": "sum-1"})


@pytest.fixture(scope="module")
def confined() -> Iterator[Zygotes]:
    yield from opened("bubblewrap")


def scorer(*command: str, **options: Any) -> CommandScorer:
    made = make_scorer("command", options={"command": list(command), **options})
    assert isinstance(made, CommandScorer)
    return made


@pytest.mark.process
def test_a_checker_in_python(confined: Zygotes) -> None:
    checking = scorer("python3", "check.py", files={"check.py": CHECKER})
    checking._sandbox = confined
    right = checking.score("4", FOUR, ScoredTrial("It is 4."))
    assert (right.value, right.status, right.detail) == (1.0, "ok", "sum-1 It is 4.")
    wrong = checking.score("5", FOUR)
    assert (wrong.value, wrong.status, wrong.detail) == (0.0, "ok", "sum-1 5")
    assert checking.score(" ", FOUR).status == "no_answer"


@pytest.mark.process
def test_checkers_that_fail(confined: Zygotes) -> None:
    for script, status, words in (
        ("echo yes", "error", "must write"),
        ("echo '{\"score\": 2}'", "error", "got {"),
        ("echo broken >&2; exit 3", "error", "ended with status 3: broken"),
        ("while :; do :; done", "timeout", "longer than"),
        ("head -c 100000 /dev/zero", "error", "more than is read"),
        ("cat /etc/passwd && echo '{\"score\": 1}'", "error", "No such file"),
    ):
        failing = scorer("sh", "-c", script, timeout=1)
        failing._sandbox = confined
        score = failing.score("4", FOUR)
        assert (score.value, score.status) == (None, status), script
        assert words in str(score.detail), script


def test_a_sandbox_that_is_gone_is_an_error_and_never_a_0() -> None:
    checking = scorer("true")
    checking._sandbox = Zygotes("gone", lambda seed: ZygoteRecipe(("/nowhere/bwrap",)))
    row = TrialRow(problem=0, trial=0, status="ok", text="4")
    (score,) = Grader([(1, checking)], [FOUR]).grade(row)
    assert (score.value, score.status) == (None, "error")
    assert "failed 3 times" in str(score.detail)


@pytest.mark.parametrize(
    ("written", "value"),
    [("1", None), ('{"score": true}', 1.0), ('{"score": 0.25, "more": 1}', 0.25),
     ('{"score": -0.1}', None), ('{"score": NaN}', None), ('{"score": 1e999}', None),
     ('{"score": "1"}', None), ('{"score": null}', None), ("[" * 100_000, None), ("", None),
     ('{"score": 1}\n{"score": 0}', None), ('{"score": 1} trailing', None)],
)  # fmt: skip
def test_replies(written: str, value: float | None) -> None:
    if value is None:
        with pytest.raises(InvalidInput, match="must write"):
            read_reply(ProgramExit(0, stdout=written))
    else:
        assert read_reply(ProgramExit(0, stdout=written)) == (value, None)


def test_what_the_command_reads() -> None:
    trial = ScoredTrial("text", "thoughts", status="truncated")
    seen = json.loads(request("4", Reference(("4", "four"), ("a",), {"n": {1}}), trial))
    assert seen == {
        "answer": "4", "targets": ["4", "four"], "choices": ["a"], "doc": {"n": "{1}"},
        "text": "text", "reasoning": "thoughts", "status": "truncated",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "command must be a list"),
        ({"command": "python3 check.py"}, "command must be a list"),
        ({"command": []}, "command must be a list"),
        ({"command": ["sh", 1]}, "command must be a list"),
        ({"command": ["sh"], "timeout": 0}, "timeout must be"),
        ({"command": ["sh"], "memory": "1g"}, "memory must be"),
        ({"command": ["sh"], "files": ["check.py"]}, "hold the content"),
        ({"command": ["sh"], "files": {"../x": ""}}, "relative name"),
        ({"command": ["sh"], "timout": 1}, "Did you mean 'timeout'"),
    ],
)
def test_options_that_are_wrong(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        make_scorer("command", options=options)


def test_the_function_alone_runs_nothing() -> None:
    with pytest.raises(InvalidInput, match="make_scorer"):
        command("4", FOUR, command=["true"])


def test_the_content_of_files_is_part_of_the_identity() -> None:
    one, same, other = (scorer("sh", "a", files={"a": text}) for text in ("1", "1", "2"))
    assert one.identity == same.identity != other.identity
    assert one.spec is not None
    again = make_scorer(**one.spec)
    assert again.identity == one.identity


TASK = """
task: sums
dataset_path: json
dataset_kwargs: {data_files: rows.jsonl}
doc_to_text: "{{question}}"
doc_to_target: answer
metric_list:
  - metric: command
    command: [python3, checks/check.py]
    files: [checks/check.py]
"""


def test_files_beside_the_task_file(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"question": "2+2=", "answer": "4"}\n')
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "check.py").write_text("print(1)")
    (tmp_path / "sums.yaml").write_text(TASK)
    (made,) = load_task(tmp_path / "sums.yaml").scorers
    assert made.spec is not None
    assert made.spec["options"]["files"] == {"checks/check.py": "print(1)"}
    (tmp_path / "checks" / "check.py").unlink()
    with pytest.raises(InvalidInput, match=r"sums.yaml:8.*cannot be read: No such file"):
        load_task(tmp_path / "sums.yaml")
