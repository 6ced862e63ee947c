"""The variance of a corrected estimate, in three parts: problems, trials, judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.checks import Over, check_over, check_text
from passband.stats.decision.variance import NO_SPLIT_ONE_TRIAL
from passband.stats.judged.correction import corrected
from passband.stats.judged.judged import Judged
from passband.stats.judged.next_data import NextData, Prices, Sizes, Variances, purchases
from passband.stats.judged.notes import explained_by, is_mean_score
from passband.stats.judged.regression import regressed
from passband.stats.judged.sample import LabelSample, judge_values, sample_of
from passband.stats.judged.strata import strata_of
from passband.stats.metric.registry import parse_metric


@dataclass(frozen=True)
class JudgedSplit:
    """The variance of a corrected estimate in three parts, and what to buy next.

    `between` and `within` are variances of a label across problems and within them, `residual` what
    the judge leaves unexplained of their sum. The share of the judge is what would be gone if every
    trial had a label.
    """

    metric: str
    over: Over
    n_problems: int
    n_trials: int
    n_labels: int
    between: float | None  #: None where one trial of each problem does not show it
    within: float | None
    residual: float
    variance: float  #: of the estimate
    se: float
    share_between: float | None
    share_within: float | None
    share_judge: float
    vote_variance: float | None  #: of one vote on one answer; None without repeated votes
    reliability: float | None  #: of a score of as many votes as there are
    explained: float  #: share of the labels' variance that the judge explains
    worth: float  #: labels without a judge that one label with it is worth
    purchases: tuple[NextData, ...] = ()  #: best first
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        """Format the standard error and the shares, as `split_variance` does."""
        shares = f"{self.share_judge:.0%} judge"
        if self.share_between is not None and self.share_within is not None:
            shares = (
                f"{self.share_between:.0%} between problems, {self.share_within:.0%} sampling, "
                f"{shares}"
            )
        return f"{self.metric} se {self.se:.2g}: {shares}"


def split_judged(
    judged: Judged,
    prices: Prices | None = None,
    *,
    metric: str = "pass@1",
    over: Over = "problems",
) -> JudgedSplit:
    """Split the variance of a corrected mean into problems, trials and judge; say what to buy.

    Use it to decide between more labels, more votes on each trial, more trials and more problems:
    `purchases` has what a tenth more of each would bring, best first for its price. Only for means
    of single trials (pass@1, avg); see docs/how-intervals-work.md for the formulas.

    >>> rng = np.random.default_rng(1)
    >>> right = rng.random(400) < np.repeat(rng.random(100), 4)
    >>> scores = np.where(rng.random(400) < 0.9, right, ~right)
    >>> labels = np.where(np.arange(400) % 4 == 0, right, np.nan)
    >>> judged = Judged.of(np.repeat(range(100), 4), [0, 1, 2, 3] * 100, scores, labels)
    >>> split = split_judged(judged, Prices(label=1.0, vote=0.01, trial=0.02, problem=5.0))
    >>> print(split)
    pass@1 se 0.041: 37% between problems, 29% sampling, 34% judge
    >>> print(split.purchases[0])
    1 more trial of every problem: se 0.04, for 3
    """
    check_over(over)
    check_text("metric", metric, "pass@1")
    if not is_mean_score(parse_metric(metric, int(judged.trials.max()))):
        raise InvalidInput(f"only the variance of a mean, pass@1 or avg, is split; got {metric!r}.")
    whole = corrected(judged, metric, over=over)
    if whole.se is None or judged.is_fully_labelled:
        raise InvalidInput("every trial is labelled: split_variance splits the labels' variance.")
    sample = sample_of(judged)
    variances = _variances(judged, sample)
    sizes = _sizes(judged, sample)
    problems, trials, judge = variances.parts(sizes, over)
    now = problems + trials + judge or 1.0
    is_split = int(judged.trials.max()) > 1
    return JudgedSplit(
        metric=whole.metric,
        over=over,
        n_problems=judged.n_problems,
        n_trials=judged.n_trials,
        n_labels=judged.n_labels,
        between=variances.between if is_split else None,
        within=variances.within if is_split else None,
        residual=variances.residual_between + variances.residual_within,
        variance=whole.se**2,
        se=whole.se,
        share_between=problems / now if is_split else None,
        share_within=trials / now if is_split else None,
        share_judge=judge / now,
        vote_variance=variances.vote,
        reliability=variances.reliability(sizes.votes),
        explained=variances.explained,
        worth=1.0 / max(1.0 - variances.explained * (1.0 - sizes.labels / sizes.trials), 1e-9),
        purchases=purchases(variances, sizes, over, prices or Prices(), whole.se**2),
        notes=_notes(judged, variances),
    )


def _notes(judged: Judged, variances: Variances) -> tuple[Note, ...]:
    notes = [NO_SPLIT_ONE_TRIAL] if int(judged.trials.max()) == 1 else []
    if variances.vote is None:
        notes.append(votes_unmeasured())
    return tuple(notes)


def _sizes(judged: Judged, sample: LabelSample) -> Sizes:
    votes = 1.0 if judged.votes is None else float(1.0 / np.mean(1.0 / judged.votes))
    trials = judged.n_problems**2 / float((1.0 / judged.trials).sum())
    return Sizes(
        float(judged.n_problems),
        trials,
        min(float(sample.n_labels), trials),
        float(sample.n_labelled_problems),
        votes,
        judged.design,
    )


def _variances(judged: Judged, sample: LabelSample) -> Variances:
    """Return the parts of a label's variance.

    The part between problems is M times what the interval over problems has beyond the one over
    trials; the residuals' is the covariance of two of one problem, where such pairs are.
    """
    if judged.has_binary_labels:
        strata = strata_of(sample)
        prediction, explained = strata.prediction, explained_by(strata)
        total = strata.value * (1.0 - strata.value)
    else:
        fit = regressed(sample, judge_values(judged), bounded=False)
        prediction, explained = fit.prediction, fit.explained
        weight = sample.label_weight
        total = float(weight @ (sample.label - weight @ sample.label) ** 2)
    between = sample.n_problems * (prediction.rest("problems") - prediction.rest("trials"))
    between = min(max(between, 0.0), total) if int(judged.trials.max()) > 1 else total
    residual = (1.0 - explained) * total
    shared = min(sample.n_problems * prediction.fixed_part(), residual, between)
    vote = _vote_variance(judged)
    known = judged.score[~np.isnan(judged.score)]
    spread = float(known.var()) if len(known) else 0.0
    votes = 1.0 if judged.votes is None else float(1.0 / np.mean(1.0 / judged.votes))
    expected = max(spread - (vote or 0.0) / votes, 0.0)
    return Variances(between, total - between, shared, residual - shared, explained, vote, expected)


def _vote_variance(judged: Judged) -> float | None:
    """Return the mean variance of one vote: as recorded, or v / (v - 1) f (1 - f) of 0/1 votes."""
    if judged.votes is None:
        return None
    rows = (judged.votes >= 2) & ~np.isnan(judged.score)
    if judged.vote_variance is not None:
        rows &= ~np.isnan(judged.vote_variance)
        return float(judged.vote_variance[rows].mean()) if rows.any() else None
    score, votes = judged.score[rows], judged.votes[rows]
    if not len(score) or score.min() < 0.0 or score.max() > 1.0:
        return None
    return float((votes / (votes - 1.0) * score * (1.0 - score)).mean())


def votes_unmeasured() -> Note:
    """Return the note on judges whose noise from vote to vote is not known."""
    return Note(
        "votes-unmeasured",
        "one vote on every trial does not show what a second would bring; ask for 2 votes on about "
        "50 trials",
    )
