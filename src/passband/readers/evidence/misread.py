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
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from passband.errors import PassbandError
from passband.notes import Note, plural, tail_of
from passband.score import Reference, Scorer
from passband.stats.data import Finding, Outcomes, Scale

if TYPE_CHECKING:
    from passband.trials import FilteredTrials, ProblemRecord, RunRecord, ScorerRecord, Trials

_FEWEST = 8  # trials; fewer may all be wrong by themselves
_NEARLY_ALL = 0.02  # of the best mean score, at most
_MISREAD = 0.5  # of the wrong answers that are read, which would be right otherwise
_END = 60  # characters of a completion, where answers are
_MOST = 0.5  # of the scored trials have no answer
_LOOKED_AT = 40  # trials whose completions are read
_SLOWLY = 12  # of them where one score takes milliseconds
_LONGEST = 200_000  # characters of a completion that is read
_NUMBER = re.compile(r"(?<![\d.,])\d+(?!\d|[.,]\d)")


class ReadAnswer(NamedTuple):
    """An answer as it was given and as it was read, with its score."""

    problem: str
    number: int
    text: str
    answer: str | None  #: as the scorer read it; None where it found none, or does not say
    value: float
    reference: Reference
    unit: str = "trial"  #: that its number is of: a trial, a row


def misread_findings(trials: Trials, run: RunRecord, scorer: ScorerRecord) -> Iterator[Finding]:
    """Find answers of a run that look misread."""
    if run.adaptive is not None:
        return
    no_answer = trials.score_statuses(scorer.number).get("no_answer", 0)
    sums = trials.score_sums(scorer.number)
    scored, total = sum(row[1] for row in sums), sum(row[2] for row in sums)
    if scored < _FEWEST:
        return
    scale = run.scale(scorer)
    rules = _alternatives(scorer)
    mean = total / scored
    is_odd = scorer.spec is not None or not run.is_imported
    is_odd &= no_answer > _MOST * scored or (
        not scale.lower_is_better and mean <= _NEARLY_ALL * scale.right
    )
    slow = any(one.scorer.slow for one in rules)
    if slow and not is_odd:
        _close(rules)
        rules = []
    looking = _Looking(scale, rules, _command(trials, scorer))
    try:
        most = _SLOWLY if rules and slow else _LOOKED_AT
        for answer in _answers(trials, run, scorer, most):
            looking.look_at(answer)
    finally:
        _close(rules)
    yield from looking.findings(_Scored(scored, mean, no_answer, is_odd))


def misread_answers(answers: Sequence[ReadAnswer], outcomes: Outcomes) -> Iterator[Finding]:
    """Find answers among some of another tool's that look misread.

    By its own rules the scorer cannot be judged: only answers that end in their target show it.
    """
    looking = _Looking(outcomes.range, [], None)
    for answer in answers:
        looking.look_at(answer)
    mean = outcomes.required_successes().sum() / max(outcomes.n_trials, 1)
    yield from looking.findings(_Scored(outcomes.n_trials, float(mean), 0, False))


class _Scored(NamedTuple):
    """The scores of a run, added up."""

    trials: int
    mean: float
    no_answer: int
    is_odd: bool  # nearly all 0, or without an answer


class _Alternative(NamedTuple):
    """Another way to read an answer, and a scorer that does."""

    name: str
    scorer: Scorer


class _Looking:
    """Looks at some answers, and scores them by other rules of extraction."""

    def __init__(
        self, scale: Scale, rules: Sequence[_Alternative], command: Sequence[str] | None
    ) -> None:
        """`command` adds a scorer with another rule to the run; None where none can be added."""
        self._scale, self._rules, self._command = scale, rules, command
        self._found: Counter[str] = Counter({one.name: 0 for one in rules})
        self._read = self._occurring = self._current = self._wrong = self._misread = 0
        self._example: ReadAnswer | None = None

    def look_at(self, one: ReadAnswer) -> None:
        """Count an answer by what other rules make of it."""
        targets = one.reference.targets
        self._read += 1
        self._occurring += any(target.strip() in one.text for target in targets if target)
        is_right = self._scale.is_right(one.value)
        self._current += is_right
        others = [rule.name for rule in self._rules if self._admits(rule, one)]
        self._found.update(others)
        if is_right:
            return
        is_misread = bool(others) or _ends_in(one.text, targets)
        self._wrong += 1
        self._misread += is_misread
        if self._example is None or not self._example.text or (is_misread and self._misread == 1):
            self._example = one

    def _admits(self, rule: _Alternative, one: ReadAnswer) -> bool:
        value = rule.scorer.score(one.text, one.reference).value
        return value is not None and self._scale.is_right(value)

    def findings(self, scored: _Scored) -> Iterator[Finding]:
        """Return what the answers show, if most of the wrong ones look right or nearly all are."""
        is_striking = self._wrong >= _FEWEST and self._misread > _MISREAD * self._wrong
        if not (scored.is_odd or is_striking):
            return
        if self._example is not None:
            note = self._note(self._example, scored)
            yield Finding(note.code, "weak", note.text, numbers={"mean": scored.mean})
        if rules := self._found.most_common():
            note = other_extraction(rules, self._read, self._occurring, self._use(*rules[0]))
            yield Finding(note.code, "remark", note.text)

    def _note(self, one: ReadAnswer, scored: _Scored) -> Note:
        place, targets = f"problem {one.problem}, {one.unit} {one.number}", one.reference.targets
        if scored.is_odd:
            return looks_wrong(
                scored.mean, scored.trials, scored.no_answer, place, one.text, one.answer, targets
            )
        return looks_misread(self._misread, self._wrong, place, one.text, one.answer, targets)

    def _use(self, rule: str, found: int) -> str | None:
        """Return the command that scores by a rule, if it finds more than the present one."""
        if self._command is None or found <= self._current:
            return None
        return shlex.join([*self._command, "--extract", rule, "--main"])


def _command(trials: Trials, scorer: ScorerRecord) -> list[str] | None:
    if scorer.spec is None or not scorer.is_rebuildable:
        return None
    function = str(scorer.spec["function"])
    return ["passband", "score", str(trials.directory), "--scorer", function]


def _answers(
    trials: Trials, run: RunRecord, scorer: ScorerRecord, most: int
) -> Iterator[ReadAnswer]:
    """Yield scored answers to problems from all over the run."""
    from passband.trials import TrialFilter

    numbers = list(trials.numbers(run.number).values())
    some = numbers[:: max(1, len(numbers) // most)][:most]
    chosen = trials.chosen(run, TrialFilter(tuple(some), scorer=scorer.number))
    each = -(-most // max(1, len(some)))
    taken: Counter[int] = Counter()
    for problem, trial in chosen.places():
        if taken[problem] < each and taken.total() < most:
            taken[problem] += 1
            if (answer := _answer(chosen, problem, trial, scorer)) is not None:
                yield answer


def _answer(
    chosen: FilteredTrials, problem: int, trial: int, scorer: ScorerRecord
) -> ReadAnswer | None:
    from passband.trials import CorruptStore

    try:
        record, row = chosen.problem(problem), chosen.trial(problem, trial)
    except CorruptStore:
        return None  # reading that trial says so
    score = next((one for one in row.scores if one.scorer == scorer.number), None)
    if row.text is None or score is None or score.value is None or len(row.text) > _LONGEST:
        return None
    answer = row.text if score.answer is None and score.status == "ok" else score.answer
    reference = _reference(record)
    return ReadAnswer(record.key, trial, row.text, answer, score.value, reference)


def _close(rules: Sequence[_Alternative]) -> None:
    """End the processes of slow scorers."""
    for rule in rules:
        rule.scorer.close()


def _ends_in(text: str, targets: tuple[str, ...]) -> bool:
    """Return whether a text ends in a target, as a word of its own.

    One of a single character has to be the last number: letters occur by chance.

    >>> _ends_in("So the answer is 14 apples.", ("14",)), _ends_in("It is 140.", ("14",))
    (True, False)
    >>> _ends_in("That leaves 7 apples.", ("7",)), _ends_in("7 or 8 apples", ("7",))
    (True, False)
    """
    end = text.strip()[-_END:]
    if (numbers := _NUMBER.findall(end)) and numbers[-1] in targets:
        return True
    long = [re.escape(target.strip()) for target in targets if len(target.strip()) > 1]
    return any(re.search(rf"(?<!\w){target}(?!\w)", end) for target in long)


def _alternatives(scorer: ScorerRecord) -> list[_Alternative]:
    """Return the scorers that `passband score --extract` would add, a rule each."""
    # Scoring is imported where it is needed: most tables hold no answers to look at.
    from passband.score import RULES, make_scorer, rebuilt_scorer

    try:
        rebuilt = rebuilt_scorer(scorer)
    except PassbandError:
        rebuilt = None
    if rebuilt is None or scorer.spec is None or rebuilt.takes_trial or rebuilt.is_async:
        return []
    if rebuilt.needs_sandbox:  # nothing of a summary may run a program
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


def looks_wrong(
    mean: float,
    scored: int,
    no_answer: int,
    place: str,
    text: str,
    answer: str | None,
    targets: Sequence[str],
) -> Note:
    """Return the note on scores that are nearly all 0, or answers that are nearly all missing.

    >>> print(looks_wrong(0.0, 120, 30, "p3, trial 0", "It is 42, surely.", None, ["42"]))
    nearly every score is 0 (mean 0 of 120 trials; 30 have no answer): p3, trial 0 ends in "It is \
42, surely.", where no answer was found; expected "42". Is it read as it should be?
    """
    what = "nearly every score is 0" if mean <= 0.02 else "most trials have no answer"
    read = "where no answer was found"
    if answer is not None:
        read = f'read as "{tail_of(answer)}"' if answer != text else "compared as a whole"
    expected = " or ".join(f'"{tail_of(target)}"' for target in targets[:3]) or "nothing"
    return Note(
        "looks-wrong",
        f"{what} (mean {mean:.2g} of {plural(scored, 'trial')}; {no_answer} have no answer): "
        f'{place} ends in "{tail_of(text)}", {read}; expected {expected}. Is it read as it should '
        "be?",
    )


def looks_misread(
    misread: int,
    wrong: int,
    place: str,
    text: str,
    answer: str | None,
    targets: Sequence[str],
) -> Note:
    """Return the note on answers that are scored wrong and look right.

    >>> print(looks_misread(9, 10, "p3, trial 0", "It is 14 apples.", "14 apples", ["14"]))
    of 10 answers scored wrong that were looked at, 9 hold the right one where answers stand: p3, \
trial 0 ends in "It is 14 apples.", read as "14 apples"; expected "14". Is it read as it should be?
    """
    read = "where no answer was found" if answer is None else f'read as "{tail_of(answer)}"'
    expected = " or ".join(f'"{tail_of(target)}"' for target in targets[:3]) or "nothing"
    return Note(
        "looks-misread",
        f"of {plural(wrong, 'answer')} scored wrong that were looked at, {misread} hold the right "
        f'one where answers stand: {place} ends in "{tail_of(text)}", {read}; expected {expected}. '
        "Is it read as it should be?",
        "weak",
    )


def other_extraction(
    rules: Sequence[tuple[str, int]], looked_at: int, occurring: int, command: str | None
) -> Note:
    """Return the note on what other rules of extraction would find.

    >>> print(other_extraction([("boxed", 28), ("marker", 0)], 40, 39, "passband score RUN"))
    of 40 trials looked at, 39 have the target somewhere in their text; right by other rules of \
extraction: boxed 28; use one: passband score RUN
    """
    found = ", ".join(f"{rule} {count}" for rule, count in rules if count)
    found = found or f"none (of {', '.join(rule for rule, _ in rules)})"
    use = "" if command is None else f"; use one: {command}"
    return Note(
        "other-extraction",
        f"of {plural(looked_at, 'trial')} looked at, {occurring} have the target somewhere in "
        f"their text; right by other rules of extraction: {found}{use}",
    )
