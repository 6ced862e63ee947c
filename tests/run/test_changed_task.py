"""A task file or its data that were changed between two runs: what is refused, and what goes on."""

from collections.abc import Callable
from pathlib import Path

import pytest

from passband.trials.reader import Trials
from support.runs.commands import Done, run
from support.runs.runs import NAME, Bench
from support.servers.fault_server import FaultServer

pytestmark = pytest.mark.process


def asked(task: Path, bench: Bench) -> tuple[Done, int]:
    """Run the command; return how it ended, and how many requests it sent."""
    with FaultServer() as server:
        where = ["--model", "openai:m", "--base-url", server.url, "--out", bench.directory]
        done = run("run", task, *where, "--moved-server", "--batch", 1, "-q")
    return done, len(server.requests)


def in_task(old: str, new: str) -> Callable[[Path], None]:
    def change(task: Path) -> None:
        assert old in task.read_text()
        task.write_text(task.read_text().replace(old, new))

    return change


def in_data(old: str, new: str) -> Callable[[Path], None]:
    return lambda task: in_task(old, new)(task.with_name("rows.jsonl"))


def reverse(task: Path) -> None:
    rows = task.with_name("rows.jsonl")
    rows.write_text("".join(reversed(rows.read_text().splitlines(keepends=True))))


def prepend(task: Path) -> None:
    rows = task.with_name("rows.jsonl")
    rows.write_text('{"id": "new", "a": 1, "b": 2, "sum": 3}\n' + rows.read_text())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (in_data('"sum": 44', '"sum": 45'), "'p1' has changed its doc.sum: 44 then, 45 now"),
        (in_data('"a": 18', '"a": 81'), "'p1' has changed"),
        (in_task("What is", "How much is"), "'p0' has changed its messages"),
        (in_task("temperature: 1.0", "temperature: 0.5"), "temperature: 1.0 then, 0.5 now"),
        (in_task("until: []", 'until: ["."]'), "sampling.stop"),
        (in_data('"id": "p1"', '"id": "p0"'), "two problems have the id 'p0'"),
    ],
    ids=["target", "question", "template", "temperature", "until", "duplicate names"],
)
def test_what_trials_depend_on_may_not_change(
    bench: Bench, task_file: Path, change: Callable[[Path], None], told: str
) -> None:
    asked(task_file, bench)
    before = bench.content
    change(task_file)
    done, requests = asked(task_file, bench)
    assert (done.code, requests) == (2, 0)
    assert told in done.err
    assert bench.content == before


@pytest.mark.parametrize(("change", "requests"), [(reverse, 0), (prepend, 2)])
def test_problems_are_known_by_their_names(
    bench: Bench, task_file: Path, change: Callable[[Path], None], requests: int
) -> None:
    asked(task_file, bench)
    before = texts(bench)
    change(task_file)
    done, sent = asked(task_file, bench)
    assert (done.code, sent) == (0, requests)
    now = texts(bench)
    assert before.items() <= now.items()
    assert len(now) == 40 + requests


def texts(bench: Bench) -> dict[tuple[str, int], str | None]:
    """Completions by the names of their problems."""
    with Trials(bench.directory) as trials:
        found = trials.run(NAME)
        names = {number: name for name, number in trials.numbers(found.number).items()}
        return {(names[row.problem], row.trial): row.text for row in trials.trials(found)}


def test_another_filter_scores_again_and_keeps_the_old_scores(
    bench: Bench, task_file: Path
) -> None:
    asked(task_file, bench)
    old = [row.scores[0].value for row in bench.rows]
    assert {0.0, 1.0} == set(old)
    in_task("rules: [last_number]", "rules: [boxed]")(task_file)
    assert asked(task_file, bench)[1] == 0
    assert {row.scores[0].status for row in bench.rows} == {"no_answer"}
    in_task("rules: [boxed]", "rules: [last_number]")(task_file)
    assert asked(task_file, bench)[1] == 0
    assert [row.scores[0].value for row in bench.rows] == old
    with Trials(bench.directory) as trials:
        kept = [trials.score_statuses(scorer.number) for _, _, scorer in trials.all_scorers()]
    assert sorted(map(dict, kept), key=str) == [{"no_answer": 40}, {"ok": 40}]
