"""Answers that look misread: right ones that are scored wrong, or not found at all.

Nearly every score is 0, or most trials have no answer: usually the model is not to blame but the
way its answers are read. So it is where many answers that are scored wrong end in their target, or
are right by another rule of extraction. One answer beside its target shows it. Only some of the
completions are read.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from passband import notes
from passband.errors import PassbandError
from passband.score.extract import RULES
from passband.score.pipeline import make_scorer
from passband.score.recorded import rebuilt_scorer
from passband.score.scorer import Reference, Scorer
from passband.stats.data.evidence import Finding
from passband.stats.data.scale import Scale
from passband.trials.chosen import Choice, ChosenTrials
from passband.trials.reader import ProblemRecord, RunRecord, ScorerRecord, Trials
from passband.trials.rows import ScoreRow
from passband.trials.schema import CorruptStore

__all__ = ["misread_findings"]

_FEWEST = 8  # trials; fewer may all be wrong by themselves
_NEARLY_ALL = 0.02  # of the best mean score, at most
_MISREAD = 0.5  # of the wrong answers that are read, which would be right otherwise
_END = 60  # characters of a completion, where answers are
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


def misread_findings(trials: Trials, run: RunRecord, scorer: ScorerRecord) -> Iterator[Finding]:
    """Find answers of a run that look misread."""
    if run.adaptive is not None or (run.is_imported and scorer.spec is None):
        return
    scale = run.scale(scorer)
    no_answer = trials.score_statuses(scorer.number).get("no_answer", 0)
    sums = trials.score_sums(scorer.number)
    scored, total = sum(row[1] for row in sums), sum(row[2] for row in sums)
    if scored < _FEWEST:
        return
    mean = total / scored
    is_odd = no_answer > _MOST * scored
    is_odd |= not scale.lower_is_better and mean <= _NEARLY_ALL * scale.right
    looking = _Looking(trials, run, scorer, scale)
    with closing(looking):
        looking.read(all_rules=is_odd)
        if is_odd or looking.is_striking:
            yield from _findings(looking, _Scored(scored, mean, no_answer, is_odd))


class _Scored(NamedTuple):
    """The scores of a run, added up."""

    trials: int
    mean: float
    no_answer: int
    is_odd: bool  # nearly all 0, or without an answer


def _findings(looking: _Looking, scored: _Scored) -> Iterator[Finding]:
    if looking.example is not None:
        one = looking.example
        place = f"problem {one.problem}, trial {one.trial}"
        if scored.is_odd:
            note = notes.looks_wrong(
                scored.mean, scored.trials, scored.no_answer, place, one.text, one.answer,
                one.targets,
            )  # fmt: skip
        else:
            note = notes.looks_misread(
                looking.misread, looking.wrong, place, one.text, one.answer, one.targets
            )
        yield Finding(note.code, "weak", note.text, numbers={"mean": scored.mean})
    rules = looking.found.most_common()
    if rules:
        rule, found = rules[0]
        command = None
        if looking.function is not None and found > looking.current:
            words = ["passband", "score", str(looking.directory), "--scorer", looking.function]
            command = shlex.join([*words, "--extract", rule, "--main"])
        note = notes.other_extraction(rules, looking.read_count, looking.occurring, command)
        yield Finding(note.code, "remark", note.text)


@dataclass(frozen=True)
class _Example:
    """One answer that was scored as wrong, beside its targets."""

    problem: str
    trial: int
    text: str
    answer: str | None  #: None: no answer was found
    targets: tuple[str, ...]


class _Alternative(NamedTuple):
    """Another way to read an answer, and a scorer that does."""

    name: str
    scorer: Scorer


class _Looking:
    """Reads some completions, and scores them by other rules of extraction."""

    def __init__(self, trials: Trials, run: RunRecord, scorer: ScorerRecord, scale: Scale) -> None:
        self._trials, self._run, self._scorer, self._scale = trials, run, scorer, scale
        self.directory = trials.directory
        self._alternatives = _alternatives(scorer)
        spec = scorer.spec if scorer.is_rebuildable else None
        self.function: str | None = None if spec is None else str(spec["function"])
        self.found: Counter[str] = Counter({one.name: 0 for one in self._alternatives})
        self.read_count = self.occurring = self.current = self.wrong = self.misread = 0
        self.example: _Example | None = None

    def close(self) -> None:
        """End the processes of slow scorers."""
        for one in self._alternatives:
            one.scorer.close()

    @property
    def is_striking(self) -> bool:
        """Whether most answers that are scored wrong look right."""
        return self.wrong >= _FEWEST and self.misread > _MISREAD * self.wrong

    def read(self, *, all_rules: bool) -> None:
        """Read completions of problems from all over the data; slow scorers only on demand."""
        slow = any(one.scorer.slow for one in self._alternatives)
        if slow and not all_rules:
            self.close()
            self._alternatives, self.found, slow = [], Counter(), False
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
        others = [one.name for one in self._alternatives if self._admits(one, row.text, reference)]
        self.found.update(others)
        if is_right:
            return
        is_misread = bool(others) or _ends_in(row.text, reference.targets)
        self.wrong += 1
        self.misread += is_misread
        if self.example is None or not self.example.text or (is_misread and self.misread == 1):
            self.example = _example(record, trial, row.text, score)

    def _admits(self, one: _Alternative, text: str, reference: Reference) -> bool:
        value = one.scorer.score(text, reference).value
        return value is not None and self._scale.is_right(value)


def _ends_in(text: str, targets: tuple[str, ...]) -> bool:
    """Return whether a target of several characters stands, as a word, where answers do.

    >>> _ends_in("So the answer is 14 apples.", ("14",)), _ends_in("It is 140.", ("14",))
    (True, False)
    """
    end = text.strip()[-_END:]
    long = [re.escape(target.strip()) for target in targets if len(target.strip()) > 1]
    return any(re.search(rf"(?<!\w){target}(?!\w)", end) for target in long)


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


def _example(record: ProblemRecord, trial: int, text: str, score: ScoreRow) -> _Example:
    answer = text if score.answer is None and score.status == "ok" else score.answer
    return _Example(record.key, trial, text, answer, _reference(record).targets)
