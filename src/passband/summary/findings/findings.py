"""Collect the values of a report on one run.

What the trials of a run took: tokens, time and cost, as far as they are recorded.

Every problem and every trial: how often each problem is solved, and in which trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from passband.errors import InvalidInput
from passband.readers import UNKNOWN, Remark, stored_outcomes
from passband.stats.data import Outcomes
from passband.stats.interval import Estimate
from passband.stats.metric import needs_answers
from passband.summary.browse.browser import TrialBrowser
from passband.summary.browse.trial_query import TrialQuery
from passband.summary.checks.same_wrong import Agreement, rank_same_wrong
from passband.summary.findings.kinds import Kinds, kinds_of
from passband.summary.findings.progress import RecordedProgress, progress_of
from passband.summary.findings.provenance import RunProvenance, provenance_of
from passband.summary.findings.sample import Transcripts, chosen_places, sample_transcripts
from passband.summary.findings.scan import Scan
from passband.summary.findings.tries import Tries, tries_of
from passband.summary.findings.uncertainty import Uncertainty, uncertainty_of
from passband.summary.from_run import RunSummary, runs_with_trials, summarize_trials
from passband.summary.judged.result import rests_on_labels
from passband.summary.live.judge_usage import JudgeUsage, judges_of
from passband.summary.summary import Group, Line, Request, Summary, choice_lines
from passband.trials import RunRecord, Trials
from passband.types import Floats


@dataclass(frozen=True)
class Usage:
    """Tokens, seconds and cost; None where that is not known."""

    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None  #: of the completion tokens
    cached_tokens: int | None  #: of the prompt tokens
    seconds: float | None  #: of all sessions of the directory
    shares_time: bool  #: whether other runs of the directory took part of the time
    cost: float | None
    judges: tuple[JudgeUsage, ...] = ()  #: of every scorer that has asked one


def usage_of(trials: Trials, run: RunRecord) -> Usage:
    """Add up what the rows and the sessions of a run say."""
    tokens_in, tokens_out = trials.tokens(run.number)
    counted = bool(tokens_in or tokens_out)
    seconds = [session.seconds for session in trials.sessions() if session.seconds is not None]
    return Usage(
        prompt_tokens=tokens_in if counted else None,
        completion_tokens=tokens_out if counted else None,
        reasoning_tokens=trials.reasoning_tokens(run.number) or None,
        cached_tokens=trials.cached_tokens(run.number) or None,
        seconds=sum(seconds) if seconds and not run.is_imported else None,
        shares_time=len(trials.runs()) > 1,
        cost=trials.cost(run.number) if trials.is_priced(run.number) else None,
        judges=judges_of(trials, run),
    )


@dataclass(frozen=True)
class Strip:
    """Problems, easiest first; of each its key, its solved and its scored trials, and marks.

    The marks of a problem are a letter for each trial, in the order of their numbers: "1" right,
    "0" not right, "." without a score.
    """

    keys: tuple[str, ...]
    right: tuple[int, ...]
    scored: tuple[int, ...]
    marks: tuple[str, ...]
    always: int
    sometimes: int
    never: int

    @property
    def rates(self) -> tuple[float, ...]:
        """The success rate of each problem."""
        return tuple(right / of for right, of in zip(self.right, self.scored, strict=True))


def by_ease(outcomes: Outcomes) -> list[int]:
    """Return the places of the problems that have a score, the one solved most often first.

    >>> by_ease(Outcomes.from_counts([1, 4, 0, 4], [4, 4, 0, 8]))
    [1, 3, 0]
    """
    scored = np.flatnonzero(outcomes.trials > 0)
    means = _means(outcomes)[scored]
    return [int(scored[index]) for index in np.lexsort((scored, -means))]


def _means(outcomes: Outcomes) -> Floats:
    """Return the mean score of each problem; what those without a score have is not used."""
    if outcomes.successes is None:
        graded = outcomes.required_graded()
        sums = np.concatenate([[0.0], np.cumsum(graded.values)])[graded.offsets]
        means: Floats = np.diff(sums) / np.maximum(outcomes.trials, 1)
        return means
    rates: Floats = outcomes.successes / np.maximum(outcomes.trials, 1)
    return rates


def strip_of(
    outcomes: Outcomes, numbers: Mapping[str, int], marks: Mapping[int, Sequence[int]]
) -> Strip | None:
    """Return the problems that have a score; None where scores are not all 0 or 1."""
    if outcomes.successes is None or not outcomes.n_trials:
        return None
    scored, right = outcomes.trials, outcomes.successes
    places = by_ease(outcomes)
    keys = [outcomes.problems[index] for index in places]
    return Strip(
        keys=tuple(keys),
        right=tuple(int(right[index]) for index in places),
        scored=tuple(int(scored[index]) for index in places),
        marks=tuple(bytes(marks.get(numbers[key], b"")).decode() for key in keys),
        always=int(((right == scored) & (scored > 0)).sum()),
        sometimes=int(((right < scored) & (right > 0)).sum()),
        never=int(((right == 0) & (scored > 0)).sum()),
    )


_MOST_COMPARED = 20_000  # trials whose answers the scorer compares; beyond, texts are
_AGREEING = 8  # problems whose wrong answers agree


@dataclass(frozen=True)
class ReportRequest:
    """What a report is to show."""

    summary: Request = field(default_factory=Request)
    scorer: str | None = None  #: None: the main one
    by: str | None = None  #: column that tells kinds of problems apart; None: to be found
    transcripts: int = 400_000  #: bytes of transcripts; 0: none


@dataclass(frozen=True)
class Findings:
    """Everything that a report says of one run; None where the data do not allow it."""

    task: str
    model: str
    scorer: str
    summary: Summary  #: of this run alone
    progress: RecordedProgress
    headline: Line | None  #: the line that leads: the first that has an estimate
    inner: Mapping[str, Estimate]  #: over trials, by label of the line
    tries: tuple[Tries, ...]
    strip: Strip | None
    uncertainty: Uncertainty | None
    kinds: Kinds | None
    agreement: Agreement | None
    usage: Usage
    provenance: RunProvenance
    transcripts: Transcripts

    @property
    def name(self) -> str:
        """The task and the model, or the task alone where no model is named."""
        return f"{self.task} by {self.model}" if self.names_model else self.task

    @property
    def names_model(self) -> bool:
        """Whether the trials say whose they are."""
        return self.model != UNKNOWN

    @property
    def group(self) -> Group:
        """The run's counts, notes and lines."""
        return self.summary.groups[0]


@dataclass(frozen=True)
class SourceFindings:
    """The findings on every run of a source, and the summary of all of them."""

    summary: Summary
    runs: tuple[Findings, ...]


def source_findings(
    trials: Trials,
    request: ReportRequest | None = None,
    *,
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
) -> SourceFindings:
    """Return the findings on the runs of some tasks and models, or on all."""
    request = request or ReportRequest()
    runs = runs_with_trials(trials, tasks, models)
    summary = summarize_trials(
        trials, request.summary, tasks=tasks, models=models, scorer=request.scorer
    )
    share = replace(request, transcripts=request.transcripts // len(runs))
    return SourceFindings(
        summary,
        tuple(
            findings_of(trials, run, share, replace(summary, groups=(group,), combined=()))
            for run, group in zip(runs, summary.groups, strict=True)
        ),
    )


def findings_of(
    trials: Trials, run: RunRecord, request: ReportRequest, summary: Summary
) -> Findings:
    """Return the findings on one run; `summary` is that of the run alone."""
    scorer = run.scorer(request.scorer)
    (group,) = summary.groups
    lead = headline_of(group, scorer.name)
    found = Findings(
        task=run.task,
        model=run.label,
        scorer=scorer.name,
        summary=replace(summary, groups=(replace(group, by={}),), remarks=_remarks(run, summary)),
        progress=progress_of(trials, run),
        headline=lead,
        inner={},
        tries=(),
        strip=None,
        uncertainty=None,
        kinds=None,
        agreement=None,
        usage=usage_of(trials, run),
        provenance=provenance_of(trials, run),
        transcripts=Transcripts(),
    )
    if run.adaptive is not None:
        return found
    return _Measured(trials, run, request, found).findings()


def _remarks(run: RunRecord, summary: Summary) -> tuple[Remark, ...]:
    """Return what was said on reading the run; of a store with imported runs, on this one alone."""
    chosen = choice_lines(summary.request.first, summary.request.accept)
    remarks = summary.remarks
    if run.is_imported:
        remarks = tuple(Remark(text, important) for text, important in run.imported.remarks)
    return (*(Remark(line, important=True) for line in chosen), *remarks)


def headline_of(group: Group, scorer: str) -> Line | None:
    """Return the line that leads a report: one try, by the main scorer, or the first there is."""
    measured = [line for line in group.lines if line.estimate is not None]
    first = [line for line in measured if line.scorer == scorer and _is_one_try(line)]
    return next(iter((*first, *measured)), None)


def _is_one_try(line: Line) -> bool:
    """Return whether a line is the mean of single trials."""
    if line.name is not None:
        return line.reduction == "mean"
    return line.estimate is not None and line.estimate.metric in ("pass@1", "avg")


class _Measured:
    """The findings that need outcomes and scores."""

    def __init__(
        self, trials: Trials, run: RunRecord, request: ReportRequest, found: Findings
    ) -> None:
        self._trials, self._run, self._request, self._found = trials, run, request, found
        self._scorer = run.scorer(request.scorer)
        asked = request.summary
        outcomes = stored_outcomes(trials, run, self._scorer, asked.first)
        self._outcomes: Outcomes = outcomes.accepting(asked.accepted)
        self._numbers = trials.numbers(run.number)

    def findings(self) -> Findings:
        """Return the findings with all that the outcomes allow."""
        order = by_ease(self._outcomes.upright)
        keys = dict.fromkeys(self._outcomes.problems[place] for place in order)
        tried = self._trials.recorded(self._run.number)
        unscored = [key for key in self._outcomes.problems if self._numbers[key] in tried]
        everything = list(keys | dict.fromkeys(unscored))
        recorded = self._found.progress.recorded
        chosen = chosen_places(len(everything), recorded, self._request.transcripts)
        places = {everything[index]: index for index in chosen}
        scan = self._scan(frozenset(self._numbers[key] for key in places))
        agreement = self._agreement(scan)
        places |= self._agreeing(agreement, everything)
        return replace(
            self._found,
            inner=self._inner(),
            tries=tries_of(self._outcomes, self._request.summary),
            strip=strip_of(self._outcomes.upright, self._numbers, scan.marks),
            uncertainty=self._uncertainty(),
            kinds=self._kinds(),
            agreement=agreement,
            transcripts=self._transcripts(scan, places, (len(everything), recorded)),
        )

    def _scan(self, wanted: frozenset[int]) -> Scan:
        scale = self._run.scale(self._scorer)
        return Scan(self._trials, self._run, self._scorer, scale, wanted)

    def _agreement(self, scan: Scan) -> Agreement | None:
        """Return the problems whose wrong answers agree, read along with the scores."""
        is_large = self._found.progress.recorded > _MOST_COMPARED
        agreement = rank_same_wrong(
            self._trials,
            self._run,
            self._scorer,
            limit=_AGREEING,
            as_text=is_large,
            rows=scan.rows(),
            reads_texts=not is_large,
        )
        return None if is_large and scan.is_whole else agreement

    def _agreeing(self, agreement: Agreement | None, everything: Sequence[str]) -> dict[str, int]:
        """Return the places of the problems whose wrong answers agree."""
        if agreement is None or not self._request.transcripts:
            return {}
        wanted = {problem.problem for problem in agreement.found}
        return {key: index for index, key in enumerate(everything) if key in wanted}

    def _inner(self) -> dict[str, Estimate]:
        """Return every line's estimate for these very problems, by its label."""
        request = replace(self._request.summary, over="trials", certify=False)
        try:
            group = RunSummary(self._trials, self._run, request, self._request.scorer).group({})
        except InvalidInput:
            return {}
        return {line.metric: line.estimate for line in group.lines if line.estimate is not None}

    def _metric(self) -> str | None:
        """Return the metric that leads, where it is one of the scores alone."""
        lead = self._found.headline
        if lead is None or lead.estimate is None:
            return None
        if _is_one_try(lead):
            return "pass@1" if self._outcomes.is_binary else "avg"
        metric = lead.estimate.metric
        is_plain = lead.name is None and lead.estimate.method == "auto"
        return metric if is_plain and not needs_answers((metric,)) else None

    def _uncertainty(self) -> Uncertainty | None:
        lead, metric = self._found.headline, self._metric()
        if lead is None or lead.estimate is None or metric is None:
            return None
        if rests_on_labels(lead.estimate):
            return None  # its variance has a third part, that of the judge
        cost = self._found.usage.cost or 0.0
        return uncertainty_of(self._outcomes, metric, lead.estimate, self._request.summary, cost)

    def _kinds(self) -> Kinds | None:
        metric = self._metric()
        if metric is None:
            return None
        kinds = kinds_of(
            self._trials, self._run, self._outcomes, metric, self._request.summary,
            self._request.by,
        )  # fmt: skip
        judge = self._found.group.judge
        if kinds is None or judge is None:
            return kinds
        return replace(kinds, metric=f"{kinds.metric} (judged by {judge.title})")

    def _transcripts(
        self, scan: Scan, places: Mapping[str, int], totals: tuple[int, int]
    ) -> Transcripts:
        if not self._request.transcripts:
            return Transcripts((), *totals)
        browser = TrialBrowser(self._trials, self._run, TrialQuery(scorer=self._scorer.name))
        return sample_transcripts(
            browser, scan, places, self._numbers, self._request.transcripts, totals
        )
