"""Records of a run directory: runs, problems, scorers, sources and sessions.

A run's label is what tables call its model: `--name` if it was given, else the model's own name. It
is kept in the config of the run and tells apart checkpoints served under one name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from passband.errors import InvalidInput, nearest
from passband.stats.data import UNSTATED, Scale
from passband.trials.settings import Imported, addresses_of, is_imported

MAIN = "main_scorer"  # an entry of a run's config: the scorer that `passband score` made main
ORDER, SHUFFLED = "order", "shuffled"  # an entry of a run's config: see `RunRecord.is_shuffled`


@dataclass(frozen=True)
class ScorerRecord:
    """A scorer that a run uses."""

    number: int
    name: str
    identity: str
    spec: Mapping[str, Any] | None = None  # from which it can be rebuilt; None where it cannot

    @property
    def is_rebuildable(self) -> bool:
        """Whether the scorer can be rebuilt from its specification."""
        return self.spec is not None and "function" in self.spec and not self.is_label

    @property
    def is_judge(self) -> bool:
        """Whether its scores are the opinion of a model."""
        return (self.spec or {}).get("function") == "judge"

    @property
    def is_label(self) -> bool:
        """Whether its scores are what a person said of some of the trials."""
        return (self.spec or {}).get("function") == "label"

    @property
    def scale(self) -> Scale:
        """The scale of the scores, as far as the scorer states it."""
        spec = self.spec or {}
        low, high = spec.get("bounds") or (None, None)
        # A registered function states which of its scores is the best, of old only if the lowest.
        stated = False if self.is_rebuildable else None
        return Scale(low, high, spec.get("lower_is_better", stated))


@dataclass(frozen=True)
class SourceRecord:
    """A file that trials were imported from."""

    number: int
    reader: str
    file: str
    sha256: str
    added: str


class SessionRecord(NamedTuple):
    """A process that asked; one that is going on, or was killed, has no end."""

    started: str
    ended: str | None
    seconds: float | None
    trials: int | None
    concurrency: int
    version: str
    address: str | None
    pid: int | None
    host: str | None

    def unended(self) -> SessionRecord:
        """Return the session as it was recorded when it began."""
        return self._replace(ended=None, seconds=None, trials=None)


class ProblemCoverage(NamedTuple):
    """How many problems of a run have trials."""

    asked: int  # problems of the task that have any
    not_asked: int  # problems of the task that have none
    gone: int  # problems that have some, and that the task has no longer, or beyond its limit


@dataclass(frozen=True)
class RunRecord:
    """One task asked of one model with one set of settings."""

    number: int
    name: str  # what seeds are derived from
    task: str
    model: str
    spec: Mapping[str, Any]
    config: Mapping[str, Any]
    created: str
    address: str | None  # of the server that was asked first
    source: int | None
    scorers: tuple[ScorerRecord, ...]  # the main one first
    label: str = ""  # what tables call its model: the name given to a checkpoint, or the model
    stated: Mapping[str, Scale] = field(default_factory=dict)  # scales that the caller states

    @property
    def is_imported(self) -> bool:
        """Whether its trials come from the log of another tool."""
        return is_imported(self.spec)

    @property
    def addresses(self) -> list[str]:
        """Every server that was asked, the first one first."""
        return addresses_of(self.spec, self.address)

    @property
    def is_shuffled(self) -> bool:
        """Whether problems that were asked, or asked more often, are a random sample of all.

        They are if all trials, or all since problems had equally many, were asked for in an order
        that is not that of the data. It is not so for runs of earlier versions, which asked for
        the first problems first, nor where problems were added, or left out, in between.
        """
        return self.config.get(ORDER) == SHUFFLED

    @property
    def size(self) -> int | None:
        """How many problems the task had when it was last asked, as far as that is recorded."""
        entered = self.config.get("problems")
        count = entered.get("count") if isinstance(entered, Mapping) else self.config.get("limit")
        return count if isinstance(count, int) else None

    @property
    def adaptive(self) -> Mapping[str, Any] | None:
        """The bank, split and model of an adaptive test; None for any other run."""
        test: Mapping[str, Any] | None = self.config.get("task", {}).get("adaptive")
        return test

    def refuse_averages(self) -> None:
        """Raise `InvalidInput` if the problems were chosen by answers, as in an adaptive test."""
        if self.adaptive is not None:
            raise InvalidInput(
                f"{self.task}: the items of an adaptive test are chosen for what they tell about "
                "ability, so averages over them estimate nothing. passband stats RUN gives ability "
                "(theta) and the accuracy of the whole bank."
            )

    @property
    def imported(self) -> Imported:
        """What the logs of an imported run say beyond its rows."""
        return Imported.of(self.config)

    def scale(self, scorer: ScorerRecord) -> Scale:
        """Return the scale of a scorer, whose direction the task may state."""
        scale = scorer.scale
        for entry in self.config.get("metrics") or ():
            higher = entry.get("higher_is_better")
            if entry.get("scorer") == scorer.name and higher is not None:
                listed = Scale(lower_is_better=not higher)
                scale = scale.joined(listed, f"{self.task}: {scorer.name}", "its metric list")
        return scale.joined(self.stated.get(scorer.name, UNSTATED), f"{self.task}: {scorer.name}")

    def scorer(self, name: str | None = None) -> ScorerRecord:
        """Return the scorer of that name, or the main one."""
        if not self.scorers:
            raise InvalidInput(f"{self.task}: no scorer has been used on these trials.")
        if name is None:
            return self.scorers[0]
        for scorer in self.scorers:
            if scorer.name == name:
                return scorer
        names = [scorer.name for scorer in self.scorers]
        hint = nearest(name, names) or f" It has {', '.join(names)}."
        raise InvalidInput(f"{self.task}: no scorer named {name!r}.{hint}")


@dataclass(frozen=True)
class ProblemRecord:
    """A problem as it was asked."""

    number: int  # what its trials and scores refer to
    position: int  # in the data now
    key: str
    cluster: str | None
    record: Mapping[str, Any]  # messages, targets, choices, doc


LABEL = "label"
"""The key of the config of a run."""


def with_labels(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """Return the runs of a directory with their labels.

    Where models share a name, it tells none of them apart, and each goes by its own.
    """
    runs = list(runs)
    models: dict[str, set[str]] = {}
    for run in runs:
        models.setdefault(_name_given(run), set()).add(run.model)
    return [
        replace(run, label=_name_given(run) if len(models[_name_given(run)]) == 1 else run.model)
        for run in runs
    ]


def kept_label(name: str | None, earlier: Mapping[str, Any]) -> dict[str, str]:
    """Return the label to record: the name given now, else the one given before.

    >>> kept_label("step100", {}), kept_label(None, {"label": "step100"}), kept_label(None, {})
    ({'label': 'step100'}, {'label': 'step100'}, {})
    """
    label = name or earlier.get(LABEL)
    return {LABEL: label} if isinstance(label, str) and label else {}


def _name_given(run: RunRecord) -> str:
    label = run.config.get(LABEL)
    return label if isinstance(label, str) and label else run.model
