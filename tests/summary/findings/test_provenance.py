"""Where trials come from: a command that asks for the same, without folders of this machine."""

from pathlib import Path

from passband.summary.findings.provenance import provenance_of
from passband.trials.reader import Trials
from stores import writing


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
