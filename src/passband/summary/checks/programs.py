"""Summarise the programs of a code scorer: their outcomes, sandboxes and re-runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from passband.notes import Note, plural
from passband.readers import sandbox_words
from passband.score import OUTCOMES, WORDS, VerdictStatus, again_entry, outcome_in
from passband.stats.interval import RerunFlip, Reruns, with_reruns
from passband.stats.metric import parse_metric
from passband.summary.summary import Line, ProgramResult
from passband.summary.unscored_range import metric_of
from passband.trials import RunRecord, ScoreRow, ScorerRecord, Trials

Scores = dict[tuple[int, int], ScoreRow]  # by problem and trial
_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)")
_OPAQUE = re.compile(r" returned <a ([^<>]{1,60})>$")
_NAMED = 5  # modules or classes in a note, those of most programs


@dataclass(frozen=True)
class Programs:
    """The verdicts of one scorer on a run."""

    outcomes: Mapping[str, int]  #: by the words for them
    missing: int  #: answers without a program
    reruns: Reruns | None
    late: tuple[int, int]  #: timeouts that pass in twice the time, of those given it
    most_trials: int  #: of a problem
    sandboxes: tuple[Mapping[str, str], ...]
    modules: Mapping[str, int]  #: programs that failed for want of a module
    opaque: Mapping[str, int]  #: programs that failed on a result that did not cross

    def notes(self) -> Iterator[Note]:
        """Yield the notes on a group of such verdicts."""
        if self.outcomes or self.missing:
            yield program_outcomes(self.outcomes, self.missing)
        for sandbox in self.sandboxes:
            if sandbox.get("backend") == "none":
                yield unsafe_code(str(sandbox.get("python", "")))
                break
        if len(self.sandboxes) > 1:
            words = sandbox_words({"sandboxes": list(self.sandboxes)})
            yield several_sandboxes(words)
        if self.modules:
            yield missing_modules(self.modules)
        if self.opaque:
            yield opaque_results(self.opaque)
        if self.reruns is not None and self.reruns.again:
            flips, again = len(self.reruns.flips), self.reruns.again
            yield flaky_verdicts(flips, again, *self.reruns.limits())
        if self.late[0]:
            yield late_timeouts(*self.late)

    @property
    def result(self) -> ProgramResult:
        """What a summary keeps of them."""
        reruns = self.reruns or Reruns(0, 0)
        low, high = reruns.limits() if reruns.again else (None, None)
        return ProgramResult(
            dict(self.outcomes), self.missing, reruns.again, reruns.gained, reruns.lost, low, high,
            self.late[0],
        )  # fmt: skip

    def lines(self, lines: Iterable[Line], scorer: str | None) -> list[Line]:
        """Return lines whose intervals have room for verdicts that change."""
        return [self._line(line, scorer) for line in lines]

    def _line(self, line: Line, scorer: str | None) -> Line:
        name = metric_of(line, scorer)
        if self.reruns is None or line.estimate is None or name is None or not self.reruns.flips:
            return line
        metric = parse_metric(name, self.most_trials)
        return replace(line, estimate=with_reruns(line.estimate, self.reruns, metric))


def programs_of(trials: Trials, run: RunRecord, scorer: ScorerRecord) -> Programs | None:
    """Return the verdicts of a scorer; None for one that is none of programs."""
    if scorer.spec is None or scorer.spec.get("function") != "code":
        return None
    first = {(p, t): score for p, t, score in trials.scores(scorer.number)}
    second = _second(trials, run, scorer)
    counts = Counter(_outcome(score) for score in first.values() if score.status == "ok")
    missing = sum(score.status == "no_answer" for score in first.values())
    listed = {WORDS[outcome]: counts[outcome] for outcome in OUTCOMES if counts[outcome]}
    sandboxes = tuple(sandbox for sandbox in _sandboxes(run.config) if isinstance(sandbox, Mapping))
    reruns = None if second is None else _reruns(first, second)
    most = max(Counter(problem for problem, _ in first).values(), default=1)
    late = _late(first, second or {})
    modules, opaque = _found(_MODULE, first), _found(_OPAQUE, first)
    return Programs(listed, missing, reruns, late, most, sandboxes, modules, opaque)


def outcome_words(scorer: ScorerRecord, score: ScoreRow) -> str | None:
    """Return what became of the program of a score, in words; None if it has no verdict."""
    if scorer.spec is None or scorer.spec.get("function") != "code" or score.status != "ok":
        return None
    return WORDS[_outcome(score)]


def _outcome(score: ScoreRow) -> VerdictStatus:
    return "passed" if score.value else outcome_in(score.detail) or "failed"


def _found(pattern: re.Pattern[str], scores: Scores) -> dict[str, int]:
    """Return what the details of programs that did not pass have in common, and how often."""
    details = (score.detail or "" for score in scores.values() if score.status == "ok")
    found = Counter(match[1] for detail in details if (match := pattern.search(detail)))
    return dict(found.most_common(_NAMED))


def _sandboxes(config: Mapping[str, object]) -> Iterable[Any]:
    recorded = config.get("sandboxes", ())
    return recorded if isinstance(recorded, list) else ()


def _second(trials: Trials, run: RunRecord, scorer: ScorerRecord) -> Scores | None:
    """Return the verdicts that were given again, if any were."""
    wanted = again_entry(scorer.name, scorer.identity)[:2]
    for number, _, record in trials.all_scorers():
        if number == run.number and (record.name, record.identity) == wanted:
            return {(p, t): score for p, t, score in trials.scores(record.number)}
    return None


def _reruns(first: Scores, second: Scores) -> Reruns:
    """Return the verdicts that were given twice, each with the weight of its stratum.

    Programs that timed out are all run again, and a part of the others, those that passed and
    those that failed apart: three strata.
    """
    verdicts = {trial: score for trial, score in first.items() if score.status == "ok"}
    twice = [trial for trial in second if trial in verdicts]
    all_of = Counter(_outcome_class(score) for score in verdicts.values())
    again_of = Counter(_outcome_class(verdicts[trial]) for trial in twice)
    trials = Counter(problem for problem, _ in verdicts)
    successes = Counter(problem for (problem, _), score in verdicts.items() if score.value)
    flips = []
    for trial in twice:
        before, after = verdicts[trial], second[trial]
        if bool(before.value) != bool(after.value):
            kind = _outcome_class(before)
            problem, step = trial[0], 1 if after.value else -1
            weight = all_of[kind] / again_of[kind]
            flips.append(RerunFlip(trials[problem], successes[problem], step, weight))
    return Reruns(len(verdicts), len(twice), tuple(flips))


def _outcome_class(score: ScoreRow) -> str:
    outcome = _outcome(score)
    return outcome if outcome in ("passed", "timed_out") else "failed"


def _late(first: Scores, second: Scores) -> tuple[int, int]:
    """Return how many timeouts passed beyond their time, of those that were given more."""
    timeouts = [p for p in second if p in first and _outcome(first[p]) == "timed_out"]
    late = [p for p in timeouts if "passed after" in (second[p].detail or "")]
    return len(late), len(timeouts)


def program_outcomes(counts: Mapping[str, int], missing: int) -> Note:
    """Return the note on what became of programs, and on answers without one."""
    listed = [f"{count} {outcome}" for outcome, count in counts.items() if count]
    if missing:
        listed.append(f"{plural(missing, 'answer')} without a program")
    return Note("program-outcomes", f"programs: {', '.join(listed)}")


def unsafe_code(backend: str) -> Note:
    """Return the note on programs that ran without a sandbox."""
    return Note(
        "unsafe-code",
        f"programs ran without a sandbox (--unsafe-code, {backend}): they could do what the user "
        "can, and nothing vouches for their verdicts",
    )


def several_sandboxes(sandboxes: Sequence[str]) -> Note:
    """Return the note on verdicts of several sandboxes, which need not agree."""
    return Note(
        "several-sandboxes",
        f"verdicts are from {len(sandboxes)} sandboxes, which need not agree: "
        f"{'; '.join(sandboxes)}",
    )


def missing_modules(counts: Mapping[str, int]) -> Note:
    """Return the note on programs that import what the sandbox's Python does not have.

    >>> print(missing_modules({"numpy": 3}))
    3 programs failed because the sandbox's Python has no numpy; see passband doctor
    >>> print(missing_modules({"numpy": 3, "sympy": 1}))
    4 programs failed because the sandbox's Python has no numpy (3), sympy (1); see passband doctor
    """
    total = plural(sum(counts.values()), "program")
    named = ", ".join(f"{name} ({count})" for name, count in counts.items())
    named = named if len(counts) > 1 else next(iter(counts))
    return Note(
        "missing-modules",
        f"{total} failed because the sandbox's Python has no {named}; see passband doctor",
    )


def opaque_results(kinds: Mapping[str, int]) -> Note:
    """Return the note on results that did not cross from the programs to the tests."""
    total = plural(sum(kinds.values()), "program")
    return Note(
        "opaque-results",
        f"{total} failed on a result that is no plain data and equals nothing "
        f"({', '.join(kinds)}); tests of such objects need 'verdict: same'",
    )


def flaky_verdicts(flips: int, again: int, low: float, high: float) -> Note:
    """Return the note on verdicts that were given again under other hash seeds."""
    if not flips:
        return Note(
            "steady-verdicts",
            f"none of {plural(again, 're-run')} gave another verdict; up to {high:.1%} of the "
            "verdicts could",
        )
    text = f"{flips} of {plural(again, 're-run')} gave another verdict ({low:.1%} to {high:.1%})"
    if flips > 0.01 * again:
        return Note(
            "many-flaky-verdicts",
            f"{text}, which is much: tests or programs depend on chance, the clock or the load",
        )
    return Note("flaky-verdicts", text)


def late_timeouts(late: int, again: int) -> Note:
    """Return the note on programs that need more time than they have."""
    return Note(
        "late-timeouts",
        f"{late} of {plural(again, 'program')} that timed out would have passed in twice the time; "
        "a larger timeout gives other values",
    )
