"""Group the problems of a run by a column of their data that names a kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from passband.errors import InvalidInput, UnknownName, nearest
from passband.notes import Note
from passband.readers import StoredRun, select
from passband.stats.data import Outcomes
from passband.stats.interval import Estimate
from passband.summary.group import metric_lines
from passband.summary.means import column_of
from passband.summary.summary import Request
from passband.trials import RunRecord, Trials

_MOST = 30  # kinds
_FEWEST_EACH = 3  # problems of a kind, on average
_LONGEST = 60  # letters of a kind
_NAMES = (
    "category", "kind", "type", "subject", "level", "topic", "domain", "difficulty", "subset",
    "area", "field", "language", "split", "source", "group",
)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """The problems of one kind: how many, and the metric on them or the reason for none."""

    name: str
    n_problems: int
    estimate: Estimate | None
    reason: Note | None = None


@dataclass(frozen=True)
class Kinds:
    """A metric by kind of problem, the best first."""

    column: str
    is_declared: bool  #: whether the task or the user names the column; else it is a guess
    metric: str
    kinds: tuple[Kind, ...]
    others: tuple[str, ...] = ()  #: columns that would do as well


def kinds_of(
    trials: Trials,
    run: RunRecord,
    outcomes: Outcomes,
    metric: str,
    request: Request,
    by: str | None = None,
) -> Kinds | None:
    """Return a metric by kind of problem; None where no column of the data tells kinds apart.

    The column is `by`, or that of the task; otherwise one whose values repeat, which is neither
    the question nor the answer, with a usual name before others.
    """
    stored = StoredRun(trials, run)
    declared = by or column_of(run)
    candidates = [declared] if declared else _candidates(stored)
    if by is not None and by not in stored.data_names():
        names = stored.data_names()
        hint = nearest(by, names) or f" They have {', '.join(names) or 'none'}."
        raise UnknownName(f"the problems of {run.task} have no column {by!r}.{hint}")
    if not candidates:
        return None
    column, *others = candidates
    labels = _labels(stored.data(column))
    kinds = _measured(outcomes, labels, metric, request)
    if len(kinds) < 2:
        return None
    return Kinds(column, declared is not None, metric, kinds, tuple(others))


def _candidates(stored: StoredRun) -> list[str]:
    """Return the columns that tell kinds of problems apart, the likeliest first."""
    targets = stored.targets()
    fitting = [
        name
        for name in stored.data_names()
        if _tells_kinds(stored.data(name)) and not _is_target(stored.data(name), targets)
    ]
    return sorted(fitting, key=lambda name: _rank(name.lower()))


def _rank(name: str) -> int:
    """Return the place of a name among the usual ones; the first that it contains."""
    return next((place for place, word in enumerate(_NAMES) if word in name), len(_NAMES))


def _tells_kinds(values: Mapping[str, object]) -> bool:
    """Return whether few values, short ones, belong to all problems."""
    if not all(isinstance(value, (str, int, bool)) for value in values.values()):
        return False
    names = {str(value) for value in values.values()}
    return (
        2 <= len(names) <= min(_MOST, len(values) // _FEWEST_EACH)
        and max(map(len, names)) <= _LONGEST
    )


def _is_target(values: Mapping[str, object], targets: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether a column holds answers: most of its values are right, or it determines them.

    Letters of choices repeat as kinds do.
    """
    same = sum(str(value) in targets.get(key, ()) for key, value in values.items())
    targets_by_kind: dict[str, set[tuple[str, ...]]] = {}
    for key, value in values.items():
        targets_by_kind.setdefault(str(value), set()).add(targets.get(key, ()))
    determined = all(len(answers) == 1 for answers in targets_by_kind.values())
    return 2 * same > len(values) or (determined and len(set(targets.values())) > 1)


def _labels(values: Mapping[str, object]) -> dict[str, str]:
    return {key: str(value) for key, value in values.items() if value is not None}


def _measured(
    outcomes: Outcomes, labels: Mapping[str, str], metric: str, request: Request
) -> tuple[Kind, ...]:
    places: dict[str, list[int]] = {}
    for index, key in enumerate(outcomes.problems):
        if key in labels:
            places.setdefault(labels[key], []).append(index)
    if len(places) > _MOST * 4:
        raise InvalidInput(
            f"the column has {len(places):,} different values; kinds of problems are at most "
            f"{_MOST * 4}."
        )
    kinds = [
        _kind(name, select(outcomes, where), metric, request) for name, where in places.items()
    ]
    return tuple(sorted(kinds, key=lambda kind: (-_value(kind), kind.name)))


def _kind(name: str, outcomes: Outcomes, metric: str, request: Request) -> Kind:
    line, *_ = metric_lines(outcomes, [metric], request)
    return Kind(name, outcomes.n_problems, line.estimate, line.reason)


def _value(kind: Kind) -> float:
    return -1.0 if kind.estimate is None else kind.estimate.value
