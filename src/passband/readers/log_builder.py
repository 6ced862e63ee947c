"""A builder of logs: a reader adds one trial after another, and gets a `Log`.

    builder = LogBuilder("airline", "gpt-4o", Source.of("tau-bench", path), ("reward",))
    for record in records:
        builder.add(record["task_id"], record["trial"], scores={"reward": record["reward"]})
    return [builder.log()]

It numbers the problems in order of appearance, and refuses what would be counted twice or confused.
"""

from __future__ import annotations

import json
import math
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from passband.errors import InvalidInput
from passband.readers.evidence.log import LogEvidence
from passband.readers.evidence.seen_texts import SeenTexts
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.names import lookalikes
from passband.score import Score
from passband.stats.data import Scale
from passband.trials import AttemptRow, ProblemRow, ScoreRow, Status, TrialRow, canonical_json

#: A number or a bool; None, or NaN, where the trial has no such score; a `Score` to say more.
ScoreValue: TypeAlias = "float | bool | Score | None"

_BODIES = ("text", "reasoning", "transcript")  # what is kept only where texts are wanted
_LARGEST = 2**53  # of a whole number that JSON holds without loss
_IN_MEMORY = 1 << 24  # bytes of texts of one log; further ones go to a temporary file
_LONGEST_MESSAGE = 2_000  # characters kept of an error's message
_NOTHING: Mapping[str, Any] = {}
_NO_DATA = canonical_json({"messages": [], "targets": [], "choices": [], "doc": {}})


class Clash(InvalidInput):
    """Two records contradict each other: the same trial twice, or the same id in two types."""


class LogBuilder:
    """Collects the trials of one task and one model."""

    def __init__(
        self,
        task: str,
        model: str,
        source: Source,
        scorers: Sequence[str] = (),
        *,
        texts: bool = False,
    ) -> None:
        """`scorers` come first, the main one at the head; others follow as they are met.

        With `texts`, completions and transcripts are kept, outside of memory where they are long.
        """
        self.task = task
        self.model = model
        self._source = source
        self._scorers = {name: number for number, name in enumerate(scorers)}
        self._problem_of: dict[int | str, int] = {}  # 1 and "1" are two keys of it
        self._problems: list[ProblemRow] = []
        self._targets: list[tuple[str, ...]] = []
        self._taken: list[set[int]] = []
        self._trials: list[TrialRow] = []
        self._attempts: list[AttemptRow] = []
        self._other_targets: set[int] = set()
        self._bare: set[int] = set()  # problems of which nothing but the key is known
        self._bodies = _Bodies(self._trials) if texts else None
        self._seen = SeenTexts()
        self._prompts: list[int | None] = []  # a number for each problem, equal for equal prompts

    def __len__(self) -> int:
        """Return the number of trials so far."""
        return len(self._trials)

    @property
    def scorers(self) -> tuple[str, ...]:
        """The scorers so far, the main one first."""
        return tuple(self._scorers)

    def add(
        self,
        key: str | int,
        trial: int | None = None,
        status: Status = "ok",
        scores: Mapping[str, ScoreValue] = _NOTHING,
        *,
        targets: Sequence[str] = (),
        doc: Mapping[str, Any] | None = None,
        messages: Sequence[tuple[str, Any]] = (),
        choices: Sequence[str] = (),
        cluster: str | None = None,
        error: str | None = None,
        **fields: Any,
    ) -> None:
        """Add a trial of the problem `key`, numbered after its earlier ones unless it has a number.

        Targets, messages, choices, doc and cluster are those of the problem, taken where it first
        appears. `error` is the message of what failed. Further fields are those of `TrialRow`, such
        as text, transcript, completion_tokens or seed.
        """
        rows = [row for name in scores if (row := self._score(name, scores[name])) is not None]
        _check_trial(key, trial)
        packed, text = b"", None
        if fields:
            bodies = {name: fields.pop(name, None) for name in _BODIES}
            text = bodies["text"]
            if self._bodies is not None:
                packed = self._bodies.packed(bodies)
                fields |= {} if packed else bodies
            for name in fields:
                if name in _CHECKS:
                    fields[name] = _CHECKS[name](fields[name])
        # All that can be wrong with a record alone has been raised: it can be left out as a whole.
        problem = self.problem(
            key, targets=targets, doc=doc, messages=messages, choices=choices, cluster=cluster
        )
        number = self._trial_number(problem, trial)
        self._trials.append(TrialRow(problem, number, status, scores=rows, **fields))
        self._seen.add(text)
        if self._bodies is not None:
            self._bodies.append(packed)
        if error is not None:
            detail = error[:_LONGEST_MESSAGE]
            self._attempts.append(AttemptRow(problem, number, 1, 0, status, None, detail))

    def problem(
        self,
        key: str | int,
        *,
        targets: Sequence[str] = (),
        doc: Mapping[str, Any] | None = None,
        messages: Sequence[tuple[str, Any]] = (),
        choices: Sequence[str] = (),
        cluster: str | None = None,
    ) -> int:
        """Return the number of a problem, which is added if it is new: it may have no trials.

        What was not known of it where it first appeared is taken from where it is.
        """
        number = self._problem_of.get(key) if type(key) in (str, int) else None
        if number is None:
            number = self._new_problem(key, cluster)
        elif targets and self._targets[number] and tuple(targets) != self._targets[number]:
            self._other_targets.add(number)
        if number in self._bare and (targets or doc or messages or choices):
            record = {
                "messages": list(messages),
                "targets": list(targets),
                "choices": list(choices),
                "doc": dict(doc or {}),
            }
            row = self._problems[number]
            packed = _json(record, f"problem {row.key!r:.60}")
            self._problems[number] = replace(row, record=packed, cluster=row.cluster or cluster)
            self._targets[number] = tuple(targets)
            self._prompts[number] = hash(repr(messages)) if messages else None
            self._bare.discard(number)
        return number

    def arrange(self, names: Sequence[str], parts: Mapping[str, Sequence[str]] = _NOTHING) -> None:
        """Put the scorers into an order; those of a scorer with `parts` go to each of them.

        Scorers that no trial has may be added; those that trials have must be named, or have parts.
        """
        numbers = {name: number for number, name in enumerate(names)}
        moved = {
            old: [numbers[part] for part in parts.get(name, (name,))]
            for name, old in self._scorers.items()
        }
        self._scorers = numbers
        if all(new == [old] for old, new in moved.items()):
            return
        for trial in self._trials:
            trial.scores = [
                row._replace(scorer=number) for row in trial.scores for number in moved[row.scorer]
            ]

    def log(
        self,
        *,
        remarks: Sequence[Remark] = (),
        settings: Mapping[str, Any] = _NOTHING,
        planned: int | None = None,
        scales: Mapping[str, Scale] = _NOTHING,
    ) -> Log:
        """Return the log of what was added."""
        return Log(
            self.task,
            self.model,
            self._source,
            self._problems,
            self._trials if self._bodies is None else self._bodies,
            tuple(self._scorers),
            settings=settings,
            remarks=(*remarks, *self._remarks()),
            planned=planned,
            attempts=self._attempts,
            scales=scales,
            seen=LogEvidence(self._seen, self._prompts),
        )

    # -- steps -----------------------------------------------------------------------------

    def _new_problem(self, key: str | int, cluster: str | None) -> int:
        if type(key) not in (str, int):
            raise InvalidInput(
                f"the id of a problem must be text or a whole number; got {key!r:.60}."
            )
        text, number = str(key), len(self._problems)
        twin = text if isinstance(key, int) else _as_number(text)
        if twin is not None and twin in self._problem_of:
            raise Clash(
                f"both {text} and {json.dumps(text)} are ids of problems; if they are the same "
                "problem, write its id in one way, and if not, rename one of them."
            )
        self._problems.append(ProblemRow(number, text, _NO_DATA, cluster))
        self._targets.append(())
        self._prompts.append(None)
        self._taken.append(set())
        self._bare.add(number)
        self._problem_of[key] = number
        return number

    def _trial_number(self, problem: int, trial: int | None) -> int:
        taken = self._taken[problem]
        if trial is None:
            trial = len(taken)
        if trial in taken:
            raise Clash(
                f"problem {self._problems[problem].key!r} has trial {trial} twice; remove one of "
                "them, or number the trials apart."
            )
        taken.add(trial)
        return trial

    def _score(self, name: str, value: ScoreValue) -> ScoreRow | None:
        scorer = self._scorers.setdefault(name, len(self._scorers))
        if type(value) is float and -math.inf < value < math.inf:
            return ScoreRow(scorer, value)
        if isinstance(value, Score):
            number = _number(name, value.value)
            if number is None and value.status in ("ok", "no_answer"):
                return None
            return ScoreRow(scorer, number, *value[1:])
        number = _number(name, value)
        return None if number is None else ScoreRow(scorer, number)

    def _remarks(self) -> Iterator[Remark]:
        if pairs := lookalikes(problem.key for problem in self._problems):
            text = f"{pairs[0][0]!r:.60} and {pairs[0][1]!r:.60} are read as two problems"
            more = f" (and {len(pairs) - 1} more such pairs)" if len(pairs) > 1 else ""
            yield Remark(f"{text}{more}: if they are one, write its id in one way", important=True)
        if self._other_targets:
            count = len(self._other_targets)
            first = self._problems[min(self._other_targets)].key
            yield Remark(
                f"{count} {'problem has' if count == 1 else 'problems have'} trials with different "
                f"targets (the first is {first!r}): if they are different problems under one id, "
                "do not use these numbers",
                important=True,
            )


class LogBuilders:
    """The builders of a file that may hold several tasks and models."""

    def __init__(self, source: Source, scorers: Sequence[str] = (), *, texts: bool = False) -> None:
        self._source = source
        self._scorers = tuple(scorers)
        self._texts = texts
        self._builders: dict[tuple[str, str], LogBuilder] = {}

    def of(self, task: str, model: str) -> LogBuilder:
        """Return the builder of a task and model, a new one where it is the first of them."""
        builder = self._builders.get((task, model))
        if builder is None:
            builder = LogBuilder(task, model, self._source, self._scorers, texts=self._texts)
            self._builders[task, model] = builder
        return builder

    def __iter__(self) -> Iterator[LogBuilder]:
        return iter(self._builders.values())

    def logs(self, **common: Any) -> list[Log]:
        """Return all logs; the arguments of `LogBuilder.log` apply to each."""
        return [builder.log(**common) for builder in self]


class _Bodies:
    """Trials with their texts; those that do not fit into memory are read back from a file."""

    def __init__(self, trials: list[TrialRow]) -> None:
        self.rows = trials  #: without the texts that are in the file
        self._places: list[tuple[int, int]] = []
        self._room = _IN_MEMORY
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, self._file.close)

    def packed(self, bodies: Mapping[str, Any]) -> bytes:
        """Return texts as they are put into the file; nothing if they fit into memory."""
        kept = {name: body for name, body in bodies.items() if body is not None}
        texts = [body for body in kept.values() if isinstance(body, str)]
        length = sum(map(len, texts))
        if len(texts) == len(kept) and length <= self._room:
            self._room -= length
            return b""
        return _json(kept, "a trial").encode()

    def append(self, data: bytes) -> None:
        """Keep the texts of the trial that was added last."""
        place = self._file.seek(0, 2) if data else 0
        self._places.append((place, len(data)))
        self._file.write(data)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[TrialRow]:
        for trial, (offset, size) in zip(self.rows, self._places, strict=True):
            if size:
                self._file.seek(offset)
                yield replace(trial, **json.loads(self._file.read(size)))
            else:
                yield trial

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def _check_trial(key: str | int, trial: int | None) -> None:
    if trial is not None and (type(trial) is not int or not 0 <= trial < 2**31):
        raise InvalidInput(
            f"problem {key!r:.60}: the number of a trial must be a whole number of at least 0; got "
            f"{trial!r:.60}."
        )


def _number(scorer: str, value: Any) -> float | None:
    """Return a score; None for an absent one and for NaN."""
    if value is None or value != value:
        return None
    if not isinstance(value, (int, float)):
        raise InvalidInput(f"a score of {scorer} must be a number; got {value!r:.60}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise InvalidInput(f"a score of {scorer} is infinite; remove it, or write null.")
    return number


def _whole(value: Any) -> int | None:
    """Return a whole number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not abs(value) < _LARGEST or value != int(value):
        return None
    return int(value)


def _count(value: Any) -> int | None:
    return None if (number := _whole(value)) is None or number < 0 else number


def _cost(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < _LARGEST else None


#: A field that is not what it should be is left out: no number that passband states rests on it.
_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "prompt_tokens": _count,
    "completion_tokens": _count,
    "reasoning_tokens": _count,
    "cached_tokens": _count,
    "latency_ms": _count,
    "seed": _whole,
    "cost": _cost,
}


def _as_number(text: str) -> int | None:
    """Return the whole number that is written in exactly this way."""
    try:
        number = int(text) if len(text) < 20 else None
    except ValueError:
        return None
    return number if str(number) == text else None


def _json(record: Mapping[str, Any], owner: str) -> str:
    try:
        return canonical_json(record)
    except (RecursionError, ValueError) as error:
        raise InvalidInput(f"{owner}: its data cannot be stored: {error}.") from None
