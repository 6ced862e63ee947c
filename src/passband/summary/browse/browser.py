"""Browse the trials of a run: filter, page, search and compare them.

Trials are read one at a time, so a run of any size takes the same little memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from passband.errors import InvalidInput, UnknownName, nearest
from passband.readers import is_judged, label_scorers
from passband.score import FilterStep, Reference, find_span, steps_of
from passband.stats.data import UNSTATED, Scale
from passband.summary.browse.shown_trial import (
    Damaged,
    Shown,
    ShownCall,
    ShownProblem,
    ShownScore,
    ShownTrial,
    message_of,
)
from passband.summary.browse.trial_query import TrialQuery
from passband.summary.checks.programs import outcome_words
from passband.trials import (
    CallRow,
    Column,
    CorruptStore,
    Extreme,
    Matches,
    OtherScorer,
    ProblemRecord,
    RunRecord,
    ScoreRow,
    ScorerRecord,
    Search,
    TrialFilter,
    TrialId,
    TrialRow,
    Trials,
)

_BEGINNING = 300  # characters of a text that are shown in a list
ShownRow = tuple[TrialId, ShownTrial | Damaged]


class TrialSlice(NamedTuple):
    """Neighbouring trials, and whether there are others before and after them."""

    rows: list[ShownRow]
    has_earlier: bool
    has_later: bool


class TrialBrowser:
    """The trials of one run that match a query: the only way in which trials are browsed."""

    def __init__(self, trials: Trials, run: RunRecord, wanted: TrialQuery) -> None:
        self.run = run
        self.wanted = wanted
        name = _judge(run) if wanted.disagree and wanted.scorer is None else wanted.scorer
        self.scorer = run.scorer(name) if run.scorers or name else None
        if self.scorer is None and wanted.right is not None:
            run.scorer()  # raises: without a scorer nothing is right or wrong
        self._scales = {scorer.number: run.scale(scorer) for scorer in run.scorers}
        self._trials = trials
        choice = self._choice()
        self._chosen = trials.chosen(run, choice)
        self._walk = trials.walk(run, choice)

    def _choice(self) -> TrialFilter:
        numbers = self._trials.numbers(self.run.number) if self.wanted.problems else {}
        problems = tuple(numbers[key] for key in self.wanted.problems if key in numbers)
        scale = self.scale
        return TrialFilter(
            problems=problems,
            trials=self.wanted.trials,
            statuses=self.wanted.statuses,
            right=self.wanted.right,
            scorer=None if self.scorer is None else self.scorer.number,
            scale=scale,
            differs=self._differs() if self.wanted.disagree else None,
        )

    def _differs(self) -> OtherScorer:
        """Return the labels that the scorer is to differ from."""
        labels = label_scorers(self.run)
        if not labels or self.scorer is None:
            raise InvalidInput(
                f"{self.run.task} has no labels to disagree with; draw trials to label with "
                "`passband label`."
            )
        return OtherScorer(labels[0].number, _middle(labels[0]), _middle(self.scorer))

    @property
    def scale(self) -> Scale:
        """The scale of the chosen scorer."""
        return UNSTATED if self.scorer is None else self._scales[self.scorer.number]

    @property
    def keys(self) -> list[str]:
        """The keys of all problems."""
        return list(self._trials.numbers(self.run.number))

    def count(self) -> Matches:
        """Return how many trials match, and of how many problems."""
        return self._chosen.count()

    def count_all(self) -> Matches:
        """Return how many trials there are, and of how many problems."""
        return self._trials.chosen(self.run, TrialFilter()).count()

    # -- a page at a time ------------------------------------------------------------------

    def counted(self) -> int | None:
        """Return how many trials match, by the tallies; None where only the rows would tell."""
        return self._walk.count()

    def page(
        self, size: int, *, after: TrialId | None = None, before: TrialId | None = None
    ) -> TrialSlice:
        """Return the matches next to a place, or from the beginning."""
        if before is not None:
            places = self._walk.before(before, size + 1)
            return TrialSlice(self.rows(places[-size:]), len(places) > size, True)
        places = self._walk.after(after, size + 1)
        return TrialSlice(self.rows(places[:size]), after is not None, len(places) > size)

    def page_of_problem(self, number: int, size: int, after: int | None = None) -> TrialSlice:
        """Return the matches of one problem after a trial, or from the first."""
        edge = TrialId(number, -1 if after is None else after)
        places = [p for p in self._walk.after(edge, size + 1) if p.problem == number]
        return TrialSlice(self.rows(places[:size]), after is not None, len(places) > size)

    def trial_after(self, place: TrialId) -> TrialId | None:
        """Return the next match after a trial."""
        return next(iter(self._walk.after(place, 1)), None)

    def trial_before(self, place: TrialId) -> TrialId | None:
        """Return the last match before a trial."""
        return next(iter(self._walk.before(place, 1)), None)

    def rows(self, places: Iterable[TrialId]) -> list[ShownRow]:
        """Return trials with the beginnings of their texts."""
        problems: dict[int, tuple[ProblemRecord, ShownProblem]] = {}
        return [(place, self._read(place, problems, full=False)) for place in places]

    def trial(self, place: TrialId) -> ShownTrial | Damaged:
        """Return a trial with all of its text; raise `UnknownName` if it is not recorded."""
        if self.trial_after(TrialId(place.problem, place.trial - 1)) != place:
            raise UnknownName(f"trial {place.trial} of this problem is not recorded.")
        return self._read(place, {}, full=True)

    def readable(self, place: TrialId) -> ShownTrial:
        """Return a trial with all of its text; raise `InvalidInput` if it is damaged."""
        shown = self.trial(place)
        if isinstance(shown, Damaged):
            raise InvalidInput(f"trial {place.trial} of this problem cannot be read: {shown.why}.")
        return shown

    def pair(self, number: int, trials: tuple[int, int]) -> tuple[ShownTrial, ShownTrial]:
        """Return two trials of a problem, to compare them."""
        if trials[0] == trials[1]:
            raise InvalidInput(f"a difference is of two trials; got {trials[0]} twice.")
        first, second = (self.readable(TrialId(number, trial)) for trial in trials)
        return first, second

    def search(self, text: str) -> Search:
        """Return a search for a text in the completions of the run."""
        return self._trials.search(self.run, text)

    def extremes(self, column: Column, most: int) -> list[Extreme]:
        """Return the slowest or longest trials of the run, which reads all of it."""
        return self._trials.extremes(self.run, column, most)

    def problem(self, number: int) -> ShownProblem:
        """Return a problem by its number in the store."""
        return self._problem(self._chosen.problem(number))

    def _read(
        self,
        place: TrialId,
        problems: dict[int, tuple[ProblemRecord, ShownProblem]],
        *,
        full: bool,
    ) -> ShownTrial | Damaged:
        key: str | None = None
        try:
            if place.problem not in problems:
                record = self._chosen.problem(place.problem)
                problems[place.problem] = record, self._problem(record)
            record, problem = problems[place.problem]
            key = problem.key
            if full:
                return self._trial(problem, record, self._chosen.trial(*place))
            return self._trial(problem, record, self._walk.row(place, _BEGINNING), spans=False)
        except CorruptStore as error:
            return self._damaged(*place, error, key)

    # -- all of them -----------------------------------------------------------------------

    def shown(self, places: Iterable[tuple[int, int]] | None = None) -> Iterator[Shown]:
        """Yield each problem and then its matching trials; damaged ones as `Damaged`.

        `places` are the numbers of problems and trials, problem by problem; without them, all that
        are wanted.
        """
        problem: ShownProblem | None = None
        record: ProblemRecord | None = None
        number: int | None = None
        for place in self._chosen.places() if places is None else places:
            if place[0] != number:
                number = place[0]
                record = problem = None
                try:
                    record = self._chosen.problem(number)
                    problem = self._problem(record)
                    yield problem
                except CorruptStore as error:
                    yield self._damaged(number, None, error)
            if problem is not None and record is not None:
                try:
                    row = self._chosen.trial(*place)
                    yield self._trial(problem, record, row)
                except CorruptStore as error:
                    yield self._damaged(number, place[1], error, problem.key)

    def _damaged(
        self, number: int, trial: int | None, error: CorruptStore, key: str | None = None
    ) -> Damaged:
        name = f"number {number}" if key is None else key
        return Damaged(self.run.task, self.run.model, name, trial, error.why)

    def _problem(self, record: ProblemRecord) -> ShownProblem:
        counts = self._chosen.counts(record.number)
        return ShownProblem(
            task=self.run.task,
            model=self.run.model,
            key=record.key,
            messages=tuple(map(message_of, _listed(record, "messages"))),
            targets=tuple(map(str, _listed(record, "targets"))),
            choices=tuple(map(str, _listed(record, "choices"))),
            trials=counts.trials,
            scored=counts.scored,
            right=counts.right,
        )

    def _trial(
        self, problem: ShownProblem, record: ProblemRecord, row: TrialRow, *, spans: bool = True
    ) -> ShownTrial:
        scorers = {scorer.number: scorer for scorer in self.run.scorers}
        chosen = None if self.scorer is None else self.scorer.number
        scores = sorted(row.scores, key=lambda score: score.scorer != chosen)
        is_scored = spans and bool(scores) and scores[0].scorer == chosen
        span = self._span(row.text, scores[0], record) if is_scored else None
        return ShownTrial(
            problem=problem,
            trial=row.trial,
            status=row.status,
            text=row.text,
            reasoning=row.reasoning,
            transcript=tuple(map(message_of, row.transcript or ())),
            scores=tuple(self._score(scorers[score.scorer], score) for score in scores),
            span=span,
            prompt_tokens=row.prompt_tokens,
            completion_tokens=row.completion_tokens,
            seed=row.seed,
            latency_ms=row.latency_ms,
            attempts=row.attempts,
            finish_reason=row.finish_reason,
            reasoning_tokens=row.reasoning_tokens,
            cached_tokens=row.cached_tokens,
            failures=self._failures(row),
            calls=self._calls(row) if spans else (),
        )

    def _calls(self, row: TrialRow) -> tuple[ShownCall, ...]:
        """Return the calls to judges that a trial was scored by, those of the chosen one first."""
        chosen = sorted(self.run.scorers, key=lambda scorer: scorer != self.scorer)
        return tuple(
            _shown_call(scorer.name, call, self._reply(call))
            for scorer in chosen
            for call in self._trials.calls_of_trial(scorer.number, row.problem, row.trial)
        )

    def _reply(self, call: CallRow) -> str | None:
        """Return the reply to a call, or to the equal one that was made before."""
        if call.reply is not None or not call.is_cached:
            return call.reply
        replies = self._trials.replies([call.key]).get(call.key, [])
        return next((one.reply for one in replies if one.value == call.value), None)

    def _failures(self, row: TrialRow) -> tuple[str, ...]:
        """Return why attempts failed, of a trial that has no completion or an error."""
        if row.text is not None and row.status not in ("invalid", "gave_up", "errored"):
            return ()
        failures = self._chosen.failures(row.problem, row.trial)
        return tuple(failure.detail for failure in failures if failure.detail)

    def _score(self, scorer: ScorerRecord, score: ScoreRow) -> ShownScore:
        right = None
        if score.value is not None:
            right = self._scales[scorer.number].is_right(score.value)
        return ShownScore(
            scorer.name, score.value, score.status, score.answer, score.rule, score.detail, right,
            _rules(scorer), scorer.is_label, outcome_words(scorer, score),
        )  # fmt: skip

    def _span(
        self, text: str | None, score: ScoreRow, record: ProblemRecord
    ) -> tuple[int, int] | None:
        if text is None or self.scorer is None or score.status == "no_answer":
            return None
        if score.answer is None:
            return 0, len(text)
        reference = Reference(
            tuple(map(str, _listed(record, "targets"))), tuple(map(str, _listed(record, "choices")))
        )
        return find_span(text, score.answer, self._steps, reference)

    @cached_property
    def _steps(self) -> list[FilterStep] | None:
        """The filters of the chosen scorer, where they can be made again."""
        if self.scorer is None or self.scorer.spec is None or not self.scorer.is_rebuildable:
            return None
        return steps_of(self.scorer.spec["steps"])


def _judge(run: RunRecord) -> str | None:
    """Return the scorer that labels correct; None for the main one."""
    judged = [scorer.name for scorer in run.scorers if is_judged(run, scorer)]
    return next(iter(judged), None)


def _middle(scorer: ScorerRecord) -> float:
    """Return from which score on a scorer passes a trial: the middle of its scale."""
    low, high = scorer.scale.low, scorer.scale.high
    return 0.5 if low is None or high is None else (low + high) / 2


def _shown_call(scorer: str, call: CallRow, reply: str | None) -> ShownCall:
    return ShownCall(
        scorer, call.vote, call.attempt, call.status, call.worth, reply, call.is_swapped,
        call.is_cached, call.outcome, call.detail, call.prompt_tokens, call.completion_tokens,
        call.cost,
    )  # fmt: skip


def _listed(record: ProblemRecord, name: str) -> list[object]:
    value = record.record.get(name)
    return value if isinstance(value, list) else []


def _rules(scorer: ScorerRecord) -> tuple[str, ...]:
    """Return the rules of extraction, or filters, that a scorer reads answers by."""
    names: list[str] = []
    for step in (scorer.spec or {}).get("steps", ()):
        if isinstance(step, str):
            names.append(step)
        else:
            names += step.get("rules") or [str(step.get("function"))]
    return tuple(names)


def browse_runs(
    trials: Trials, runs: Sequence[RunRecord], wanted: TrialQuery
) -> list[TrialBrowser]:
    """Return a browser for each run; a problem or scorer that no run has is an error.

    Of several tasks, each with its own problems and scorers, those that have none of them are
    left out.
    """
    scoring = [run for run in runs if wanted.scorer in (None, *_scorer_names(run))]
    if not scoring and runs:
        runs[0].scorer(wanted.scorer)  # raises, with the nearest name
    chosen = [TrialBrowser(trials, run, wanted) for run in scoring]
    known = dict.fromkeys(key for browser in chosen for key in browser.keys)
    for key in wanted.problems:
        if key not in known:
            some = ", ".join(list(known)[:5]) + (", ..." if len(known) > 5 else "")
            hint = nearest(key, known) or f" It has {some or 'none'}."
            raise InvalidInput(f"{trials.directory} has no problem {key!r}.{hint}")
    return [
        browser for browser in chosen if not wanted.problems or {*wanted.problems} & {*browser.keys}
    ]


def _scorer_names(run: RunRecord) -> list[str]:
    return [scorer.name for scorer in run.scorers]


def pair_of_trials(
    trials: Trials, runs: Sequence[RunRecord], wanted: TrialQuery, numbers: tuple[int, int]
) -> tuple[ShownTrial, ShownTrial]:
    """Return two trials of one problem; raise `InvalidInput` where it is not clear which."""
    chosen = browse_runs(trials, runs, wanted)
    if len(chosen) != 1:
        names = ", ".join(f"{browser.run.task} by {browser.run.model}" for browser in chosen)
        raise InvalidInput(
            f"--diff is of two trials of one run; choose with --task and --model one of {names}."
        )
    browser, keys = chosen[0], wanted.problems or tuple(chosen[0].keys)
    if len(keys) != 1:
        raise InvalidInput("--diff is of two trials of one problem; say which with --problem.")
    return browser.pair(trials.numbers(browser.run.number)[keys[0]], numbers)
