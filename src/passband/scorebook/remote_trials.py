"""The trials table of a test that a server chose the items of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from passband.adaptive import ADAPTIVE, Item, ItemResponse, State
from passband.errors import InvalidInput
from passband.scorebook.run_spec import AdaptiveEvalRunSpec
from passband.trials import (
    IDENTITY,
    Imported,
    ScorerEntry,
    ScoreRow,
    Status,
    Store,
    StoredProblem,
    TrialRow,
    canonical_json,
    imported_spec,
)

_SCORER = ScorerEntry("correct", IDENTITY, {"bounds": [0.0, 1.0]})


class RemoteTrials:
    """Records every answer once the server has it, and at the end how it was graded.

    The run is marked as imported, so that nothing is asked in addition to it: its items are the
    choice of the server.
    """

    def __init__(self, spec: AdaptiveEvalRunSpec, directory: Path, model: str, server: str) -> None:
        self._spec, self._server = spec, server
        self._store = Store(directory)
        self._numbers: dict[str, int] = {}
        self._asked: dict[str, int] = {}  # how often
        try:
            self._source = self._store.add_source("trismik", server, self._digest(directory))
            self._run = self._store.begin(
                spec.test,
                model,
                spec=imported_spec(self._settings()),
                config=self._config({}),
                address=server,
                source=self._source,
            )
            self._refuse_earlier()
            (self._scorer,) = self._store.set_scorers(self._run, [_SCORER])
        except BaseException:
            self._store.close()
            raise

    def __enter__(self) -> RemoteTrials:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._store.close()

    def add(self, item: Item, text: str | None, status: Status, state: State | None) -> None:
        """Record the answer to an item, and what the server knew after it."""
        number = self._numbers.setdefault(item.id, len(self._numbers))
        trial = self._asked.get(item.id, 0)  # a server may ask an item again
        self._asked[item.id] = trial + 1
        problem = StoredProblem(number, number, item.id, None, _record(item))
        reason = f"chosen by {self._server}"
        if state is not None and state.thetas and state.std_error_history:
            reason += f"; theta {state.thetas[-1]:.4f} ± {state.std_error_history[-1]:.4f} after it"
        row = TrialRow(number, trial, status, text, reason=reason, source=self._source)
        with self._store.transaction():
            self._store.put_problems(self._run, [problem])
            self._store.append(self._run, [row])

    def finish(self, run_id: str, state: State, responses: Sequence[ItemResponse]) -> None:
        """Record the path of the test, and the grades where the server gives them."""
        graded, seen = [], dict.fromkeys(self._numbers, 0)
        for one in responses:
            trial = seen.get(one.dataset_item_id, 0)
            if trial >= self._asked.get(one.dataset_item_id, 0):
                continue  # no answer of this test
            seen[one.dataset_item_id] = trial + 1
            if one.correct is not None:
                score = ScoreRow(self._scorer, float(one.correct))
                graded.append((self._numbers[one.dataset_item_id], trial, score))
        with self._store.transaction():
            self._store.add_scores(graded)
            self._store.set_config(self._run, self._config(_path(run_id, state)))

    def _refuse_earlier(self) -> None:
        """Refuse a directory that has answers: a test on a server cannot be gone on with."""
        if self._store.problems(self._run):
            raise InvalidInput(
                f"{self._store.directory} holds an earlier test on {self._server}, and the server "
                "starts a new one each time. Give another directory with out=, or none."
            )

    def _settings(self) -> dict[str, Any]:
        spec = self._spec
        return {
            "server": self._server,
            "dataset": spec.dataset,
            "split": spec.split,
            "hyperparameters": dict(spec.hyperparameter_config),
        }

    def _config(self, path: Mapping[str, Any]) -> dict[str, Any]:
        spec = self._spec
        ids = {"experiment_id": spec.experiment_id, "project_id": spec.project_id}
        return {
            **Imported(1).config(),
            "task": {ADAPTIVE: {**self._settings(), **path}},
            "subject": {**ids, "metadata": dict(spec.metadata or {})},
        }

    def _digest(self, directory: Path) -> str:
        """Return what tells this source from others: there is no file that could be hashed."""
        return hashlib.sha256(f"{self._server} {directory.absolute()}".encode()).hexdigest()


def _path(run_id: str, state: State) -> dict[str, Any]:
    ends = {"theta": state.thetas[-1], "std_error": state.std_error_history[-1]}
    return {"run_id": run_id, **ends, **state.model_dump(mode="json")}


def _record(item: Item) -> str:
    choices = [choice.text for choice in item.choices or ()]
    doc = {"id": item.id, "choices": [choice.id for choice in item.choices or ()]}
    record = {"messages": [["user", item.question]], "targets": [], "choices": choices, "doc": doc}
    return canonical_json(record)
