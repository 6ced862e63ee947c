"""Evaluators of Inspect tasks for training loops: configure once, await at every checkpoint.

    builder = InspectEvaluatorBuilder(tasks="inspect_evals/aime2024", num_choices=64, ...)
    evaluator = builder()
    metrics = await evaluator(sampling_client)      # {"aime2024/pass@1": 0.85, ...}

Every call is a run of its own, since the weights have changed; evaluators that are awaited at the
same time take turns. The classes are tinker-cookbook's where that is installed: they can be put
into the list of evaluators of its training loops.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passband.errors import InvalidInput
from passband.inspect_evals.bootstrap_utils import (
    bootstrap_mean,
    bootstrap_stderr,
    mean_metric,
    mean_stderr,
)
from passband.inspect_evals.checks import check_config
from passband.inspect_evals.evaluation import Evaluation, task_list
from passband.inspect_evals.target import Target, model_of
from passband.run import Stop, Watcher
from passband.stats.data import Outcomes
from passband.stats.metric import parse_metric

logger = logging.getLogger(__name__)

if TYPE_CHECKING:
    _Base = object
else:
    try:
        from tinker_cookbook.eval.evaluators import SamplingClientEvaluator as _Base
    except ImportError:
        _Base = object


@dataclass(frozen=True, kw_only=True)
class InspectEvaluatorBuilder:
    """The configuration of an evaluator; calling it makes the evaluator."""

    tasks: Any  #: PACKAGE/TASK, FILE.py@TASK or MODULE:FUNCTION, by comma; or Tasks of Inspect
    renderer_name: str | None = None  #: of tinker; elsewhere the server's chat template renders
    model_name: str | None = None  #: the model, or with another target its label
    base_url: str | None = None  #: of an OpenAI-compatible server
    model_args: Mapping[str, str] | None = None  #: of one of Inspect's model providers
    seed: int | None = None  #: base of the seeds, one per problem, trial and call; None: no seeds
    verbose: bool = False  #: log problems and completions
    include_reasoning: bool = False  #: tinker: keep the reasoning beside the completion
    temperature: float = 1.0
    max_tokens: int = 1000
    top_p: float = 1.0
    top_k: int = -1  #: -1: all tokens, and nothing is sent
    num_choices: int = 1  #: generations per problem
    limit: int | None = None  #: problems of each task
    debug_errors: bool = True  #: log the error of every trial that failed
    log_dir: str | None = None  #: where to write an .eval log of each task
    max_connections: int = 512  #: maximum concurrent requests
    log_level: str = "INFO"  #: of the command
    metadata: Mapping[str, str] | None = None  #: to record with the run and its logs
    pass_at_k: int | None = 1
    bootstrap_stderr: bool = True
    bootstrap_iters: int = 1000
    bootstrap_seed: int | None = 42
    out: str | None = None  #: directory to keep the trials in: a run directory for each call

    def __call__(self) -> InspectEvaluator:
        """Return the evaluator: a bootstrapped one if pass@k or its standard error is wanted."""
        if self.pass_at_k is not None or self.bootstrap_stderr:
            return BootstrappedInspectEvaluator(self)
        return InspectEvaluator(self)


class InspectEvaluator(_Base):
    """Asks every problem of Inspect tasks n times, and returns accuracy and standard error."""

    def __init__(self, config: InspectEvaluatorBuilder) -> None:
        self.config = config
        self.failures: dict[str, str] = {}  # tasks of the last call without a metric, and why
        if not task_list(config.tasks):
            raise InvalidInput("tasks is empty; name at least one task.")
        check_config(config)

    async def __call__(
        self, sampling_client: Target = None, *, step: int | str | None = None
    ) -> dict[str, float]:
        """Return the metrics of each task, as {"task/metric": value}.

        `sampling_client` is a sampling client of tinker, the name of a model, a model of Inspect,
        or a function of messages; without one, the configured model is asked. With `out` in the
        configuration, the trials are kept in out/step; a call with the step of an earlier one goes
        on with its run. Cancelling the call ends the run, and keeps what is recorded.
        """
        model, stop = model_of(self.config, sampling_client), Stop()
        with self._directory(step) as directory:
            running = asyncio.ensure_future(
                asyncio.to_thread(self.evaluate, model, directory, _Logged(), stop)
            )
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                stop()
                await asyncio.wait([running])
                running.exception()  # that it was stopped
                raise

    def evaluate(
        self, model: Any, directory: Path, watcher: Watcher, stop: Stop | None = None
    ) -> dict[str, float]:
        """Run the tasks in a directory, resumed if it exists, and return the metrics.

        A task without any is logged and in `failures`; where none has one, the error is raised.
        """
        evaluation = Evaluation(self.config, model, directory)
        metrics: dict[str, float] = {}
        several = evaluation.run(watcher, stop or Stop())
        failures = dict(evaluation.failures)
        for task, outcomes in several.items():
            try:
                metrics |= self.metrics(task, outcomes)
            except InvalidInput as error:
                failures[task] = str(error).removeprefix(f"{task}: ")
        lines = [f"{task}: {why}" for task, why in failures.items()]
        if not metrics:
            raise InvalidInput("\n".join(lines))
        for line in lines:
            logger.error("%s", line)
        self.failures = failures
        return metrics

    def metrics(self, task: str, outcomes: Outcomes) -> dict[str, float]:
        """Return the mean score of a task, and its standard error over problems."""
        values = _values(task, outcomes, "avg")
        _warn_of_no_spread(task, values)
        return {f"{task}/accuracy": mean_metric(values), f"{task}/stderr": mean_stderr(values)}

    @contextmanager
    def _directory(self, step: int | str | None) -> Iterator[Path]:
        if self.config.out is None:
            with tempfile.TemporaryDirectory(prefix="passband-") as directory:
                yield Path(directory)
            return
        parent = Path(self.config.out).absolute()  # Inspect changes the working directory
        yield parent / (_next_name(parent) if step is None else str(step))


class BootstrappedInspectEvaluator(InspectEvaluator):
    """Returns pass@k over n generations of each problem, with a bootstrap over problems."""

    def __init__(self, config: InspectEvaluatorBuilder) -> None:
        super().__init__(config)
        self.k = 1 if config.pass_at_k is None else config.pass_at_k
        if self.k < 1:
            raise InvalidInput(f"pass_at_k must be at least 1; got {self.k}.")
        if self.k > config.num_choices:
            raise InvalidInput(
                f"pass_at_k is {self.k}, but num_choices is {config.num_choices}, the generations "
                f"of each problem; give num_choices={self.k} or more."
            )

    def metrics(self, task: str, outcomes: Outcomes) -> dict[str, float]:
        """Return pass@k of a task, the bootstrap's standard error and its mean."""
        name = f"pass@{self.k}"
        values = _values(task, outcomes, name)
        metrics = {f"{task}/{name}": mean_metric(values)}
        if self.config.bootstrap_stderr:
            _warn_of_no_spread(task, values)
            resamples = (
                mean_metric,
                values,
                self.config.bootstrap_iters,
                self.config.bootstrap_seed,
            )
            metrics[f"{task}/{name}_bootstrap_stderr"] = bootstrap_stderr(*resamples)
            metrics[f"{task}/{name}_bootstrap_mean"] = bootstrap_mean(*resamples)
        return metrics


class _Logged:
    """A watcher that logs warnings and notes."""

    def tick(self, progress: object) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        logger.info("%s", text)

    def warn(self, text: str) -> None:
        logger.warning("%s", text)


def _warn_of_no_spread(task: str, values: Sequence[float]) -> None:
    """Warn where a standard error over problems is undefined, or 0 because all are alike."""
    if len(values) < 2:
        logger.warning("%s: one problem has no standard error over problems.", task)
    elif min(values) == max(values):
        logger.warning("%s: all %d problems have the same value, so the standard error over them "
                       "is 0, which does not say that the value is certain.",
                       task, len(values))  # fmt: skip


def _values(task: str, outcomes: Outcomes, name: str) -> list[float]:
    """Return a metric of each problem that has enough trials; log the problems left out."""
    if outcomes.n_unscored:
        counts = {status: int(counts.sum()) for status, counts in outcomes.unscored.items()}
        listed = ", ".join(f"{count} {status}" for status, count in counts.items())
        logger.warning("%s: trials without a score are left out: %s.", task, listed)
    if outcomes.graded is not None and name != "avg":
        logger.warning("%s: only a score of 1 counts as a pass; some are in between.", task)
        outcomes = outcomes.binarize(1.0)
    metric = parse_metric(name)
    values: list[float] = metric.by_problem(outcomes.under("drop"))[:, 0].tolist()
    if not values:
        raise InvalidInput(f"{task}: no problem has {metric.k} scored trials, as {name} needs.")
    if len(values) < outcomes.n_problems:
        left_out = outcomes.n_problems - len(values)
        logger.warning("%s: %s leaves out %d of %d problems with fewer than %d scored trials.",
                       task, name, left_out, outcomes.n_problems, metric.k)  # fmt: skip
    return values


def _next_name(parent: Path) -> str:
    taken = {path.name for path in parent.iterdir()} if parent.is_dir() else set()
    return next(name for i in range(10**6) if (name := f"call-{i:03d}") not in taken)
