"""What pages ask of a run directory; each is answered in the thread of that directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from passband.errors import InvalidInput, UnknownName
from passband.readers import Groups, Options, StoredRun, groups_of_runs
from passband.summary import Damaged, Look, ProblemRate, ShownProblem, ShownTrial, Wanted, rates_of
from passband.trials import Column, RunRecord, TrialId
from passband.view.desk import Reading
from passband.view.here import Here
from passband.view.pages.trial import ALONG, TrialPage
from passband.view.pages.trials import TRIALS_A_PAGE, TrialsPage
from passband.view.scans import MOST, Extremes

COLUMNS: Mapping[str, Column] = {"slow": "latency_ms", "long": "completion_tokens"}
_CHIPS = 64  # other trials of a problem that are named on the page of one
Row = tuple[TrialId, ShownTrial | Damaged]


def record(reading: Reading, number: int) -> RunRecord:
    """Return a run by its number."""
    runs = reading.keep("runs", reading.trials.runs)
    for run in runs:
        if run.number == number:
            return run
    raise UnknownName(f"there is no run {number} here.")


def look_at(reading: Reading, run: RunRecord, show: str) -> Look:
    """Return the look that a filter gives."""
    wanted = Wanted()
    if show in ("right", "wrong"):
        wanted = Wanted(right=show == "right")
    elif show != "all" and show not in COLUMNS:
        wanted = Wanted(statuses=(show,))
    return reading.keep(("look", run.number, show), lambda: Look(reading.trials, run, wanted))


def filter_counts(reading: Reading, run: RunRecord) -> dict[str, int | None]:
    """Return the filters that find something, with their numbers of trials by the tallies."""
    return reading.keep(("filters", run.number), lambda: _filter_counts(reading, run))


def _filter_counts(reading: Reading, run: RunRecord) -> dict[str, int | None]:
    statuses = reading.trials.statuses(run.number)
    words = [str(status) for status, count in statuses.items() if count and status != "ok"]
    scored = ["right", "wrong"] if run.scorers else []
    failed = ["no_answer", "scorer_error", "scorer_timeout", "scorer_no_verdict", "unscored"]
    of_scores = failed if run.scorers else []
    counts = {
        word: look_at(reading, run, word).counted() for word in ("all", *scored, *of_scores, *words)
    }
    found = {word: n for word, n in counts.items() if n != 0 or word in ("all", *scored)}
    long: dict[str, None] = {"long": None} if reading.trials.tokens(run.number)[1] else {}
    return {**found, "slow": None, **long}


def rates(reading: Reading, run: RunRecord) -> list[ProblemRate]:
    """Return the problems of a run, the easiest first."""
    scorer = run.scorers[0] if run.scorers else None
    return reading.keep(("rates", run.number), lambda: rates_of(reading.trials, run, scorer))


def _rows(look: Look, places: Sequence[TrialId]) -> list[Row]:
    return list(zip(places, look.brief(places), strict=True))


def some_trials(
    reading: Reading,
    here: Here,
    run: RunRecord,
    show: str,
    after: TrialId | None = None,
    before: TrialId | None = None,
) -> TrialsPage:
    """Return the trials after a place or before it, that a filter finds."""
    look = look_at(reading, run, show)
    if before is not None:
        places = look.before(before, TRIALS_A_PAGE + 1)
        is_first, is_last = len(places) <= TRIALS_A_PAGE, False
        places = places[-TRIALS_A_PAGE:]
    else:
        places = look.after(after, TRIALS_A_PAGE + 1)
        is_first, is_last = after is None, len(places) <= TRIALS_A_PAGE
        places = places[:TRIALS_A_PAGE]
    earlier = here.run.trials(show, before=places[0]) if places and not is_first else None
    later = here.run.trials(show, after=places[-1]) if places and not is_last else None
    return TrialsPage(show, _rows(look, places), earlier, later)


def ranked_trials(
    reading: Reading, here: Here, run: RunRecord, show: str, of: Extremes | None, start: int
) -> TrialsPage:
    """Return some of the slowest or longest trials."""
    if of is None:
        note = "All trials are being looked at; one moment, please."
        return TrialsPage(show, (), note=note, again=True)
    chosen = of.trials[start : start + TRIALS_A_PAGE]
    places = [TrialId(one.problem, one.trial) for one in chosen]
    rows = _rows(look_at(reading, run, "all"), places)
    earlier = here.run.ranked(show, max(0, start - TRIALS_A_PAGE)) if start else None
    later = start + TRIALS_A_PAGE
    notes = [f"The first {MOST:,} of them are listed."] if len(of.trials) == MOST else []
    if of.commits != reading.trials.commits:
        notes.append("More trials have come since; they are being looked at.")
    return TrialsPage(
        show, rows, earlier, here.run.ranked(show, later) if later < len(of.trials) else None,
        " ".join(notes),
    )  # fmt: skip


def problem(reading: Reading, run: RunRecord, number: int) -> ShownProblem:
    """Return a problem by its number in the store."""
    if number not in reading.trials.numbers(run.number).values():
        raise UnknownName(f"there is no problem {number} here.")
    return look_at(reading, run, "all").problem(number)


def problem_trials(
    reading: Reading, here: Here, run: RunRecord, number: int, after: int | None
) -> TrialsPage:
    """Return the trials of a problem from one on."""
    look = look_at(reading, run, "all")
    edge = TrialId(number, -1 if after is None else after)
    places = [p for p in look.after(edge, TRIALS_A_PAGE + 1) if p.problem == number]
    more = len(places) > TRIALS_A_PAGE
    places = places[:TRIALS_A_PAGE]
    later = here.run.problem(number, places[-1].trial) if more else None
    earlier = here.run.problem(number) if after is not None else None
    return TrialsPage("all", _rows(look, places), earlier, later)


def trial(reading: Reading, run: RunRecord, place: TrialId, show: str) -> TrialPage:
    """Return a trial, its neighbours, and the other trials of its problem."""
    look = look_at(reading, run, "all")
    _there(look, *place)
    wrong = look_at(reading, run, "wrong") if run.scorers else None
    along = look if show in ALONG else look_at(reading, run, show)
    ways = {"j": along.after(place, 1), "k": along.before(place, 1)}
    if wrong is not None:
        ways |= {"n": wrong.after(place, 1), "p": wrong.before(place, 1)}
    others = [p for p in look.after(TrialId(place.problem, -1), _CHIPS)
              if p.problem == place.problem]  # fmt: skip
    return TrialPage(
        place,
        look.whole(place),
        show,
        {key: found[0] for key, found in ways.items() if found},
        _rows(look, others),
    )


def pair(
    reading: Reading, run: RunRecord, number: int, numbers: tuple[int, int]
) -> tuple[ShownTrial, ShownTrial]:
    """Return two trials of a problem."""
    if numbers[0] == numbers[1]:
        raise InvalidInput(f"a difference is of two trials; got {numbers[0]} twice.")
    look = look_at(reading, run, "all")
    first, second = (readable(look.whole(_there(look, number, trial))) for trial in numbers)
    return first, second


def readable(shown: ShownTrial | Damaged) -> ShownTrial:
    """Return a trial that is not damaged; raise `InvalidInput` if it is."""
    if isinstance(shown, Damaged):
        raise InvalidInput(f"this trial cannot be read: {shown.why}.")
    return shown


def _there(look: Look, problem: int, trial: int) -> TrialId:
    """Return the place of a trial; raise `UnknownName` if it is not recorded."""
    place = TrialId(problem, trial)
    if look.after(TrialId(problem, trial - 1), 1) != [place]:
        raise UnknownName(f"there is no trial {trial} of problem {problem} here.")
    return place


def groups_for(reading: Reading, here: Here, run: RunRecord, source: str) -> Groups:
    """Return a run as one side of a comparison, under a name that sets it apart."""
    if not run.scorers or not reading.trials.scored_statuses(run.scorer().number):
        raise InvalidInput(f"{here.title} has no scores yet; there is nothing to compare.")
    options = Options.of(None, (), (), (), targets=True)
    stored = [StoredRun(reading.trials, run)]
    return reading.keep(
        ("groups", run.number, source),
        lambda: groups_of_runs(stored, options, source=source, kind="a run directory"),
    )
