"""What is left at the end of a run may be what always fails: it is given up, not waited for."""

from pathlib import Path
from typing import Any

import pytest

from passband.generate.provider import Completion, Crashed, Provider, Request, Unavailable
from passband.generate.registry import Connection
from passband.run.session import run_session
from passband.run.settings import Patience, Settings
from passband.trials.reader import Trials
from support.runs.runs import sums
from support.samples.stores import recount

QUICK = Patience(first_pause=0.001, longest_pause=0.01, outage=20.0)


class Poisoned(Provider):
    """A model that always fails on one problem."""

    batch = 1

    poison: str

    def __init__(self, fault: Exception) -> None:
        self.fault = fault

    async def generate(self, request: Request) -> list[Completion]:
        if request.messages[-1].content == self.poison:
            raise self.fault
        return [Completion(f"answer {request.seeds[0]} to something", seed=request.seeds[0])]

    async def close(self) -> None:
        pass


class Silent:
    def tick(self, progress: object) -> None:
        pass

    def note(self, text: str) -> None:
        pass

    def warn(self, text: str) -> None:
        pass


@pytest.mark.parametrize("fault", [Crashed("no"), Unavailable("HTTP 500", http=500)])
def test_what_always_fails_is_given_up(tmp_path: Path, fault: Exception) -> None:
    task, model = sums(12), Poisoned(fault)
    model.poison = task.load(None)[0].messages[-1].content
    finished = run_session(
        [task],
        model,
        tmp_path / "run",
        settings=Settings(n=8, concurrency=8, patience=QUICK),
        connection=Connection(),
        watcher=Silent(),
    )
    assert finished.ending == "finished"
    with Trials(tmp_path / "run") as trials:
        assert trials.statuses(1) == {"ok": 88, "gave_up": 8}
        outcomes = trials.outcomes()
    assert outcomes.n_problems == 12
    assert outcomes.unscored["gave_up"].tolist() == [8] + [0] * 11


def test_a_problem_that_was_never_asked_is_there(tmp_path: Path) -> None:
    task, model = sums(3), Poisoned(Crashed("no"))
    model.poison = ""
    options: dict[str, Any] = {"connection": Connection(), "watcher": Silent()}
    run_session([task], model, tmp_path, settings=Settings(n=1, limit=3), **options)
    from passband.trials.store import Store

    store = Store(tmp_path, low_water=0)
    with store.transaction():
        store._connection.execute("DELETE FROM trial WHERE problem=1")
        store._connection.execute("DELETE FROM score WHERE problem=1")
        recount(store)
    store.close()
    with Trials(tmp_path) as trials:
        assert trials.outcomes().trials.tolist() == [1, 0, 1]
