"""A result that looks wrong: nearly every score is 0, or most trials have no answer.

Usually the model is not to blame but the way its answers are read. One answer beside its target
shows it, and so does what the other rules of extraction would find in the same completions. Only
some of the completions are read.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from passband import notes
from passband.errors import PassbandError
from passband.notes import Note
from passband.score.extract import RULES
from passband.score.pipeline import make_scorer
from passband.score.recorded import rebuilt_scorer
from passband.score.scorer import Reference, Scorer
from passband.stats.data.scale import Scale
from passband.trials.chosen import Choice, ChosenTrials
from passband.trials.reader import ProblemRecord, RunRecord, ScorerRecord, Trials
from passband.trials.rows import ScoreRow
from passband.trials.schema import CorruptStore

__all__ = ["Diagnosis", "diagnose"]

_FEWEST = 8  # trials; fewer may all be wrong by themselves
_NEARLY_ALL = 0.02  # of the best mean score, at most
_MOST = 0.5  # of the scored trials have no answer
_LOOKED_AT = 40  # trials whose completions are read
_SLOWLY = 12  # of them where one score takes milliseconds
_LONGEST = 200_000  # characters of a completion that is read


@dataclass(frozen=True)
class Example:
    """One answer that was scored as wrong, beside its targets."""

    problem: str
    trial: int
    text: str
    answer: str | None  #: None: no answer was found
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Diagnosis:
    """What a result that looks wrong looks like from near."""

    scored: int
    mean: float
    no_answer: int
    example: Example | None = None
    looked_at: int = 0  #: completions that were read
    occurring: int = 0  #: of them, how many have a target somewhere in their text
    current: int = 0  #: of them, how many are right as they were scored
    rules: tuple[tuple[str, int], ...] = ()  #: by other rules, how many would be, the most first
    function: str | None = None

    def notes(self, directory: str) -> Iterator[Note]:
        """Yield the notes to print with the result."""
        if self.example is not None:
            one = self.example
            place = f"problem {one.problem}, trial {one.trial}"
            yield notes.looks_wrong(
                self.mean, self.scored, self.no_answer, place, one.text, one.answer, one.targets
            )
        if self.rules:
            command = None
            rule, found = self.rules[0]
            if self.function is not None and found > self.current:
                words = ["passband", "score", directory, "--scorer", self.function]
                command = shlex.join([*words, "--extract", rule, "--main"])
            yield notes.other_extraction(self.rules, self.looked_at, self.occurring, command)


def diagnose(trials: Trials, run: RunRecord, scorer: ScorerRecord) -> Diagnosis | None:
    """Look at the answers of a run whose scores look wrong; None where they do not."""
    scale = run.scale(scorer)
    no_answer = trials.score_statuses(scorer.number).get("no_answer", 0)
    sums = trials.score_sums(scorer.number)
    scored, total = sum(row[1] for row in sums), sum(row[2] for row in sums)
    if scored < _FEWEST or run.adaptive is not None:
        return None
    mean = total / scored
    low = not scale.lower_is_better and mean <= _NEARLY_ALL * scale.right
    if not low and no_answer <= _MOST * scored:
        return None
    looking = _Looking(trials, run, scorer, scale)
    with closing(looking):
        looking.read()
    return Diagnosis(
        scored, mean, no_answer, looking.example, looking.read_count, looking.occurring,
        looking.current, tuple(looking.found.most_common()), looking.function,
    )  # fmt: skip


class _Alternative(NamedTuple):
    """Another way to read an answer, and a scorer that does."""

    name: str
    scorer: Scorer


class _Looking:
    """Reads some completions, and scores them by other rules of extraction."""

    def __init__(self, trials: Trials, run: RunRecord, scorer: ScorerRecord, scale: Scale) -> None:
        self._trials, self._run, self._scorer, self._scale = trials, run, scorer, scale
        self._alternatives = _alternatives(scorer)
        spec = scorer.spec if scorer.is_rebuildable else None
        self.function: str | None = None if spec is None else str(spec["function"])
        self.found: Counter[str] = Counter({one.name: 0 for one in self._alternatives})
        self.read_count = self.occurring = self.current = 0
        self.example: Example | None = None

    def close(self) -> None:
        """End the processes of slow scorers."""
        for one in self._alternatives:
            one.scorer.close()

    def read(self) -> None:
        """Read completions of problems from all over the data."""
        slow = any(one.scorer.slow for one in self._alternatives)
        numbers = list(self._trials.numbers(self._run.number).values())
        most = _SLOWLY if slow else _LOOKED_AT
        some = numbers[:: max(1, len(numbers) // most)][:most]
        chosen = self._trials.chosen(self._run, Choice(tuple(some), scorer=self._scorer.number))
        each = -(-most // max(1, len(some)))
        taken: Counter[int] = Counter()
        for problem, trial in chosen.places():
            if taken[problem] < each and self.read_count < most:
                taken[problem] += 1
                self._look_at(chosen, problem, trial)

    def _look_at(self, chosen: ChosenTrials, problem: int, trial: int) -> None:
        try:
            record, row = chosen.problem(problem), chosen.trial(problem, trial)
        except CorruptStore:
            return  # whoever looks at that trial is told
        score = next((one for one in row.scores if one.scorer == self._scorer.number), None)
        if row.text is None or score is None or score.value is None or len(row.text) > _LONGEST:
            return
        reference = _reference(record)
        self.read_count += 1
        self.occurring += any(target.strip() in row.text for target in reference.targets if target)
        is_right = self._scale.is_right(score.value)
        self.current += is_right
        if not is_right and (self.example is None or not self.example.text):
            self.example = _example(record, trial, row.text, score)
        for one in self._alternatives:
            value = one.scorer.score(row.text, reference).value
            self.found[one.name] += value is not None and self._scale.is_right(value)


def _alternatives(scorer: ScorerRecord) -> list[_Alternative]:
    """Return the scorers that `passband score --extract` would add, a rule each."""
    try:
        rebuilt = rebuilt_scorer(scorer)
    except PassbandError:
        rebuilt = None
    if rebuilt is None or scorer.spec is None or rebuilt.takes_trial or rebuilt.is_async:
        return []
    if getattr(rebuilt, "needs_sandbox", False):  # nothing of a summary may run a program
        return []
    function = str(scorer.spec["function"])
    present = list(scorer.spec["steps"])
    steps = {rule: [{"function": "extract", "rules": [rule]}] for rule in RULES}
    return [
        _Alternative(rule, make_scorer(function, function, {}, step))
        for rule, step in steps.items()
        if step != present
    ]


def _reference(record: ProblemRecord) -> Reference:
    values = record.record
    return Reference(
        tuple(map(str, values.get("targets") or ())),
        tuple(map(str, values.get("choices") or ())),
        values.get("doc") or {},
    )


def _example(record: ProblemRecord, trial: int, text: str, score: ScoreRow) -> Example:
    answer = text if score.answer is None and score.status == "ok" else score.answer
    return Example(record.key, trial, text, answer, _reference(record).targets)
