"""Runs with a judge: one server that is both the model and its judge, and what is on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from passband.run.judge.choice import JudgeChoice
from passband.run.session import RunResult
from passband.trials.reader import Trials
from passband.trials.records import ScorerRecord
from passband.trials.rows import CallRow, ScoreRow
from support.runs.runs import NAME, Bench
from support.servers.fault_server import Behaviour, FaultServer, Received, ok, says

JUDGE = "judge-model"
PASS, FAIL = says("Fine.\nVERDICT: PASS"), says("No.\nVERDICT: FAIL")
Judging = Behaviour | Callable[[Received], Behaviour]


def is_judge(request: Received) -> bool:
    return request.body["model"] == JUDGE


def both(judge: Judging, model: Behaviour = ok) -> Callable[[Received], Behaviour]:
    """A script: one behaviour for requests to the judge, another for those to the model."""

    def choose(request: Received) -> Behaviour:
        if not is_judge(request):
            return model
        return judge(request) if callable(judge) else judge

    return choose


def numbered(behaviours: Sequence[Behaviour], then: Behaviour = PASS) -> Judging:
    """One behaviour for each request to the judge, in their order, and another for the rest."""
    left = list(behaviours)
    return lambda request: left.pop(0) if left else then


def calls_to_judge(server: FaultServer) -> list[Received]:
    """The requests to the judge, in the order in which they came."""
    return [request for request in server.requests if is_judge(request)]


def answer_in(request: Received) -> str:
    """The judged answer, as the judge is shown it."""
    prompt = str(request.body["messages"][0]["content"])
    code = prompt.rpartition("marks with the code ")[2].partition(" ")[0]
    inner = prompt.partition(f"<<<ANSWER {code}>>>\n")[2]
    return inner.partition(f"\n<<<END OF ANSWER {code}>>>")[0]


@dataclass
class JudgedBench(Bench):
    """A run directory whose answers are judged."""

    options: dict[str, Any] = field(default_factory=dict)

    def judge(self, server: FaultServer, **options: Any) -> RunResult:
        """Run with a judge; `options` are those of `JudgeChoice` and of `Bench.run`."""
        own = {name: options.pop(name) for name in JudgeChoice.__annotations__ if name in options}
        choice = {"model": f"openai:{JUDGE}", "base_url": server.url, "canaries": 0, **own}
        return self.run(server, judge=JudgeChoice(**choice), **options)

    @property
    def scorer(self) -> ScorerRecord:
        with Trials(self.directory) as trials:
            return next(one for one in trials.run(NAME).scorers if one.name == "judge")

    @property
    def calls(self) -> list[CallRow]:
        with Trials(self.directory) as trials:
            return list(trials.calls(self.scorer.number))

    @property
    def scores(self) -> list[ScoreRow]:
        number = self.scorer.number
        return [score for row in self.rows for score in row.scores if score.scorer == number]

    @property
    def values(self) -> list[float | None]:
        return [score.value for score in self.scores]


def write_judge(folder: Path, **replies: str) -> None:
    """Write a module `judges_here` with a function for each reply."""
    lines = [
        f"def {name}(prompt, seed=None):\n    return {json.dumps(text)}\n"
        for name, text in replies.items()
    ]
    (folder / "judges_here.py").write_text("\n".join(lines))
