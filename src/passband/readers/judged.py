"""Scores that a judge gave to the trials of one model, beside the labels that people gave to some.

Both come from a run directory, or from two columns of a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import variance
from typing import TYPE_CHECKING, cast

from passband.errors import InvalidInput
from passband.stats.data import parse_scores

if TYPE_CHECKING:
    from passband.stats.data import Layout, TableGroup
    from passband.stats.judged import Design, Judged
    from passband.trials import RunRecord, ScoreRow, ScorerRecord, Trials


BY_HAND = "chosen"  #: the design of labels whose trials a person chose
UNKNOWN_DESIGN = "unknown"  #: that of labels which say nothing about how they were drawn

Place = tuple[str, int]  # key of the problem, number of the trial
Verdicts = Mapping[Place, float | None]  # a judge's scores; None where it came to none


@dataclass(frozen=True)
class Labels:
    """The labels of one labeller for trials that were drawn in one way."""

    name: str  #: of the scorer, or of the column
    values: Mapping[Place, float] = field(hash=False)
    design: str = UNKNOWN_DESIGN
    probabilities: Mapping[Place, float] = field(default_factory=dict, hash=False)
    by_hand: int = 0  #: labels that are not among them, as a person chose their trials
    drawn: int | None = None  #: trials that were drawn for labels, where that is recorded
    frame: int | None = None  #: trials that there were when they were drawn
    labeller: str | None = None


@dataclass(frozen=True, eq=False)
class JudgeScores:
    """A judge's scores, and the labels that correct them."""

    judge: str  #: name of the scorer, or of the column
    judged: Judged
    labels: Labels | None = None  #: None where nobody has labelled
    others: tuple[Labels, ...] = ()  #: of further labellers
    identity: str = ""  #: what the verdicts depend on; nothing where it is not recorded
    model: str | None = None  #: that judges, where it is recorded

    @property
    def title(self) -> str:
        """The name of the judge in tables: its scorer, or its model if that has no own name."""
        return title_of(self.judge, self.model)

    @property
    def n_labels(self) -> int:
        """Labels that may correct the judge: not those of trials that a person chose."""
        return 0 if self.judged.design == BY_HAND else self.judged.n_labels


def title_of(scorer: str, model: str | None) -> str:
    """Return what a judge is called.

    >>> title_of("clarity", "openai:large"), title_of("judge", "openai:large")
    ('clarity', 'openai:large')
    """
    return model if scorer == "judge" and model else scorer


def judge_of(
    verdicts: Verdicts,
    labels: Sequence[Labels],
    *,
    judge: str,
    identity: str = "",
    model: str | None = None,
    votes: int | Mapping[Place, Sequence[float]] | None = None,
    threshold: float | None = None,
) -> JudgeScores:
    """Put verdicts and labels side by side; the labels of the first labeller are those that count.

    Labels of trials that the judge has not been asked about are left out. `votes` is how many
    there are of every trial, or what they were.
    """
    from passband.stats.judged import Judged

    first = labels[0] if labels else None
    _refuse_other_scale(judge, verdicts, first, threshold)
    places = list(verdicts)
    values: Mapping[Place, float] = {} if first is None else first.values
    chances: Mapping[Place, float] = {} if first is None else first.probabilities
    is_known = bool(values) and all(place in chances for place in values)
    is_known = is_known and not _is_begun(first, len(places))
    judged = Judged.of(
        [key for key, _ in places],
        [trial for _, trial in places],
        list(verdicts.values()),
        [values.get(place) for place in places],
        design=_design(first),
        probability=[chances.get(place) for place in places] if is_known else None,
        votes=_vote_counts(votes, places),
        vote_variance=_variances(votes, places) if isinstance(votes, Mapping) else None,
        threshold=0.5 if threshold is None else threshold,
    )
    return JudgeScores(judge, judged, first, tuple(labels[1:]), identity, model)


def _vote_counts(
    votes: int | Mapping[Place, Sequence[float]] | None, places: Sequence[Place]
) -> int | list[int] | None:
    if not isinstance(votes, Mapping):
        return votes
    return [len(votes.get(place, ())) or 1 for place in places]


def _variances(
    votes: Mapping[Place, Sequence[float]], places: Sequence[Place]
) -> list[float | None]:
    """Return the variance among the votes of each trial; None for a single one."""
    given = (votes.get(place, ()) for place in places)
    return [variance(values) if len(values) > 1 else None for values in given]


def _is_begun(labels: Labels | None, trials: int) -> bool:
    """Return whether a file of several rounds through the problems is labelled in part.

    It is labelled from the top, so the probabilities are those of a draw of as many trials as have
    a label, which follow from their number; those of the whole file favour problems of few trials.
    """
    if labels is None or labels.design != "spread" or labels.frame != trials:
        return False
    return labels.drawn is not None and len(labels.values) < labels.drawn


def _design(labels: Labels | None) -> Design:
    return cast("Design", UNKNOWN_DESIGN if labels is None else labels.design)


def _refuse_other_scale(
    judge: str, verdicts: Verdicts, labels: Labels | None, threshold: float | None
) -> None:
    """Refuse scores beyond 0 to 1 beside labels of 0 and 1: which of them mean a pass?"""
    if labels is None or threshold is not None or not set(labels.values.values()) <= {0.0, 1.0}:
        return
    scores = [score for score in verdicts.values() if score is not None]
    if scores and not (min(scores) >= 0.0 and max(scores) <= 1.0):
        raise InvalidInput(
            f"labels are pass or fail, but scores of {judge} go from {min(scores):g} to "
            f"{max(scores):g}; say with --threshold from which score on the judge passes an answer."
        )


# -- run directories -----------------------------------------------------------------------


def label_scorers(run: RunRecord, name: str | None = None) -> list[ScorerRecord]:
    """Return the labellers of a run, the first one first; by name, that scorer is the first."""
    found = [scorer for scorer in run.scorers if scorer.is_label]
    if name is None:
        return found
    first = run.scorer(name)
    return [first, *(scorer for scorer in found if scorer.number != first.number)]


def is_judged(run: RunRecord, scorer: ScorerRecord) -> bool:
    """Return whether a scorer is a judge, or one that labels were drawn to correct."""
    if scorer.is_judge:
        return True
    judges = [(label.spec or {}).get("judge") for label in run.scorers if label.is_label]
    return not scorer.is_label and scorer.name in judges


def judge_scores(
    trials: Trials,
    run: RunRecord,
    scorer: ScorerRecord,
    label: str | None = None,
    *,
    threshold: float | None = None,
) -> JudgeScores:
    """Return a scorer's scores of a run as a judge's, with the labels that the run has."""
    keys = {number: key for key, number in trials.numbers(run.number).items()}
    rounds = trials.complete_rounds(run)

    def counted(rows: Iterable[tuple[int, int, ScoreRow]]) -> Iterable[tuple[Place, ScoreRow]]:
        for problem, trial, score in rows:
            if rounds is None or trial < rounds:
                yield (keys[problem], trial), score

    verdicts = {place: score.value for place, score in counted(trials.scores(scorer.number))}
    if not verdicts:
        raise InvalidInput(f"{run.task}: {scorer.name} has scored no trial yet.")
    labels = [
        _within(stored_labels(record, counted(trials.scores(record.number))), verdicts)
        for record in label_scorers(run, label)
        if record.number != scorer.number
    ]
    spec = scorer.spec or {}
    return judge_of(
        verdicts,
        [given for given in labels if given.values or given.by_hand],
        judge=scorer.name,
        identity=scorer.identity,
        model=spec.get("model") if isinstance(spec.get("model"), str) else None,
        votes=_votes(trials, scorer, keys),
        threshold=threshold,
    )


def _votes(
    trials: Trials, scorer: ScorerRecord, keys: Mapping[int, str]
) -> int | dict[Place, tuple[float, ...]] | None:
    """Return the votes that scores are the means of, or how many, where the calls are not here."""
    spec = scorer.spec or {}
    number, options = spec.get("votes"), spec.get("options")
    aggregate = options.get("aggregate", "mean") if isinstance(options, Mapping) else "mean"
    if not isinstance(number, int) or aggregate != "mean":
        return None
    votes = trials.votes(scorer.number) if number > 1 else ()
    return {(keys[vote.problem], vote.trial): vote.values for vote in votes} or number


def _within(labels: Labels, verdicts: Verdicts) -> Labels:
    """Return the labels of trials that the judge was asked about."""
    return replace(labels, values={p: v for p, v in labels.values.items() if p in verdicts})


def stored_labels(record: ScorerRecord, rows: Iterable[tuple[Place, ScoreRow]]) -> Labels:
    """Return the labels of a run; those of trials that were chosen by hand are only counted.

    Where all were chosen by hand, they are returned as such: to be shown, and not to correct with.
    """
    scored = [(place, row) for place, row in rows if row.value is not None]
    if not record.is_label:  # another scorer, taken as the truth
        return Labels(record.name, {place: float(row.value or 0.0) for place, row in scored})
    spec = record.spec or {}
    drawn = [(place, row) for place, row in scored if row.rule != BY_HAND]
    kept = drawn or scored
    designs = {row.rule or UNKNOWN_DESIGN for _, row in kept}
    return Labels(
        name=record.name,
        values={place: float(row.value) for place, row in kept if row.value is not None},
        design=designs.pop() if len(designs) == 1 else UNKNOWN_DESIGN,
        probabilities={
            place: chance for place, row in drawn if (chance := _chance(row)) is not None
        },
        by_hand=len(scored) - len(drawn),
        drawn=spec.get("drawn"),
        frame=spec.get("trials"),
        labeller=spec.get("labeller"),
    )


def _chance(row: ScoreRow) -> float | None:
    """Return the probability of having been drawn, which is kept as the detail of a label."""
    try:
        chance = float((row.detail or "").removeprefix("p="))
    except ValueError:
        return None
    return chance if 0.0 < chance <= 1.0 else None


def judged_rows(layout: Layout, group: TableGroup, threshold: float | None = None) -> JudgeScores:
    """Return the judge's scores of a group of rows beside its labels."""
    roles = layout.roles
    numbers: Counter[str] = Counter()
    places: list[Place] = []
    scores: list[float | None] = []
    for trial in layout.trials(group):  # numbered by their order: labels have no other name here
        places.append((trial.problem, numbers[trial.problem]))
        numbers[trial.problem] += 1
        scores.append(trial.score)
    labels = []
    if roles.label is not None:
        cells = parse_scores(roles.label, layout.columns[roles.label])[group.rows]
        values = {
            place: float(cell) for place, cell in zip(places, cells, strict=True) if cell == cell
        }
        _refuse_half_labels(roles.label, values, scores)
        labels = [Labels(roles.label, values)]
    verdicts = dict(zip(places, scores, strict=True))
    return judge_of(verdicts, labels, judge=roles.score, threshold=threshold)


def _refuse_half_labels(
    column: str, values: dict[Place, float], scores: list[float | None]
) -> None:
    """Refuse a column of labels that is empty: the name may be that of another column."""
    if not values:
        raise InvalidInput(f"column {column} (for label) is empty in every row of {len(scores)}.")
