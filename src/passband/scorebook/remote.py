"""Adaptive tests on a server of the Trismik protocol, which chooses the items and grades them."""

from __future__ import annotations

import asyncio
import hashlib
import string
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from passband.adaptive import (
    ADAPTIVE,
    Item,
    ItemResponse,
    NotFound,
    RemoteError,
    RunResults,
    State,
    TrismikClient,
)
from passband.errors import InvalidInput, ScoreBookError, nearest, warn
from passband.generate import Hopeless, JsonMapping, JsonObject, ProviderFault
from passband.score import read_choice
from passband.scorebook.inference import InferenceCalls
from passband.scorebook.options import EvaluationSettings
from passband.scorebook.results import EvalRun
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

    def _settings(self) -> JsonObject:
        spec = self._spec
        return {
            "server": self._server,
            "dataset": spec.dataset,
            "split": spec.split,
            "hyperparameters": dict(spec.hyperparameter_config),
        }

    def _config(self, path: JsonMapping) -> JsonObject:
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


def _path(run_id: str, state: State) -> JsonObject:
    ends = {"theta": state.thetas[-1], "std_error": state.std_error_history[-1]}
    return {"run_id": run_id, **ends, **state.model_dump(mode="json")}


def _record(item: Item) -> str:
    choices = [choice.text for choice in item.choices or ()]
    doc = {"id": item.id, "choices": [choice.id for choice in item.choices or ()]}
    record = {"messages": [["user", item.question]], "targets": [], "choices": choices, "doc": doc}
    return canonical_json(record)


_PAUSE = 0.5  # seconds before the second attempt at an input; doubles each time


class RemoteEngine:
    """Asks the server for items, and the function for answers."""

    def __init__(
        self, client: TrismikClient, options: EvaluationSettings, seed: int | None
    ) -> None:
        self._client, self._options, self._seed = client, options, seed

    @property
    def name(self) -> str:
        """The address of the server."""
        return self._client.address

    async def splits(self, dataset: str) -> Sequence[str]:
        """Return the splits of a data set of the server."""
        try:
            return (await self._client.get_dataset_info(dataset)).splits
        except NotFound as error:
            hint = await self._nearest(dataset)
            raise ScoreBookError(f"{error}{hint} No bank here has that name either.") from None

    async def run(
        self, spec: AdaptiveEvalRunSpec, calls: InferenceCalls, model: str, directory: Path
    ) -> EvalRun:
        """Run a test to its end, and record every answer."""
        with RemoteTrials(spec, directory, model, self.name) as trials:
            answers = _Answers(calls, trials, self._options.retries)
            results = await self._client.run(
                test_id=spec.dataset,
                split=str(spec.split),
                project_id=spec.project_id,
                experiment=spec.experiment_id,
                run_metadata=self._metadata(spec, model),
                item_processor=answers.answer,
                seed=self._seed,
                on_step=answers.taken,
            )
            responses = await self._responses(results)
            trials.finish(results.run_id, results.state, responses)
        values = _values(results, responses)
        items = _items(results.state, responses, answers.outputs, self._options.return_output)
        return EvalRun(spec, self.name, directory, values, items)

    def _metadata(self, spec: AdaptiveEvalRunSpec, model: str) -> JsonObject:
        return {
            "model_metadata": {"name": model, **dict(spec.metadata or {})},
            "test_configuration": {"dataset": spec.test},
            "inference_setup": dict(spec.hyperparameter_config),
        }

    async def _responses(self, results: RunResults) -> Sequence[ItemResponse]:
        """Return the graded answers; the test is paid for, so a failure here is a warning."""
        try:
            return (await self._client.run_summary(results.run_id)).responses
        except RemoteError as error:
            warn(f"run {results.run_id} is complete, but its grades cannot be read: {error}")
            return ()

    async def _nearest(self, dataset: str) -> str:
        with suppress(RemoteError):
            known = [info.id for info in await self._client.list_datasets()]
            names = ", ".join(known[:20]) or "none"
            return nearest(dataset, known) or f" The server has {names}."
        return ""


class _Answers:
    """Gets the answers of one test, and has each recorded."""

    def __init__(self, calls: InferenceCalls, trials: RemoteTrials, retries: int) -> None:
        self._calls, self._trials, self._retries = calls, trials, retries
        self.outputs: dict[str, str] = {}

    async def answer(self, item: Item) -> str:
        """Return the answer to an item; one that cannot be had is recorded, and ends the test."""
        try:
            output = await self._output(item)
        except Hopeless:
            raise
        except ProviderFault as fault:
            self._trials.add(item, None, "gave_up", None)
            raise ScoreBookError(f"item {item.id!r} of the test got no answer: {fault}.") from fault
        self.outputs[item.id] = output
        chosen = choice_id(item, output)
        if chosen is None:
            self._trials.add(item, output, "invalid", None)
            ids = ", ".join(choice.id for choice in item.choices or ())
            raise ScoreBookError(
                f"item {item.id!r}: {output!r:.80} is none of its choices; inference must return "
                f"the id of one of them: {ids}."
            )
        return chosen

    def taken(self, item: Item, answer: str, state: State) -> None:
        """Record an answer that the server has taken."""
        self._trials.add(item, self.outputs[item.id], "ok", state)

    async def _output(self, item: Item) -> str:
        for attempt in range(self._retries):
            try:
                return await self._calls.text_of(item.as_input())
            except Hopeless:
                raise
            except ProviderFault:
                await asyncio.sleep(_PAUSE * 2**attempt)
        return await self._calls.text_of(item.as_input())


def choice_id(item: Item, output: str) -> str | None:
    """Return the id of the choice that an output names, or a text as it is.

    The id itself goes before all readings of the output: "(B)", "B. Paris", or the choice's text.
    """
    if item.choices is None:
        return output
    ids = [choice.id for choice in item.choices]
    if output in ids:
        return output
    letter = read_choice(output, tuple(choice.text for choice in item.choices))
    return None if letter is None else ids[string.ascii_uppercase.index(letter)]


def _values(results: RunResults, responses: Sequence[ItemResponse]) -> JsonObject:
    score, state = results.score, results.state
    path = [
        {"id": key, "theta": theta, "std_error": se}
        for key, theta, se in zip(
            state.responses, state.thetas, state.std_error_history, strict=False
        )
    ]
    return {
        "run_id": results.run_id,
        "score": {"theta": score.theta, "std_error": score.std_error},
        "theta": score.theta,
        "std_error": score.std_error,
        "n_items": len(state.responses) or len(responses),
        "stop_reason": "ended by the server",
        "path": path,
        "responses": None,
    }


def _items(
    state: State, responses: Sequence[ItemResponse], outputs: dict[str, str], with_outputs: bool
) -> list[JsonObject]:
    correct = {one.dataset_item_id: one.correct for one in responses}
    return [
        {"id": key, "correct": correct.get(key)}
        | ({"output": outputs.get(key)} if with_outputs else {})
        for key in state.responses
    ]
