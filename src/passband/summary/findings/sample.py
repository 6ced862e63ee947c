"""Sample transcripts for a report, spread evenly within a limit of bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from passband.summary.browse.browser import TrialBrowser
from passband.summary.browse.shown_trial import Damaged, ShownProblem, ShownTrial
from passband.summary.findings.scan import RIGHT, WRONG, MarkedAnswer, Scan

_CHIP = 16  # bytes that the answer of a trial takes, about
_QUESTION = 300  # bytes that a problem takes beside its trials, about
_SHORT = 60  # characters of an answer that are shown beside others
LONGEST = 1_500  #: characters of a completion that are shown, about
ASIDE = 600  #: of its reasoning, and of each step
MOST_STEPS = 12  #: of a transcript


@dataclass(frozen=True)
class SampledProblem:
    """A problem with the answers of all its trials, and some trials in full."""

    problem: ShownProblem
    place: int  #: among the problems, easiest first
    answers: tuple[MarkedAnswer, ...]
    texts: Mapping[int, ShownTrial]  #: by number of the trial

    @property
    def mean_score(self) -> float | None:
        """The mean of its trials' scores; None where none has one."""
        scores = [answer.value for answer in self.answers if answer.value is not None]
        return fmean(scores) if scores else None


@dataclass(frozen=True)
class Transcripts:
    """The problems that are shown, and how many there are."""

    problems: tuple[SampledProblem, ...] = ()
    n_problems: int = 0
    n_trials: int = 0
    damaged: int = 0  #: trials or problems that could not be read

    @property
    def n_texts(self) -> int:
        """The completions that are shown."""
        return sum(len(problem.texts) for problem in self.problems)

    @property
    def has_texts(self) -> bool:
        """Whether there is anything to read: a table of scores alone has nothing."""
        return any(
            one.problem.messages
            or any(trial.text or trial.transcript for trial in one.texts.values())
            for one in self.problems
        )

    @property
    def is_sampled(self) -> bool:
        """Whether some problem or some text is left out."""
        return len(self.problems) < self.n_problems or self.n_texts < self.n_trials


def chosen_places(n_problems: int, n_trials: int, budget: int) -> list[int]:
    """Return which of the problems, easiest first, are shown: all, or as many as fit, evenly.

    Three quarters of the bytes are for questions and answers, the others for texts.

    >>> chosen_places(3, 12, 100_000), chosen_places(1000, 64_000, 9_000)
    ([0, 1, 2], [100, 300, 500, 700, 900])
    """
    if not n_problems or not budget:
        return []
    size = _QUESTION + _CHIP * n_trials // n_problems
    count = min(n_problems, max(1, budget * 3 // 4 // size))
    return [(2 * index + 1) * n_problems // (2 * count) for index in range(count)]


def sample_transcripts(
    browser: TrialBrowser,
    scan: Scan,
    places: Mapping[str, int],
    numbers: Mapping[str, int],
    budget: int,
    totals: tuple[int, int],
) -> Transcripts:
    """Read the chosen problems, and of each as many texts as its share of the bytes allows.

    `places` has the key of each chosen problem and its place among all of them. Wrong and right
    trials take turns, so that a problem that has both shows both. `totals` are the problems and
    trials of the run.
    """
    used = sum(_QUESTION + _answers_size(scan.answers.get(numbers[key], ())) for key in places)
    share = max(0, budget - used) // max(len(places), 1)
    problems: list[SampledProblem] = []
    damaged = 0
    for key, place in sorted(places.items(), key=lambda pair: pair[1]):
        number = numbers[key]
        answers = sorted(scan.answers.get(number, ()))
        turns = _turns(answers, scan.trials_of(number))
        problem, texts, bad = _read(browser, number, turns, share)
        damaged += bad
        if problem is not None:
            problems.append(SampledProblem(problem, place, tuple(answers), texts))
    return Transcripts(tuple(problems), *totals, damaged)


def _answers_size(answers: Sequence[MarkedAnswer]) -> int:
    """Return the bytes that answers take, about."""
    return sum(9 + min(len(answer.answer or ""), _SHORT) for answer in answers)


def _turns(answers: Sequence[MarkedAnswer], recorded: Sequence[int]) -> list[int]:
    """Return the trials in the order they are read: wrong and right in turn, then all others.

    >>> answers = [MarkedAnswer(trial, mark, None, "ok") for trial, mark in enumerate(b"1110")]
    >>> _turns(answers, [0, 1, 2, 3, 6])
    [3, 0, 1, 2, 6]
    """
    sides = [[answer.trial for answer in answers if answer.mark == mark] for mark in (WRONG, RIGHT)]
    turns: list[int] = []
    for turn in range(max(map(len, sides))):
        turns += [side[turn] for side in sides if turn < len(side)]
    known = set(turns)
    return [*turns, *(trial for trial in recorded if trial not in known)]


def _read(
    browser: TrialBrowser, number: int, trials: Sequence[int], share: int
) -> tuple[ShownProblem | None, dict[int, ShownTrial], int]:
    """Return a problem, its texts up to a number of bytes, and how many could not be read.

    A problem that cannot be read, or has no trial, is None.
    """
    problem: ShownProblem | None = None
    texts: dict[int, ShownTrial] = {}
    damaged = 0
    left = share
    for one in browser.shown(_places(number, trials)):
        if isinstance(one, ShownProblem):
            problem = one
        elif isinstance(one, Damaged):
            damaged += 1
        else:
            left -= _size(one)
            if left < 0 and texts:
                break
            texts[one.trial] = one
    return problem, dict(sorted(texts.items())), damaged


def _size(trial: ShownTrial) -> int:
    """Return the bytes that a trial takes, about; long texts are cut where they are shown."""
    steps = [message.text for message in trial.transcript[:MOST_STEPS]]
    aside = [trial.reasoning or "", *steps]
    text = (trial.text or "")[:LONGEST]
    return _CHIP + len(text.encode(errors="replace")) + sum(min(len(one), ASIDE) for one in aside)


def _places(number: int, trials: Sequence[int]) -> Iterator[tuple[int, int]]:
    for trial in trials:
        yield number, trial
