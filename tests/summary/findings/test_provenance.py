"""Where trials come from: a command that asks for the same, without folders of this machine."""

from pathlib import Path

from passband.summary.findings.provenance import provenance_of
from passband.trials.reader import Trials
from passband.trials.rows import ScorerEntry
from support.samples.stores import writing


def test_the_command_has_what_the_task_itself_does_not_set(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        store.begin(
            "sums",
            "openai:m",
            spec={
                "model": "openai:m",
                "seed": "s 1",
                "sampling": {"temperature": 0.5, "top_p": 0.9, "max_tokens": 24},
            },
            config={
                "n": 8,
                "path": "/home/someone/tasks/sums.yaml",
                "task": {"generation_kwargs": {"max_gen_toks": 24, "temperature": 1.0}},
                "problems": {"count": 3, "made": "abc"},
            },
            address="http://localhost:8000/v1",
        )
    with Trials(tmp_path) as trials:
        made = provenance_of(trials, trials.run())
    assert made.command == (
        "passband run sums.yaml --model openai:m --base-url http://localhost:8000/v1 -n 8 "
        "--temperature 0.5 --top-p 0.9 --seed 's 1'"
    )
    assert (made.seed, made.digest, made.temperature) == ("s 1", "abc", 0.5)


def test_the_command_names_the_judge(tmp_path: Path) -> None:
    options = {"rubric": {"template": "Is {{ answer }} good?"}, "against": "/home/me/other"}
    spec = {
        "function": "judge", "model": "openai:j", "votes": 3, "options": options,
        "address": "http://localhost:9000/v1",
    }  # fmt: skip
    with writing(tmp_path) as store:
        run = store.begin("sums", "openai:m", spec={"model": "openai:m"}, config={"n": 2})
        store.set_scorers(run, [ScorerEntry("judge", "1", spec)])
    with Trials(tmp_path) as trials:
        made = provenance_of(trials, trials.run())
    assert made.command == (
        "passband run sums --model openai:m -n 2 --judge openai:j --judge-base-url "
        "http://localhost:9000/v1 --rubric RUBRIC_FILE --votes 3 --against other"
    )


def test_a_judge_of_the_task_brings_its_rubric(tmp_path: Path) -> None:
    spec = {"function": "judge", "model": "openai:j", "votes": 1, "options": {"rubric": {}}}
    listed = {"metric_list": [{"metric": "judge", "rubric": "own.yaml"}]}
    with writing(tmp_path) as store:
        run = store.begin("sums", "m", spec={"model": "m"}, config={"task": listed})
        store.set_scorers(run, [ScorerEntry("judge", "1", spec)])
    with Trials(tmp_path) as trials:
        made = provenance_of(trials, trials.run())
    assert made.command == "passband run sums --model m --judge openai:j"
