"""Answer what pages ask of a run directory, each in the thread of that directory."""

from __future__ import annotations

from collections.abc import Mapping

from passband.errors import InvalidInput, UnknownName
from passband.readers import Groups, Options, StoredRun, groups_of_runs
from passband.summary import (
    ProblemRate,
    ShownProblem,
    ShownTrial,
    TrialBrowser,
    TrialQuery,
    rates_of,
)
from passband.trials import Column, RunRecord, TrialId
from passband.view.page_context import RunPage
from passband.view.pages.trial import ALONG, TrialView
from passband.view.pages.trials import TRIALS_A_PAGE, TrialsPage
from passband.view.reading.run_reader import RunSnapshot
from passband.view.reading.scans import MOST, Extremes

COLUMNS: Mapping[str, Column] = {"slow": "latency_ms", "long": "completion_tokens"}
_CHIPS = 64  # other trials of a problem that are named on the page of one


def record(reading: RunSnapshot, number: int) -> RunRecord:
    """Return a run by its number."""
    runs = reading.keep("runs", reading.trials.runs)
    for run in runs:
        if run.number == number:
            return run
    raise UnknownName(f"there is no run {number} here.")


def browse(reading: RunSnapshot, run: RunRecord, show: str) -> TrialBrowser:
    """Return the trials of a run that a filter finds; ranked lists rank all of them."""
    query = TrialQuery.named("all" if show in COLUMNS else show)
    return reading.keep(
        ("trials", run.number, show), lambda: TrialBrowser(reading.trials, run, query)
    )


def filter_counts(reading: RunSnapshot, run: RunRecord) -> dict[str, int | None]:
    """Return the filters that find something, with their numbers of trials by the tallies."""
    return reading.keep(("filters", run.number), lambda: _filter_counts(reading, run))


def _filter_counts(reading: RunSnapshot, run: RunRecord) -> dict[str, int | None]:
    statuses = reading.trials.statuses(run.number)
    words = [str(status) for status, count in statuses.items() if count and status != "ok"]
    scored = ["right", "wrong"] if run.scorers else []
    failed = ["no_answer", "scorer_error", "scorer_timeout", "scorer_no_verdict", "unscored"]
    of_scores = failed if run.scorers else []
    counts = {
        word: browse(reading, run, word).counted() for word in ("all", *scored, *of_scores, *words)
    }
    offered = {word: n for word, n in counts.items() if n != 0 or word in ("all", *scored)}
    long: dict[str, None] = {"long": None} if reading.trials.tokens(run.number)[1] else {}
    return {**offered, "slow": None, **long}


def rates(reading: RunSnapshot, run: RunRecord) -> list[ProblemRate]:
    """Return the problems of a run, the easiest first."""
    scorer = run.scorers[0] if run.scorers else None
    return reading.keep(("rates", run.number), lambda: rates_of(reading.trials, run, scorer))


def some_trials(
    reading: RunSnapshot,
    here: RunPage,
    run: RunRecord,
    show: str,
    after: TrialId | None = None,
    before: TrialId | None = None,
) -> TrialsPage:
    """Return the trials after a place or before it, that a filter finds."""
    rows, has_earlier, has_later = browse(reading, run, show).page(
        TRIALS_A_PAGE, after=after, before=before
    )
    earlier = here.run.trials(show, before=rows[0][0]) if rows and has_earlier else None
    later = here.run.trials(show, after=rows[-1][0]) if rows and has_later else None
    return TrialsPage(show, rows, earlier, later)


def ranked_trials(
    reading: RunSnapshot,
    here: RunPage,
    run: RunRecord,
    show: str,
    extremes: Extremes | None,
    start: int,
) -> TrialsPage:
    """Return a page of the slowest or longest trials."""
    if extremes is None:
        note = "All trials are being looked at; one moment, please."
        return TrialsPage(show, (), note=note, again=True)
    listed = extremes.trials
    places = [
        TrialId(trial.problem, trial.trial) for trial in listed[start : start + TRIALS_A_PAGE]
    ]
    rows = browse(reading, run, "all").rows(places)
    earlier = here.run.ranked(show, max(0, start - TRIALS_A_PAGE)) if start else None
    end = start + TRIALS_A_PAGE
    later = here.run.ranked(show, end) if end < len(listed) else None
    notes = [f"The first {MOST:,} of them are listed."] if len(listed) == MOST else []
    if extremes.commits != reading.trials.commits:
        notes.append("More trials have come since; they are being looked at.")
    return TrialsPage(show, rows, earlier, later, " ".join(notes))


def problem(reading: RunSnapshot, run: RunRecord, number: int) -> ShownProblem:
    """Return a problem by its number in the store."""
    if number not in reading.trials.numbers(run.number).values():
        raise UnknownName(f"there is no problem {number} here.")
    return browse(reading, run, "all").problem(number)


def problem_trials(
    reading: RunSnapshot, here: RunPage, run: RunRecord, number: int, after: int | None
) -> TrialsPage:
    """Return a page of the trials of a problem."""
    rows, has_earlier, has_later = browse(reading, run, "all").page_of_problem(
        number, TRIALS_A_PAGE, after
    )
    earlier = here.run.problem(number) if has_earlier else None
    later = here.run.problem(number, rows[-1][0].trial) if has_later else None
    return TrialsPage("all", rows, earlier, later)


def trial(reading: RunSnapshot, run: RunRecord, place: TrialId, show: str) -> TrialView:
    """Return a trial, its neighbours, and the other trials of its problem."""
    every = browse(reading, run, "all")
    shown = every.trial(place)
    filtered = every if show in ALONG else browse(reading, run, show)
    neighbours = {"j": filtered.trial_after(place), "k": filtered.trial_before(place)}
    if run.scorers:
        wrong = browse(reading, run, "wrong")
        neighbours |= {"n": wrong.trial_after(place), "p": wrong.trial_before(place)}
    return TrialView(
        place,
        shown,
        show,
        {key: neighbour for key, neighbour in neighbours.items() if neighbour is not None},
        every.page_of_problem(place.problem, _CHIPS).rows,
    )


def trial_text(reading: RunSnapshot, run: RunRecord, place: TrialId) -> ShownTrial:
    """Return a trial to read in full."""
    return browse(reading, run, "all").readable(place)


def pair(
    reading: RunSnapshot, run: RunRecord, number: int, trials: tuple[int, int]
) -> tuple[ShownTrial, ShownTrial]:
    """Return two trials of a problem."""
    return browse(reading, run, "all").pair(number, trials)


def groups_for(reading: RunSnapshot, here: RunPage, run: RunRecord, source: str) -> Groups:
    """Return a run as one side of a comparison, under a name that sets it apart."""
    if not run.scorers or not reading.trials.scored_statuses(run.scorer().number):
        raise InvalidInput(f"{here.title} has no scores yet; there is nothing to compare.")
    options = Options.of(None, (), (), (), targets=True)
    stored = [StoredRun(reading.trials, run)]
    return reading.keep(
        ("groups", run.number, source),
        lambda: groups_of_runs(stored, options, source=source, kind="a run directory"),
    )
