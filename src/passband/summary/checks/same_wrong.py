"""Find problems whose wrong trials agree on one answer, for which the key may be wrong.

Such a problem has a wrong key, or the model a firm misconception; either is worth a look.
Whether so much agreement is surprising depends on the task: of four choices, wrong answers agree
often by themselves, and of all numbers they hardly ever do. The other problems of the run tell.
With r_i the share of pairs of wrong trials of problem i that agree, and m problems with two wrong
trials or more,

    q_i = (1/2 + sum of r_j over j != i) / m

is how often two wrong trials of another problem agree, with half a pair added for caution. Where
c of w wrong trials give the same answer,

    chance_i = P(X >= c - 1),  X binomial with w - 1 trials and probability q_i

is how likely that is if wrong trials agreed with one of them as they do elsewhere. The smaller,
the more surprising. It ranks problems; it is not a test of a hypothesis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from passband.notes import Note
from passband.score import recorded_equality
from passband.stats.data import Same, Scale, answer_text, number_answers
from passband.trials import FilteredTrials, RunRecord, ScoreRow, ScorerRecord, TrialFilter, Trials

_LONGEST = 500  # characters kept of an answer
_MOST_SCORES = 20_000  # that are read for a note beside other results
_SURPRISING = 0.01  # chance of the most surprising problem, times the problems that were ranked
_FEWEST = 4  # trials that give the same wrong answer


@dataclass(frozen=True)
class SameWrong:
    """A problem, its most frequent wrong answer, and how surprising that frequency is."""

    problem: str
    targets: tuple[str, ...]
    answer: str
    times: int  #: wrong trials with this answer
    wrong: int  #: wrong trials with any answer
    right: int
    scored: int
    chance: float  #: of so much agreement, were it as elsewhere


@dataclass(frozen=True)
class Agreement:
    """The problems of a run whose wrong trials agree, the most surprising first."""

    task: str
    model: str
    scorer: str
    found: tuple[SameWrong, ...]
    problems: int  #: with two wrong answers or more, which could agree
    rate: float | None  #: how often two wrong trials of a problem agree, on average
    notes: tuple[Note, ...] = ()  #: on how answers were compared


class _Counted(NamedTuple):
    """The wrong answers of one problem, counted."""

    number: int
    answer: str
    times: int
    wrong: int
    right: int
    scored: int
    rate: float


def rank_same_wrong(
    trials: Trials,
    run: RunRecord,
    scorer: ScorerRecord | None = None,
    *,
    problems: Sequence[str] = (),
    limit: int | None = None,
    as_text: bool = False,
    rows: Iterable[tuple[int, int, ScoreRow]] | None = None,
    reads_texts: bool = True,
) -> Agreement:
    """Rank the problems of a run by how surprising the agreement of their wrong answers is.

    Answers are compared as votes compare them, by the scorer's own equality; `as_text` by their
    texts alone, which is fast. All problems are counted, one at a time, and those named in
    `problems` returned; without names all, up to a `limit`. `rows` are the scores where they are
    being read anyway. Without `reads_texts`, answers that are whole completions are left out: each
    is read by itself, which takes long where there are many.
    """
    chosen = scorer or run.scorer()
    scale = run.scale(chosen)
    reader = trials.chosen(run, TrialFilter(scorer=chosen.number))
    with ExitStack() as stack:
        equality = None if as_text else stack.enter_context(recorded_equality(chosen))
        same = None if equality is None else equality.same
        answers = _Answers(trials, run, chosen, reader, scale, reads_texts)
        scores = trials.scores(chosen.number) if rows is None else rows
        counted = [one for one in answers.counted(scores, same) if one.wrong >= 2]
    ranked = sorted(_ranked(counted), key=lambda pair: (pair[1], -pair[0].times))
    numbers = trials.numbers(run.number) if problems else {}
    named = {numbers[key] for key in problems if key in numbers}
    found = [pair for pair in ranked if not problems or pair[0].number in named]
    rates = [one.rate for one in counted]
    return Agreement(
        run.task,
        run.model,
        chosen.name,
        tuple(_found(reader, one, chance) for one, chance in found[:limit]),
        len(counted),
        sum(rates) / len(rates) if rates else None,
        () if equality is None else equality.notes,
    )


def striking(trials: Trials, run: RunRecord, scorer: ScorerRecord) -> list[SameWrong]:
    """Return the problems that deserve a word beside any result: most of their trials agree.

    Their wrong answer would win a vote, and the agreement is surprising even as the most
    surprising of all. Answers are compared as text; of a large run nothing is read.
    """
    if trials.trial_count(run.number) > _MOST_SCORES or run.adaptive is not None:
        return []
    agreement = rank_same_wrong(trials, run, scorer, as_text=True)
    return [
        one
        for one in agreement.found
        if one.chance * agreement.problems < _SURPRISING
        and one.times >= _FEWEST
        and 2 * one.times > one.scored
    ]


def chance_of(times: int, wrong: int, rate: float) -> float:
    """Return how likely it is that `times` of `wrong` trials agree, if any two do at a rate.

    Of 3 wrong trials all agree with the first one by a chance of 1/4 if any two do at 1/2:

    >>> float(chance_of(3, 3, 0.5)), float(chance_of(1, 3, 0.5))
    (0.25, 1.0)
    """
    from scipy.special import bdtrc

    return 1.0 if times < 2 else float(bdtrc(times - 2, wrong - 1, rate))


def _ranked(counted: Sequence[_Counted]) -> Iterator[tuple[_Counted, float]]:
    """Yield the problems whose wrong trials agree at all, with the chance of it."""
    total = sum(one.rate for one in counted)
    for one in counted:
        if one.times >= 2:
            rate = min(1.0, (0.5 + total - one.rate) / len(counted))
            yield one, chance_of(one.times, one.wrong, rate)


def _found(reader: FilteredTrials, one: _Counted, chance: float) -> SameWrong:
    problem = reader.problem(one.number)
    targets = tuple(map(str, problem.record.get("targets", ())))
    return SameWrong(
        problem.key, targets, one.answer, one.times, one.wrong, one.right, one.scored, chance
    )


class _Answers:
    """The scored answers of a run, problem by problem."""

    def __init__(
        self,
        trials: Trials,
        run: RunRecord,
        scorer: ScorerRecord,
        reader: FilteredTrials,
        scale: Scale,
        reads_texts: bool,
    ) -> None:
        self._reader = reader
        self._reads_texts = reads_texts
        self._is_right = scale.is_right
        self._rounds = trials.complete_rounds(run)

    def counted(
        self, rows: Iterable[tuple[int, int, ScoreRow]], same: Same | None
    ) -> Iterator[_Counted]:
        """Yield the wrong answers of each problem that has one."""
        for number, of_problem in groupby(rows, key=itemgetter(0)):
            right = scored = 0
            wrong: list[str] = []
            for _, trial, score in of_problem:
                if score.value is None or (self._rounds is not None and trial >= self._rounds):
                    continue
                scored += 1
                if self._is_right(score.value):
                    right += 1
                elif (answer := self._answer(number, trial, score)) is not None:
                    wrong.append(answer)
            if wrong:
                yield _count(number, wrong, same, right, scored)

    def _answer(self, number: int, trial: int, score: ScoreRow) -> str | None:
        if score.status == "no_answer":
            return None
        if score.answer is None:
            return self._text(number, trial)
        return answer_text(score.answer)

    def _text(self, number: int, trial: int) -> str | None:
        """Return a completion that is the answer itself, if such are to be read."""
        return answer_text(self._reader.trial(number, trial).text) if self._reads_texts else None


def _count(
    number: int, wrong: Sequence[str], same: Same | None, right: int, scored: int
) -> _Counted:
    numbers = number_answers(wrong, same)
    groups = Counter(numbers)
    ((most, times),) = groups.most_common(1)
    spellings = Counter(text for text, group in zip(wrong, numbers, strict=True) if group == most)
    ((leader, _),) = spellings.most_common(1)
    pairs = len(wrong) * (len(wrong) - 1)
    agreeing = sum(size * (size - 1) for size in groups.values())
    rate = agreeing / pairs if pairs else 0.0
    return _Counted(number, leader[:_LONGEST], times, len(wrong), right, scored, rate)
