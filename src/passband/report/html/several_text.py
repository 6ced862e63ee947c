"""Word and draw findings on several models, all with one rounding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from passband.report.charts.bar import Bar, Ends
from passband.report.charts.canvas import isolated
from passband.report.charts.chart import Chart
from passband.report.charts.difference_forest import DifferenceForest
from passband.report.charts.rank_bars import Rank, RankBars
from passband.report.html.elements import sentence
from passband.stats.data import titled
from passband.stats.decision import Comparison, ModelPair, MoreData, Ranking
from passband.stats.interval import Rounding, common_rounding
from passband.summary import ComparedFindings, ComparedMetric, ComparedTask

MOST_PAIRS = 15  #: drawn; of more models, each is compared with the best alone


@dataclass(frozen=True)
class Difference:
    """A row of the forest: b - a of one metric of one task."""

    task: ComparedTask
    metric: ComparedMetric
    a: str
    b: str
    outer: Comparison | ModelPair
    inner: Comparison | ModelPair | None

    @property
    def numbers(self) -> tuple[float, float | None, float | None]:
        """The difference and the ends of its interval."""
        return self.outer.value, self.outer.low, self.outer.high

    @property
    def falls(self) -> bool:
        """Whether lower values are better."""
        return self.metric.ranking.lower_is_better


@dataclass(frozen=True)
class SeveralText:
    """The findings, and how their numbers are written."""

    findings: ComparedFindings

    @cached_property
    def differences(self) -> list[Difference]:
        """The differences of two models: all metrics of a pair, the first of a ranking."""
        return [difference for task in self.findings.tasks for difference in _differences(task)]

    @cached_property
    def rounding(self) -> Rounding:
        """How differences, and the values behind them, are written."""
        return common_rounding(difference.numbers for difference in self.differences)

    @property
    def percent(self) -> Rounding:
        """How differences of shares are written as points: the same decimals, two places on."""
        return Rounding(max(self.rounding.places - 2, 0), percent=True)

    def row_rounding(self, task: ComparedTask, metric: ComparedMetric) -> Rounding:
        """Return how the values of the models on a metric are written."""
        del task
        return common_rounding(
            (standing.value, standing.low, standing.high) for standing in metric.ranking.standings
        )

    def label(self, row: Difference) -> str:
        """Return the label of a row: the names that differ between rows."""
        parts = [] if len(self.findings.tasks) == 1 else [row.task.task or "all problems"]
        if len({other.metric.metric for other in self.differences}) > 1 or self.findings.pair:
            parts.append(titled(row.metric.metric, row.falls))
        if self.findings.pair is None:
            parts.append(f"{isolated(row.b)} − {isolated(row.a)}")
        return " · ".join(parts)

    def charts(self) -> list[Chart]:
        """Return every chart of the report."""
        forests = [self.forest()] if self.differences else []
        return [*forests, *(chart for task in self.findings.tasks for chart in self.ranks(task))]

    def forest(self) -> DifferenceForest:
        """Return all differences as bars beside the line of no difference."""
        base, new = self.findings.pair or ("the second", "the first")
        margin = self.findings.options.margin
        return DifferenceForest(
            [self._bar(difference) for difference in self.differences],
            base,
            new,
            None if margin is None else (-margin, margin),
            self.findings.options.level,
            self.rounding,
            falls=[difference.falls for difference in self.differences],
        )

    def _bar(self, difference: Difference) -> Bar:
        inner = None if difference.inner is None else _ends(difference.inner)
        return Bar(
            self.label(difference),
            difference.outer.value,
            _ends(difference.outer),
            inner,
            words=_verdict(difference),
        )

    def ranks(self, task: ComparedTask) -> list[RankBars]:
        """Return the rank intervals of a task with three models or more."""
        if len(task.models) < 3:
            return []
        ranking = task.first.ranking
        rounding = self.row_rounding(task, task.first)
        ranks = [
            Rank(
                standing.model,
                standing.rank_low,
                standing.rank_high,
                standing.rank,
                rounding.value(standing.value),
            )
            for standing in ranking.standings
        ]
        name = "ranks" if len(self.findings.tasks) == 1 else f"ranks-{task.task}"
        title = f"Ranks by {task.first.metric}" + (f" on {task.task}" if task.task else "")
        return [RankBars(ranks, ranking.level, title, name)]

    # -- sentences -------------------------------------------------------------------------

    def lead_number(self) -> tuple[str, str] | None:
        """Return the difference that leads, with its sign, and its unit; None if none does."""
        pair, tasks = self.findings.pair, self.findings.tasks
        if pair is None or len(tasks) != 1:
            return None
        comparison = tasks[0].first.comparison
        assert comparison is not None
        text = self._amount(tasks[0], comparison.value)
        sign = "" if text.startswith("-") else "+"
        return f"{sign}{text}".replace("-", "−"), "points" if _counts(tasks[0]) else ""

    def lead(self) -> Iterator[str]:
        """Yield the sentences that lead: the verdict first, and whose it is if it is a judge's."""
        yield from self._verdicts()
        for task in self.findings.tasks:
            if task.judge:
                yield _judged_sentence(task)

    def _verdicts(self) -> Iterator[str]:
        if self.findings.pair is None:
            for task in self.findings.tasks:
                yield from self._ranked(task)
        elif len(self.findings.tasks) == 1:
            yield from self._one_task(self.findings.tasks[0])
        else:
            yield from self._many_tasks(*self.findings.pair)

    def _one_task(self, task: ComparedTask) -> Iterator[str]:
        metric = task.first
        assert metric.comparison is not None
        yield f"{self._moved(task, metric.comparison)}. "
        yield f"For problems like these: {_words(metric.comparison, task)}. "
        again = metric.again
        if again is not None:
            ends = ""
            if again.low is not None and again.high is not None:
                ends = f"; the difference would be {self._between(task, again.low, again.high)}"
            yield f"For these very problems, asked again: {_words(again, task)}{ends}. "
        yield from self.open_question(metric)

    def _moved(self, task: ComparedTask, comparison: Comparison) -> str:
        """Return by how much b is ahead of a, and between which ends."""
        a, b = task.models
        value, low, high = comparison.value, comparison.low, comparison.high
        unit = " points" if _counts(task) else ""
        amount = self._amount(task, abs(value)) + unit
        if self.rounding.value(abs(value)) == self.rounding.value(0.0):
            text = f"{b} and {a} differ by {amount}"
        elif comparison.metric == "pass@1":
            text = f"{b} solves {amount} {'more' if value > 0 else 'fewer'} than {a}"
        else:
            side = "above" if value > 0 else "below"
            metric = "The mean score" if comparison.metric == "avg" else comparison.metric
            better = " (lower is better)" if comparison.lower_is_better else ""
            text = f"{metric} of {b} is {amount} {side} that of {a}{better}"
        if comparison.decision.verdict == "not-comparable":
            return text
        if low is None or high is None:
            return f"{text}; there are too few data for an interval"
        if low > 0 or high < 0:
            return f"{text}, {self._between(task, *sorted((abs(low), abs(high))))}"
        return f"{text}; the difference is {self._between(task, low, high)}"

    def _between(self, task: ComparedTask, low: float, high: float) -> str:
        ends = [self._amount(task, end).replace("-", "−") for end in (low, high)]
        return f"between {ends[0]} and {ends[1]}"

    def _amount(self, task: ComparedTask, value: float) -> str:
        return (self.percent if _counts(task) else self.rounding).value(value)

    def open_question(self, metric: ComparedMetric) -> Iterator[str]:
        """Yield the data that would settle an open verdict."""
        more = None if metric.comparison is None else metric.comparison.decision.more
        if more is None:
            return
        if more.goal is None:
            yield f"{sentence(str(more))} "
        else:
            yield f"To settle it ({verdict_word(more.goal)}){_odds(more)}: {more}. "

    def open_questions(self, rows: Sequence[Difference]) -> Iterator[str]:
        """Yield the data that would settle the open verdicts of several rows."""
        questions = [
            (self.label(row), row.metric.comparison.decision.more)
            for row in rows
            if row.metric.comparison is not None
        ]
        settled = [(label, more) for label, more in questions if more is not None]
        odds = next((_odds(more) for _, more in settled if more.goal is not None), None)
        if odds is not None:
            yield f"To settle what is open{odds}:"
        for label, more in settled:
            goal = "" if more.goal is None else f" ({verdict_word(more.goal)})"
            yield f"{label}{goal}: {more}"

    def _many_tasks(self, a: str, b: str) -> Iterator[str]:
        findings = self.findings
        yield f"For problems like these, {b} is {_tally(findings.verdicts('problems'), a)}. "
        if again := findings.verdicts("trials"):
            yield f"For these very problems, asked again, it is {_tally(again, a)}. "
        if not self._adjusts:
            return
        yield (
            f"Counted by the first metric of each task, such that all {findings.n_comparisons} "
            "comparisons of this report hold at once (Holm). "
        )

    def _ranked(self, task: ComparedTask) -> Iterator[str]:
        where = f"On {task.task}: " if len(self.findings.tasks) > 1 else ""
        if len(task.models) == 2:
            assert task.first.comparison is not None
            yield f"{where}{self._moved(task, task.first.comparison)}. "
            return
        top = [
            standing.model for standing in task.first.ranking.standings if standing.rank_low == 1
        ]
        metric, total = task.first.metric, len(task.models)
        if len(top) == 1:
            ahead = self._ahead(task)
            yield f"{where}{top[0]} is the best of {total} models by {metric}{ahead}. "
        else:
            rest = total - len(top)
            others = "the other ranks" if rest == 1 else f"the other {rest} rank"
            below = f"; {others} below" if rest else ""
            yield f"{where}{listed(top)} may each be the best by {metric}{below}. "

    def _ahead(self, task: ComparedTask) -> str:
        """Return how far the best model is ahead of the next one."""
        ranking = task.first.ranking
        first, second, *_ = ranking.standings
        pair = ranking.pair(second.model, first.model)
        unit = " points" if _counts(task) else ""
        text = f", {self._amount(task, pair.value)}{unit} ahead of {second.model}"
        if pair.low is None or pair.high is None:
            return text
        return f"{text} ({self._between(task, pair.low, pair.high)})"

    def differences_caption(self) -> str:
        """Return the meaning of the bars, and how their number affects it."""
        text = self.forest().caption
        text = text if self.findings.pair else text[:1].upper() + text[1:]
        return " ".join(filter(None, [text, self._multiplicity()]))

    def _multiplicity(self) -> str:
        findings = self.findings
        if any(len(task.models) > 2 for task in findings.tasks):
            apart = "; several tasks are not adjusted for each other" * (len(findings.tasks) > 1)
            return (
                "Among three models or more, the intervals of one task and metric hold for all "
                f"pairs at once{apart}."
            )
        if not self._adjusts:
            return ""
        return (
            f"Each interval holds on its own; verdicts, and p-values in the table below, allow for "
            f"all {findings.n_comparisons} comparisons (Holm)."
        )

    @property
    def _adjusts(self) -> bool:
        """Whether verdicts of two models allow for other comparisons."""
        comparisons = (metric.comparison for task in self.findings.tasks for metric in task.metrics)
        return any(metric is not None and metric.family > 1 for metric in comparisons)

    def differences_finding(self) -> str:
        """Return how many differences are decided, in a sentence."""
        verdicts = [_verdict(difference) for difference in self.differences]
        metrics = {difference.metric.metric for difference in self.differences}
        by = f" By {metrics.pop()}." if self.findings.pair is None and len(metrics) == 1 else ""
        if len(verdicts) == 1:
            is_open = verdicts[0] in ("undecided", "open", "not comparable")
            return ("It is not decided." if is_open else "It is decided.") + by
        counts = ", ".join(f"{count} {verdict}" for verdict, count in Counter(verdicts).items())
        return f"{counts}.{by}"


def _odds(more: MoreData) -> str:
    return f" with a chance of {100 * more.power:.0f} %, if the true difference is the one seen"


def _words(comparison: Comparison, task: ComparedTask) -> str:
    """Return the verdict on one comparison, or why there can be none."""
    if comparison.decision.verdict == "not-comparable":
        return "not comparable, for the reason above"
    return comparison.decision.words(*task.models)


def _tally(verdicts: Sequence[str], a: str) -> str:
    """Count the tasks on which b is better, worse, neither or undecided.

    >>> _tally(["worse", "undecided", "worse"], "base")
    'worse than base on 2 of 3 tasks and better on none; 1 is undecided'
    """
    counts = Counter(map(verdict_word, verdicts))
    first, second = sorted(("better", "worse"), key=lambda word: -counts[word])
    others = ", ".join(
        f"{count} {'is' if count == 1 else 'are'} {word}"
        for word, count in counts.items()
        if word not in (first, second)
    )
    if not counts[first]:
        return f"neither better nor worse than {a} on any of {len(verdicts)} tasks: {others}"
    text = f"{first} than {a} on {counts[first]} of {len(verdicts)} tasks and {second} on "
    return f"{text}{counts[second] or 'none'}{'; ' if others else ''}{others}"


def _judged_sentence(task: ComparedTask) -> str:
    """Return a sentence on a difference of judged scores."""
    where = f" on {task.task}" if task.task else ""
    if task.is_corrected:
        return f"The verdicts{where} are those of {task.judge}, corrected by labels. "
    return f"The verdicts{where} are those of {task.judge} alone: a judge's, and not the task's. "


def _counts(task: ComparedTask) -> bool:
    """Return whether values are shares of successes, whose differences are written as points."""
    return task.is_share and not task.first.metric.startswith(("avg", "max@"))


def _differences(task: ComparedTask) -> Iterator[Difference]:
    for metric in task.metrics:
        if metric.comparison is not None:
            a, b = task.models
            yield Difference(task, metric, a, b, metric.comparison, metric.again)
    if task.first.comparison is None:
        repeated = task.first.repeated
        for pair in _pairs(task.first.ranking):
            again = repeated.pair(pair.a, pair.b)
            yield Difference(task, task.first, pair.a, pair.b, pair, again)


def _pairs(ranking: Ranking) -> list[ModelPair]:
    """Return the pairs with the better model as b: all, or those with the best."""
    order = [standing.model for standing in ranking.standings]
    names = [(a, b) for index, b in enumerate(order) for a in order[index + 1 :]]
    if len(names) > MOST_PAIRS:
        names = [(a, order[0]) for a in order[1:]]
    return [ranking.pair(a, b) for a, b in names]


def _ends(difference: Comparison | ModelPair) -> Ends | None:
    return (
        None
        if difference.low is None and difference.high is None
        else (difference.low, difference.high)
    )


def _verdict(difference: Difference) -> str:
    if isinstance(difference.outer, Comparison):
        return verdict_word(difference.outer.decision.verdict)
    low, high = difference.outer.low, difference.outer.high
    if low is None or high is None:
        return "open"
    if difference.falls:
        low, high = -high, -low
    return "better" if low > 0 else "worse" if high < 0 else "open"


def verdict_word(verdict: str) -> str:
    """Return a verdict as it is written in a sentence.

    >>> verdict_word("no-worse")
    'no worse'
    """
    return verdict.replace("-", " ")


def listed(names: list[str]) -> str:
    """Return names as a list in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
