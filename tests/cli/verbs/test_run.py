"""`passband run` from the outside: what a user types, sees and gets wrong."""

import json
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from passband.trials.reader import Trials
from support.runs.commands import Done, finish, run
from support.runs.scripted import write_task
from support.servers.fault_server import FaultServer, ok, status
from support.servers.native_servers import PART, TEXT, THINKING, THOUGHT, content, message
from support.servers.wire_servers import Case, said

pytestmark = pytest.mark.usefixtures("folder")  # a working directory with sums.yaml and a model

TINY = ("run", "arithmetic", "--model", "tiny", "--limit", 10)
INTERNALS = re.compile(
    r"Traceback|File \"|<[a-z_.]+ object|object at 0x|\b[A-Z]\w*(Error|Exception)\b|dataclass"
    r"|PosixPath|None\b|\bself\b|\(\)|\.py\b|pydantic|asyncio"
)


def table(done: Done) -> dict[str, list[str]]:
    """The cells of each row, by the first one; columns are set apart by two blanks."""
    assert done.code == 0, done.err
    rows = [re.split(r"  +", line.strip()) for line in done.out.splitlines()]
    assert set("".join(rows[1])) == {"-"}
    return {row[0]: row[1:] for row in [rows[0], *rows[2:]]}


def refused(done: Done, *told: str, code: int = 2) -> None:
    """Check that a command failed and told why, in words for people."""
    assert done.code == code, done.err
    assert done.out == ""
    for words in told:
        assert words in done.err
    assert not INTERNALS.search(done.err), done.err


def asked_nothing() -> None:
    assert not Path("runs").exists()
    assert not Path("run").exists()


# -- what comes out ------------------------------------------------------------------------


def test_the_default_table() -> None:
    done = run(*TINY, "-n", 4)
    rows = table(done)
    assert rows["metric"] == ["value", "95% interval", "problems", "trials"]
    assert [*rows] == [
        "metric", "exact_match (mean)", "pass@2", "pass@4", "pass^2", "pass^4",
    ]  # fmt: skip
    for cells in [*rows.values()][1:]:
        value, interval, *counts = cells
        low, high = map(float, interval.strip("[]").split(","))
        assert 0 <= low <= float(value) <= high <= 1
        assert counts == ["10", "40"]
    assert "finished: 40/40 trials recorded (40 new)" in done.err
    assert "Intervals (95%) are for problems like these, asked the same way" in done.err
    assert "passband stats runs/tiny -m 'pass@*' --over trials" in done.err
    assert "passband export runs/tiny" in done.err
    assert "passband compare runs/tiny OTHER_RUN" in done.err
    assert not INTERNALS.search(done.out + done.err)


def test_the_commands_it_proposes_work() -> None:
    done = run(*TINY, "-n", 4)
    proposed = re.findall(r"^  passband (.*?)  +#", done.err, flags=re.MULTILINE)
    assert len(proposed) == 5
    for line in proposed[:4]:
        words = [word.strip("'") for word in line.split()]
        again = run(*words)
        assert again.code == 0, again.err


def test_metrics_and_levels_can_be_chosen() -> None:
    wide = table(run(*TINY, "-n", 4, "-m", "pass@1,4", "-m", "avg"))
    assert [*wide] == ["metric", "pass@1", "pass@4", "avg"]
    narrow = table(run(*TINY, "-n", 4, "-m", "pass@1", "--level", "0.5"))
    assert narrow["metric"][1] == "50% interval"
    ends = [json.loads(rows["pass@1"][1]) for rows in (wide, narrow)]
    assert ends[0][0] < ends[1][0] < ends[1][1] < ends[0][1]


def test_quiet_prints_the_table_alone() -> None:
    loud = run(*TINY, "-n", 4)
    quiet = run(*TINY, "-n", 4, "--quiet", "--out", "runs/quiet/tiny")
    assert quiet.out == loud.out
    assert quiet.err == ""


def test_json_lines() -> None:
    done = run(*TINY, "-n", 4, "--json")
    assert done.code == 0
    events = [json.loads(line) for line in done.out.splitlines()]
    assert {event["event"] for event in events} <= {"progress", "warning", "done"}
    last = events[-1]
    assert last["event"] == "done"
    assert (last["ending"], last["directory"]) == ("finished", "runs/tiny")
    (group,) = last["summary"]["groups"]
    assert (group["task"], group["model"], group["n_problems"]) == ("arithmetic", "tiny", 10)
    assert group["statuses"] == {"ok": 40}
    assert [line["metric"] for line in group["lines"]] == [
        "exact_match (mean)", "pass@2", "pass@4", "pass^2", "pass^4",
    ]  # fmt: skip
    for line in group["lines"]:
        estimate = line["estimate"]
        assert estimate["low"] <= estimate["value"] <= estimate["high"]
        assert estimate["over"] == "problems"


def test_a_dry_run_asks_nothing() -> None:
    done = run(*TINY, "-n", 4, "--dry-run")
    assert done.code == 0
    assert "10 problems x 4, 40 missing" in done.out
    assert done.out.endswith("No request was sent.\n")
    asked_nothing()
    assert json.loads(run(*TINY, "-n", 4, "--dry-run", "--json").out)
    asked_nothing()


def test_the_same_command_goes_on(ask: Any) -> None:
    assert "24/24 trials recorded (24 new)" in ask().err
    done = ask()
    assert done.code == 0
    assert "24/24 trials recorded (0 new)" in done.err
    assert "30/30 trials recorded (6 new)" in ask("-n", 5).err
    assert table(ask("-n", 5))["exact_match (mean)"][2:] == ["6", "30"]
    # Fewer than are recorded: nothing is asked, nothing is forgotten.
    assert table(ask("-n", 2, "-q"))["exact_match (mean)"][2:] == ["6", "30"]


@pytest.mark.process
def test_as_a_process() -> None:
    done = finish(*TINY, "-n", 2, "-q", "-m", "pass@1")
    assert done.code == 0, done.err
    assert done.out == run(*TINY, "-n", 2, "-q", "-m", "pass@1").out
    wrong = finish("run", "arithmetc", "--model", "tiny")
    assert (wrong.code, wrong.out) == (2, "")
    told = "passband: there is no task named 'arithmetc'. Did you mean 'arithmetic'?\n"
    assert wrong.err.replace("\r\n", "\n") == told


# -- several tasks -------------------------------------------------------------------------

MEAN = "- {metric: exact_match, repeat_aggregation: mean}"


@pytest.fixture
def two_tasks(folder: Path) -> None:
    for name in ("one", "two"):
        targets = {"a": "1", "b": "2"}
        write_task(folder / "tasks" / "set", MEAN, targets, name=name, more="tag: both_of_them\n")
    (folder / "tasks" / "pair.yaml").write_text("group: pair\ntask: [one, two]\n")
    (folder / "ones.py").write_text("def one(prompt):\n    return '1'\n")


@pytest.mark.usefixtures("two_tasks")
@pytest.mark.parametrize(
    "names",
    [
        ("one", "two"),
        ("pair",),
        ("both_of_them",),
        ("tasks/set",),
        ("pair", "one"),
        ("one", "pair"),
    ],
)
def test_several_tasks(names: tuple[str, ...]) -> None:
    options = ("--model", "python:ones:one", "-n", 2, "--temperature", 0, "--out", "several")
    done = run("run", *names, *options)
    rows = [line.split() for line in done.out.splitlines()[2:]]
    assert [row[:4] for row in rows if row[1] == "exact_match"] == [
        ["one", "exact_match", "(mean)", "0.50"],
        ["two", "exact_match", "(mean)", "0.50"],
    ]
    assert "8/8 trials recorded (8 new)" in done.err
    with Trials("several") as trials:
        assert [each.task for each in trials.runs()] == ["one", "two"]


@pytest.mark.usefixtures("two_tasks")
def test_two_tasks_of_one_name(folder: Path) -> None:
    other = write_task(folder / "other", MEAN, {"a": "1"}, name="one")
    done = run("run", "tasks/set/one.yaml", other, "--model", "python:ones:one")
    refused(done, "two tasks are named 'one'")
    asked_nothing()


# -- trials without a score ----------------------------------------------------------------

CUT = """
from passband.generate.provider import Completion

CUT = Completion("no end", finish="length")
SAID = {"a": [CUT, "1", "0", "1"], "b": ["0", "1", "1", "2"], "c": [CUT] * 4, "d": ["1", CUT, 3, 4]}
ASKED = dict.fromkeys(SAID, 0)


async def model(prompt):
    name = prompt[-1]
    ASKED[name] += 1
    said = SAID[name][ASKED[name] - 1]
    return said if isinstance(said, Completion) else str(said)
"""


def test_the_summary_counts_and_bounds_them(folder: Path) -> None:
    lines = f"{MEAN}\n- {{metric: exact_match, repeat_aggregation: majority}}"
    write_task(folder, lines, dict.fromkeys("abcd", "1"))
    (folder / "cut.py").write_text(CUT)
    done = run(
        "run", "t.yaml", "--model", "python:cut:model", "-n", 4, "--concurrency", 1, "--notes"
    )
    # a 2 of 3, b 2 of 4, c none of none, d 1 of 3; one, none, four and one have no score.
    value = (2 / 3 + 2 / 4 + 1 / 3) / 3
    wrong, right = (2 / 4 + 2 / 4 + 0 + 1 / 4) / 4, (3 / 4 + 2 / 4 + 4 / 4 + 2 / 4) / 4
    assert "6 of 16 trials have no score (6 truncated) and are left out" in done.err
    assert (
        f"pass@1 is {value:.3f}, and would be {wrong:.3f} with all of them wrong and {right:.3f} "
        f"with all of them right" in done.err
    )
    assert "--truncated score" in done.err
    assert "problems contribute unequal numbers of scored trials (3-4)" in done.err
    rows = table(done)
    assert rows["exact_match (mean)"][0] == "0.50"
    assert rows["exact_match (mean)"][2:] == ["3", "1", "6", "6", "10"]
    assert rows["exact_match_1 (majority)"][2:] == ["3", "1", "6", "6", "10"]
    # The same trials again, asked nothing: quietly, and under the other policies.
    again = ("run", "t.yaml", "--model", "python:cut:model", "-n", 4, "-q")
    quiet = run(*again)
    (warning,) = (line for line in quiet.err.splitlines() if not line.startswith("nothing to ask"))
    assert warning.startswith("warning: 6 of 16 trials have no score (6 truncated)")
    failed = run(*again, "--policy", "fail")
    assert table(failed)["exact_match (mean)"][0] == f"{wrong:.2f}"
    assert "6 truncated) and count as failures" in failed.err
    refused(run(*again, "--policy", "error"), "6 truncated without a score")


# -- asked wrongly -------------------------------------------------------------------------

SUMS = ("run", "sums.yaml", "--model", "python:model_of_a_test:answer")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("run", "arithmetc", "--model", "tiny"), "Did you mean 'arithmetic'?"),
        (("run", "nowhere.yaml", "--model", "tiny"), "there is no task file nowhere.yaml"),
        (("run", "rows.jsonl", "--model", "tiny"), "rows.jsonl"),
        (("run", "sums", "--model", "tinny"), "Did you mean 'tiny'?"),
        (("run", "sums", "--model", "gpt-4o"), "openai:NAME with --base-url"),
        (("run", "sums", "--model", "openai:gpt-4o"), "OPENAI_API_KEY is not set"),
        (("run", "sums", "--model", "openai:"), "needs the name of a model"),
        (("run", "sums", "--model", "python:model_of_a_test"), "python:module:function"),
        (("run", "sums", "--model", "python:model_of_a_test:anser"), "Did you mean 'answer'?"),
        (("run", "sums", "--model", "python:no_such_module:f"), "no_such_module"),
        (("run", "sums"), "--model"),
        (("run",), "TASK"),
        ((*SUMS, "-n", "0"), "-n must be at least 1; got 0"),
        ((*SUMS, "-n", "-1"), "-n must be at least 1; got -1"),
        ((*SUMS, "-n", "many"), "-n"),
        ((*SUMS, "--limit", "0"), "--limit must be at least 1; got 0"),
        ((*SUMS, "--temperature", "-1"), "--temperature"),
        ((*SUMS, "--concurrency", "0"), "--concurrency"),
        ((*SUMS, "--truncated", "maybe"), "'leave', 'score'"),
        ((*SUMS, "--nn", "3"), "--nn"),
    ],
)
def test_mistakes(command: tuple[str, ...], told: str) -> None:
    refused(run(*command), told)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--level", "95"), "--level must be between 0 and 1; got 95."),
        (("-m", "passs@1"), "Did you mean 'pass@'?"),
        (("-m", "pass"), "pass needs a k"),
        (("-m", "pass@1", "-m", "pass@8"), "-m pass@8 needs 8 trials of a problem; give -n 8."),
        (("-n", "2", "-m", "pass@1,3"), "-m pass@1,3 needs 3 trials of a problem; give -n 3."),
    ],
)
def test_what_could_not_be_reported_is_not_asked(options: tuple[str, ...], told: str) -> None:
    refused(run(*SUMS, *options), told)
    asked_nothing()


def test_recorded_trials_may_be_more_than_are_asked_for(ask: Any) -> None:
    assert ask("-n", 8, "-q").code == 0
    assert table(ask("-n", 2, "-m", "pass@8", "-q"))["pass@8"][3] == "48"


def test_what_is_wrong_with_a_task_is_told_with_its_line(folder: Path) -> None:
    text = Path("sums.yaml").read_text()
    Path("sums.yaml").write_text(text.replace("repeats: 4", "repeats: four\nmetrc_list: []"))
    done = run(*SUMS)
    refused(done, "sums.yaml:", "repeats must be a whole number", "'metrc_list'")
    asked_nothing()


def test_code_of_a_task_is_not_run_unasked(folder: Path) -> None:
    Path("utils.py").write_text(
        "from pathlib import Path\n"
        "Path('imported').touch()\n"
        "def text(row):\n"
        "    return f\"What is {row['a']} + {row['b']}?\"\n"
    )
    text = Path("sums.yaml").read_text()
    own = re.sub("doc_to_text: .*", "doc_to_text: !function utils.text", text)
    Path("sums.yaml").write_text(own)
    done = run(*SUMS)
    refused(done, "sums.yaml:6:", "!function utils.text", "--trust-task-code")
    assert not Path("imported").exists()
    asked_nothing()
    assert run(*SUMS, "--trust-task-code", "-q").code == 0
    assert Path("imported").exists()


def test_other_settings_are_refused(ask: Any) -> None:
    assert ask("-q").code == 0
    done = ask("--temperature", "0.5")
    refused(done, "run holds trials of sums", "1.0 then, 0.5 now", "--out")


def test_a_rerun_says_first_that_nothing_is_asked(ask: Any) -> None:
    day = datetime.now(timezone.utc).date()
    told = (
        f"nothing to ask: all 24 trials were recorded on {day}; another model or checkpoint needs "
        f"--out DIR or --name"
    )
    assert "nothing to ask" not in ask("-q").err
    assert ask("-q").err == f"{told}\n"
    assert ask().err.startswith(told)
    events = [json.loads(line) for line in ask("--json").out.splitlines()]
    assert events[0] == {"event": "note", "text": told}
    assert "nothing to ask" not in ask("-n", 5, "-q").err


def test_a_task_alone_and_beside_others_is_asked_once(two_tasks: None) -> None:
    model = ("--model", "python:ones:one", "-n", 2, "--temperature", 1)
    assert "4/4 trials recorded (4 new)" in run("run", "one", *model).err
    both, alone = run("run", "one", "two", *model), run("run", "two", *model)
    assert "8/8 trials recorded (4 new)" in both.err
    assert "passband export runs/python-ones-one -o" in both.err
    assert "4/4 trials recorded (0 new)" in alone.err
    assert [path.name for path in Path("runs").iterdir()] == ["python-ones-one"]


def test_a_name_gives_seeds_and_a_directory(folder: Path) -> None:
    for name in ("first", "second"):
        assert run(*SUMS, "--name", name, "-q").code == 0
    assert sorted(path.name for path in Path("runs").iterdir()) == ["first", "second"]
    assert run(*SUMS, "--name", "first", "--out", "elsewhere", "-q").code == 0
    exports = []
    for directory in ("runs/first", "elsewhere", "runs/second"):
        assert run("export", directory, "-o", "trials.jsonl").code == 0
        exports.append(Path("trials.jsonl").read_bytes())
    assert exports[0] == exports[1] != exports[2]


def test_repeats_at_temperature_zero_are_told_before_they_are_asked(ask: Any) -> None:
    told = "warning: sums: temperature 0: 4 trials of a problem are likely identical, worth one.\n"
    assert ask("--temperature", 0, "-q").err.startswith(told)
    assert "likely identical" not in ask("--temperature", 0).err  # nothing is asked
    assert told.strip()[9:] in run(*SUMS, "--temperature", 0, "--dry-run").out


# -- options ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ((*SUMS, "--limit", 1, "--limit", 2), "--limit was given twice; one limit per command."),
        ((*SUMS, "-n", 1, "-n", 2), "-n was given twice; one n per command."),
        ((*SUMS, "--base-url=a", "--base-url", "b"), "has no address; got 2 with --base-url"),
        (("stats", "a.csv", "--level", 0.9, "--level", 0.8), "--level was given twice"),
        (("export", "run", "-o", "a.csv", "-o", "b.csv"), "was given twice"),
        (("run", "sums", "--model", "openai:a,openai:b"), "--model takes one value"),
        ((*SUMS, "--base-url", "http://a,http://b"), "--base-url takes one value"),
        (("run", "", "--model", "tiny"), "the name of a task is empty"),
        (("run", " ", "--model", "tiny"), "the name of a task is empty"),
    ],
)
def test_what_would_be_dropped_silently_is_refused(command: tuple[Any, ...], told: str) -> None:
    refused(run(*command), told)
    asked_nothing()


def test_options_that_mean_several_and_flags_may_be_repeated(ask: Any) -> None:
    assert ask("-m", "pass@1", "-m", "pass@2", "-q", "-q").code == 0


def test_a_dry_run_refuses_what_the_run_refuses(ask: Any) -> None:
    assert ask("-q").code == 0
    for options in (["--temperature", "0.5"], ["--max-tokens", 5], ["-m", "nothing"], ["-n", 0]):
        dry, real = ask(*options, "--dry-run"), ask(*options)
        assert (dry.code, dry.err) == (real.code, real.err)
        assert dry.code == 2
    rows = Path("rows.jsonl")
    rows.write_text(rows.read_text().replace('"a": 1,', '"a": 7,'))
    dry, real = ask("--dry-run"), ask()
    assert (dry.code, dry.err) == (real.code, real.err)
    assert "has changed" in dry.err


@pytest.mark.parametrize(
    ("options", "code"),
    [(("--temperature", "0.5"), 2), (("--dry-run", "-n", 0), 2), (("--level", 3), 2)],
)
def test_an_error_is_an_event_as_well(ask: Any, options: tuple[Any, ...], code: int) -> None:
    assert ask("-q").code == 0
    done = ask("--json", *options)
    event = json.loads(done.out.splitlines()[-1])
    assert (done.code, event["event"], event["exit_code"]) == (code, "error", code)
    assert f"passband: {event['text']}\n" == done.err


def test_an_error_while_it_runs_is_an_event_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-the-screen")
    with FaultServer(status(401)) as server:
        done = run("run", "sums", "--model", "openai:m", "--base-url", server.url, "--json")
    event = json.loads(done.out.splitlines()[-1])
    assert (done.code, event["event"], event["exit_code"]) == (1, "error", 1)
    assert "401" in event["text"]


@pytest.mark.process
def test_an_interrupt_while_it_starts_ends_it_quietly(folder: Path) -> None:
    """The model's module is loaded before anything else can handle the signal."""
    (folder / "slow_to_load.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\ndef answer(prompt): return '1'\n"
    )
    done = finish("run", "sums.yaml", "--model", "python:slow_to_load:answer")
    assert (done.code, done.out, done.err) == (130, "", "")


# -- money ---------------------------------------------------------------------------------


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    with FaultServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def test_a_limit_needs_a_price(server: FaultServer) -> None:
    command = ("run", "sums", "--model", "some-model")
    done = run(*command, "--max-cost", "1")
    refused(done, "--max-cost needs the price of the model", "prices.yaml", "--prices FILE")
    done = run(*command, "--prices", "nowhere.yaml")
    refused(done, "nowhere.yaml")
    Path("prices.yaml").write_text("other: {prompt: 1, completion: 1}\n")
    refused(run(*command, "--prices", "prices.yaml"), "no price for 'some-model'")
    Path("prices.yaml").write_text("some-model: 5\n")
    assert run(*command).code == 2
    assert not server.requests


def test_costs_are_told_and_limited(server: FaultServer) -> None:
    Path("prices.yaml").write_text("some-model: {prompt: 1000, completion: 1000}\n")
    command = ("run", "sums", "--model", "some-model", "--batch", 1, "--concurrency", 1)
    done = run(*command, "-n", 1)
    assert done.code == 0
    assert re.search(r"finished: 6/6 trials recorded \(6 new\) in .*, cost 0\.\d", done.err)
    before = len(server.requests)
    spent = json.loads(run(*command, "-n", 1, "--json").out.splitlines()[-1])["cost"]
    done = run(*command, "-n", 4, "--max-cost", spent * 2)
    assert done.code == 1
    assert "stopped at --max-cost; what was answered is recorded" in done.err
    (proposed,) = re.findall(r"passband run .*--max-cost (\S+)  # go on where", done.err)
    assert 4 * spent <= float(proposed) <= 6 * spent
    assert 2 <= len(server.requests) - before <= 7
    assert run(*command, "-n", 4, "--max-cost", spent * 100, "-q").code == 0


def test_a_key_that_is_wrong_stops_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-the-screen")
    with FaultServer(status(401)) as server:
        done = run("run", "sums", "--model", "openai:m", "--base-url", server.url)
    assert done.code == 1
    assert len(server.requests) == 1
    assert "OPENAI_API_KEY" in done.err or "401" in done.err
    assert "sk-not" not in done.err
    assert not INTERNALS.search(done.err)


# -- what is asked, changed from the command -----------------------------------------------


def asked(server: FaultServer, *options: object, out: str = "run") -> Done:
    """Run the task against a server, with one trial of each problem."""
    where = ("--model", "openai:m", "--base-url", server.url, "--out", out, "-n", 1)
    return run("run", "sums.yaml", *where, *options)


def test_requests_are_changed_from_the_command() -> None:
    with FaultServer(ok) as server:
        options = ("--system", "Be brief.", "--num-fewshot", 1, "--fewshot-as-turns")
        fields = ("--gen", "top_k=20", "--gen", "temperature=", "--gen", "reasoning_effort=low")
        assert asked(server, *options, *fields).code == 0
    for request in server.requests:
        roles = [turn["role"] for turn in request.body["messages"]]
        assert roles == ["system", "user", "assistant", "user"]
        assert request.body["messages"][0]["content"] == "Be brief."
        assert (request.body["top_k"], request.body["reasoning_effort"]) == (20, "low")
        assert "temperature" not in request.body


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        (("--system", "Be brief."), 'system: nothing then, "Be brief." now'),
        (("--num-fewshot", 1), "num_fewshot: nothing then, 1 now"),
        (("--gen", "top_k=20"), "sampling.extra.top_k: nothing then, 20 now"),
        (("--gen", "temperature="), "sampling.temperature: 1.0 then, nothing now"),
    ],
)
def test_trials_with_other_prompts_do_not_mix(options: tuple[object, ...], difference: str) -> None:
    with FaultServer(ok) as server:
        assert asked(server).code == 0
        refused(asked(server, *options), difference)
        assert asked(server, *options, out="other").code == 0
        refused(asked(server, out="other"))
        assert asked(server, *options, out="other").code == 0
        assert len(server.requests) == 12


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--gen", "chat_template_kwargs={a: 1}"), "is not JSON"),
        (("--gen", "temperature=1", "--temperature", 1), "are the same setting"),
        (("--gen", "max_gen_toks=9", "--max-tokens", 9), "are the same setting"),
        (("--fewshot-as-turns",), "no task has worked examples"),
        (("--num-fewshot", 6), "there are only 5 examples"),
    ],
)
def test_wrong_changes_are_refused_before_asking(options: tuple[object, ...], told: str) -> None:
    refused(run("run", "sums.yaml", "--model", "python:model_of_a_test:answer", *options), told)
    asked_nothing()


def test_the_value_of_a_header_is_sent_and_nowhere_else() -> None:
    secret = "sesame-3f9a8b7c6d5e"
    with FaultServer(ok) as server:
        done = asked(server, "--header", f"X-Gate={secret}", "--stream")
    assert done.code == 0, done.err
    assert {request.headers["x-gate"] for request in server.requests} == {secret}
    assert all(request.body["stream"] is True for request in server.requests)
    assert secret not in done.out + done.err
    for file in Path("run").rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes()
    with Trials(Path("run")) as trials:
        assert trials.runs()[0].config["subject"] == {"headers": ["x-gate"]}
    with FaultServer(ok) as server:  # what goes with the requests is no setting of the run
        assert asked(server, "--moved-server").code == 0
        assert not server.requests


@pytest.mark.parametrize("option", [("--header", "X-Gate=secret"), ("--stream",)])
def test_what_goes_to_no_server_is_refused(option: tuple[str, ...]) -> None:
    refused(run(*TINY, *option), "tiny is asked without one")


@pytest.mark.parametrize(
    ("model", "body", "base", "variable"),
    [
        ("anthropic:m", message("end_turn", THINKING, TEXT), "/v1", "ANTHROPIC_API_KEY"),
        ("google:m", content("STOP", THOUGHT, PART), "/v1beta", "GEMINI_API_KEY"),
    ],
)
def test_services_with_a_protocol_of_their_own(
    monkeypatch: pytest.MonkeyPatch, model: str, body: Any, base: str, variable: str
) -> None:
    monkeypatch.setenv(variable, "key-of-a-test-0123456789")
    with FaultServer(Case("some", "answer", body, "stop").play()) as server:
        where = ("--model", model, "--base-url", f"http://127.0.0.1:{server.port}{base}")
        limits = ("--limit", 2, "-n", 2, "--batch", 1, "--max-tokens", 64)
        done = run("run", "sums.yaml", *where, "--system", "Be brief.", *limits, "--out", "run")
    assert done.code == 0, done.err
    assert len(server.requests) == 4
    with Trials(Path("run")) as trials:
        rows = list(trials.trials(trials.run()))
    assert [(row.text, row.reasoning, row.status) for row in rows] == [
        ("4", "two and two", "ok")
    ] * 4


def test_tokens_of_reasoning_are_counted_apart() -> None:
    body = said("stop", "4", reasoning="two and two")
    body["usage"]["completion_tokens_details"] = {"reasoning_tokens": 3}
    body["usage"]["prompt_tokens_details"] = {"cached_tokens": 4}
    with FaultServer(Case("vLLM", "reasoning", body, "stop").play()) as server:
        options = ("--gen", "reasoning_effort=low", "--batch", 1)
        done = asked(server, *options)
        assert (
            "24 of 30 tokens in were from a cache, 18 of 42 tokens out were reasoning" in done.err
        )
        again = asked(server, *options, "--json")
    tokens = {
        "prompt_tokens": 30, "completion_tokens": 42, "reasoning_tokens": 18, "cached_tokens": 24,
    }  # fmt: skip
    assert json.loads(again.out.splitlines()[-1])["tokens"] == tokens
    with Trials(Path("run")) as trials:
        run_of = trials.run()
        assert trials.reasoning_tokens(run_of.number) == 18
        assert trials.cached_tokens(run_of.number) == 24
        assert {(t.reasoning_tokens, t.cached_tokens) for t in trials.trials(run_of)} == {(3, 4)}
    assert run("check", "run").code == 0
    assert "5 tokens in, 7 out (4 cached, 3 reasoning)" in run("show", "run", "--full").out
    shown = json.loads(run("show", "run", "--json").out.splitlines()[0])
    assert (shown["reasoning_tokens"], shown["cached_tokens"]) == (3, 4)


def test_a_study_shows_no_header_either() -> None:
    secret = "sesame-3f9a8b7c6d5e"
    with FaultServer(status(503)) as server:
        models = ("--model", "openai:a", "--model", "openai:b", "--base-url", server.url)
        limits = ("-n", 1, "--max-outage", 0, "--header", f"X-Gate={secret}")
        done = run("run", "sums.yaml", *models, *limits)
    assert done.code != 0
    assert server.requests
    assert secret not in done.out + done.err
