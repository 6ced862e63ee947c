"""Adaptive tests on a server of the Trismik protocol."""

from __future__ import annotations

import asyncio
import string
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from passband.adaptive import (
    Item,
    ItemResponse,
    NotFound,
    RemoteError,
    RunResults,
    State,
    TrismikClient,
)
from passband.errors import ScoreBookError, nearest, warn
from passband.generate import Hopeless, ProviderFault
from passband.score import read_choice
from passband.scorebook.inference import InferenceCalls
from passband.scorebook.options import Options
from passband.scorebook.remote_trials import RemoteTrials
from passband.scorebook.results import EvalRun
from passband.scorebook.run_spec import AdaptiveEvalRunSpec

_PAUSE = 0.5  # seconds before the second attempt at an input; doubles each time


class RemoteEngine:
    """Asks the server for items, and the function for answers."""

    def __init__(self, client: TrismikClient, options: Options, seed: int | None) -> None:
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

    def _metadata(self, spec: AdaptiveEvalRunSpec, model: str) -> dict[str, Any]:
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


def _values(results: RunResults, responses: Sequence[ItemResponse]) -> dict[str, Any]:
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
) -> list[dict[str, Any]]:
    correct = {one.dataset_item_id: one.correct for one in responses}
    return [
        {"id": key, "correct": correct.get(key)}
        | ({"output": outputs.get(key)} if with_outputs else {})
        for key in state.responses
    ]
