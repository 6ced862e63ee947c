"""A task of Inspect as a subject: Inspect executes every trial, and passband records it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from passband.generate.inspect.calls import Trial
from passband.generate.inspect.evaluation import Evaluation
from passband.generate.inspect.sample_result import completion_of
from passband.generate.inspect.source import InspectTask
from passband.generate.problem import Problem
from passband.generate.provider import Completion, Hopeless, Provider, Sampling
from passband.generate.registry import Connection
from passband.generate.secrets import learn_secrets
from passband.generate.subject import Model, Seeds

_ALONE = 10.0  # seconds that the first request may hold up the others
_LARGEST = 20_000  # samples of one evaluation
_RETRIES = 8  # of one request; Inspect alone would go on for ever


class InspectSubject:
    """A model behind a task of Inspect: solvers, tools, sandboxes and scorers are Inspect's."""

    batch = 1
    is_costly = True  # no more trials than are in flight may be lost by a kill

    def __init__(
        self,
        source: InspectTask,
        model: Model,
        connection: Connection,
        reasons: Sequence[str] = (),
    ) -> None:
        self._source = source
        self._model = source.asked(model, connection)
        self._connection = connection
        learn_secrets()  # that Inspect's clients send
        self._evaluations: list[Evaluation] = []  # the last is the current one
        self._first: asyncio.Event | None = None  # whether the first request has
        self._hopeless: Hopeless | None = None  # why there will be no answers
        self.name = self._model.name
        self.address = self._model.address
        self.spec: Mapping[str, Any] = getattr(self.provider, "spec", {})
        self.config = {
            "engine": "inspect",
            "reasons": list(reasons),
            "inspect_ai": source.version,
            "client": self._model.path,
        }

    @property
    def provider(self) -> Provider | None:
        """The provider of passband that is asked; None if Inspect's own client asks."""
        return self._model.provider

    async def answer(
        self, problem: Problem, sampling: Sampling, seeds: Seeds, trials: Sequence[int]
    ) -> Sequence[Completion]:
        """Run one epoch of a sample: the trial's number, counted from 1."""
        is_first, evaluation = self._first is None, self._current(sampling)
        if is_first:
            self._first = asyncio.Event()
        else:
            await self._after_the_first(evaluation)
        trial = Trial(seeds[0], heard=self._first)
        sample = self._source.samples[problem.key]
        try:
            ended = await evaluation.run(sample, trials[0] + 1, trial)
            return [completion_of(ended, trial, self._model.model)]
        except Hopeless as fault:
            self._hopeless = fault
            raise
        finally:
            if is_first and self._first is not None:
                self._first.set()

    def _current(self, sampling: Sampling) -> Evaluation:
        """Return the evaluation to run a sample in; Inspect keeps a few kB of each that it ran."""
        if self._evaluations and self._evaluations[-1].count < _LARGEST:
            return self._evaluations[-1]
        for evaluation in self._evaluations:
            evaluation.finish()
        settings = _settings(self._source.task.config, sampling, self._connection)
        self._evaluations.append(Evaluation(self._source.task, self._model.model, settings))
        return self._evaluations[-1]

    async def _after_the_first(self, evaluation: Evaluation) -> None:
        """Let the first request go alone for a while: a wrong key must not be sent many times."""
        assert self._first is not None
        if not self._first.is_set():
            await evaluation.begun.wait()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._first.wait(), _ALONE)
        if self._hopeless is not None:
            raise self._hopeless

    async def close(self) -> None:
        """End the evaluation, so that another may begin."""
        evaluations, self._evaluations = self._evaluations, []
        for evaluation in evaluations:
            await evaluation.close()
        await self._model.close()


def _settings(config: Any, sampling: Sampling, connection: Connection) -> dict[str, Any]:
    """Return the options of the evaluation: no log, bounded attempts, the run's sampling."""
    generate = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "stop_seqs": list(sampling.stop) or None,
        "max_connections": connection.concurrency,
        "max_retries": _RETRIES if config.max_retries is None else config.max_retries,
        "timeout": config.timeout or round(connection.timeout + connection.outage),
        "attempt_timeout": config.attempt_timeout or max(1, round(connection.timeout)),
        **_extra(sampling),
    }
    return {
        "log_samples": False,
        "log_realtime": False,
        "log_model_api": False,
        "score_display": False,
        "fail_on_error": False,
        "ctl_server": False,
        "max_samples": connection.concurrency,
        **{name: value for name, value in generate.items() if value is not None},
    }


def _extra(sampling: Sampling) -> dict[str, Any]:
    """Return further parameters: those that Inspect knows by name, others for the body."""
    from inspect_ai.model import GenerateConfig

    known = {k: v for k, v in sampling.extra.items() if k in GenerateConfig.model_fields}
    others = {k: v for k, v in sampling.extra.items() if k not in known}
    return {**known, **({"extra_body": others} if others else {})}
