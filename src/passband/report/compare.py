"""Two models, or several, on the same problems: what `passband compare` has to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.report.groups import Reading, read_groups
from passband.report.render import Row
from passband.report.stats import default_metrics
from passband.stats.data.outcomes import Outcomes, Policy
from passband.stats.decision.compare import Comparison, compare
from passband.stats.decision.ranking import Ranking, compare_all
from passband.stats.interval.estimate import Over
from passband.stats.interval.rounding import rounded_interval, rounded_value
from passband.stats.metric.registry import expand_metrics

__all__ = ["CompareReport", "compare_files", "models_of"]


_HEADS = ("metric", "difference", "p", "P(b > a)", "better", "worse", "problems")
_COMPARISON_FIELDS = (
    "metric", "value_a", "value_b", "value", "low", "high", "se", "p_value", "probability",
    "level", "over", "method", "improved", "worsened", "flipped", "n_problems", "only_a", "only_b",
    "left_out",
)  # fmt: skip


@dataclass(frozen=True)
class CompareReport:
    """The comparisons of two models by each metric, or of several by one."""

    models: tuple[str, ...]
    comparisons: list[Comparison]
    rankings: list[Ranking]
    level: float
    over: Over
    remarks: tuple[str, ...] = ()  # on how the files were read

    def rows(self) -> list[Row]:
        """Return a row per metric for two models, or a row per model and metric for several."""
        if self.comparisons:
            return [self._difference(found) for found in self.comparisons]
        return [
            {
                "metric": found.metric,
                "rank": _span(each.rank_low, each.rank_high),
                "model": each.model,
                "value": rounded_value(each.value, each.low, each.high),
                self._interval: rounded_interval(each.low, each.high),
                "P(best)": None if each.p_best is None else round(each.p_best, 3),
            }
            for found in self.rankings
            for each in found.standings
        ]

    def pair_rows(self) -> list[Row]:
        """Return a row per pair of models; their intervals hold all at once."""
        return [
            {
                "metric": found.metric,
                "difference": f"{pair.b} - {pair.a}",
                "value": rounded_value(pair.value, pair.low, pair.high),
                f"simultaneous {self._interval}": rounded_interval(pair.low, pair.high),
                "p": _p(pair.p_value),
                "p (Holm)": _p(pair.p_holm),
                "p (BH)": _p(pair.p_bh),
            }
            for found in self.rankings
            for pair in found.pairs
        ]

    def full_rows(self) -> list[Row]:
        """Return the same for programs, numbers in full."""
        if self.comparisons:
            return [
                {name: getattr(found, name) for name in _COMPARISON_FIELDS}
                for found in self.comparisons
            ]
        return [
            {"metric": found.metric, **asdict(each)}
            for found in self.rankings
            for each in found.standings
        ]

    def explanation(self) -> list[str]:
        """Return what the numbers mean, which problems count, and what to keep in mind."""
        target = "problems like these" if self.over == "problems" else "these very problems"
        lines = [f"{self._pairing()}; {self._interval}s are for {target}."]
        for found in self.comparisons:
            lines.append(_counts(found))
            lines += [f"{found.metric}: {note}" for note in found.notes]
        for ranking in self.rankings:
            dropped = ", ".join(f"{n} of {name}" for name, n in ranking.dropped.items() if n)
            left_out = f"; left out: {dropped}" if dropped else ""
            lines.append(
                f"{ranking.metric}: {ranking.n_problems} problems shared by all models{left_out}"
            )
            lines += [f"{ranking.metric}: {note}" for note in ranking.notes]
        return lines

    def _pairing(self) -> str:
        if any(not found.paired for found in self.comparisons):
            return "Differences are not paired"
        if self.over == "trials":
            return "Differences are on the shared problems, each model with the noise of its trials"
        return "Differences are paired by problem"

    def as_json(self) -> dict[str, Any]:
        """Return the report for programs, numbers in full."""
        rankings = [{**_plain(found), "dropped": dict(found.dropped)} for found in self.rankings]
        return {
            "models": list(self.models),
            "comparisons": [_plain(found) for found in self.comparisons],
            "rankings": rankings,
        }

    @property
    def _interval(self) -> str:
        return f"{100 * self.level:.10g}% interval"

    def _difference(self, found: Comparison) -> Row:
        a, b = (_head(name) for name in self.models)
        return {
            "metric": found.metric,
            a: rounded_value(found.value_a, found.low, found.high),
            b: rounded_value(found.value_b, found.low, found.high),
            "difference": rounded_value(found.value, found.low, found.high),
            self._interval: rounded_interval(found.low, found.high),
            "p": _p(found.p_value),
            "P(b > a)": None if found.probability is None else round(found.probability, 3),
            "better": found.improved,
            "worse": found.worsened,
            "problems": found.n_problems,
        }


def models_of(readings: Sequence[Reading]) -> dict[str, Outcomes]:
    """Return the models that files hold: one per file, or the groups of a single file."""
    if len(readings) == 1:
        return _models_of_one(readings[0])
    found: dict[str, Outcomes] = {}
    for reading, name in zip(readings, _names(readings), strict=True):
        if len(reading.groups) > 1:
            raise InvalidInput(
                f"{reading.source}: holds several groups, split by {', '.join(reading.by)}; "
                "give it alone to compare them."
            )
        found[name] = reading.groups[0][1]
    return found


def _models_of_one(reading: Reading) -> dict[str, Outcomes]:
    if len(reading.groups) < 2:
        raise InvalidInput(
            f"{reading.source}: one file must hold several models, in a column named model; "
            "or give two files."
        )
    if len(reading.by) > 1:
        raise InvalidInput(
            f"{reading.source}: differs in {' and '.join(reading.by)}; only one of them can tell "
            "the models apart. Take the file apart by the other first."
        )
    return {key[0]: outcomes for key, outcomes in reading.groups}


def compare_files(
    paths: Sequence[Path],
    metrics: Sequence[str],
    *,
    columns: Mapping[str, str | None],
    threshold: float | None = None,
    over: Over = "problems",
    level: float = 0.95,
    paired: bool = True,
    policy: Policy = "drop",
) -> CompareReport:
    """Compare two models by each metric, or rank several."""
    readings = [read_groups(path, columns=columns, threshold=threshold) for path in paths]
    models = models_of(readings)
    names = tuple(models)
    remarks = tuple(f"{each.source}: {line}" for each in readings for line in each.understood())
    counted = [outcomes.under(policy) for outcomes in models.values()]
    most = min(outcomes.most_trials() for outcomes in counted)
    fewest = min(counted, key=lambda outcomes: int(outcomes.trials.min()))
    asked = list(metrics) or default_metrics(fewest)[:1]
    wanted = [metric.name for text in asked for metric in expand_metrics(text, most)]
    if len(names) == 2:
        a, b = models.values()
        found = [
            compare(a, b, name, over=over, level=level, paired=paired, policy=policy)
            for name in wanted
        ]
        return CompareReport(names, found, [], level, over, remarks)
    if not paired:
        raise InvalidInput("several models are compared on the problems they share; not unpaired.")
    rankings = [compare_all(models, name, over=over, level=level, policy=policy) for name in wanted]
    return CompareReport(names, [], rankings, level, over, remarks)


def _names(readings: Sequence[Reading]) -> list[str]:
    """Name each file by its stem, or by its path where stems repeat."""
    for names in (
        [Path(each.source).stem for each in readings],
        [each.source for each in readings],
    ):
        if len(set(names)) == len(names):
            return names
    raise InvalidInput("the same file is given twice; a model cannot be compared with itself.")


def _head(name: str) -> str:
    """Return a column head for a model, apart from the heads of the table."""
    return f"{name} (model)" if name in _HEADS else name


def _span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}-{high}"


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"


def _counts(found: Comparison) -> str:
    lines = f"{found.metric}: {found.n_problems} problems count"
    for number, reason in (
        (found.only_a, "only in the first"),
        (found.only_b, "only in the second"),
        (found.left_out, "with too few trials"),
    ):
        lines += f", {number} {reason}" if number else ""
    flips = ", ".join(f"{f.problem} {f.value_a:.2f} -> {f.value_b:.2f}" for f in found.flips[:3])
    return lines + (f"; {found.flipped} flipped, most of all {flips}" if flips else "")


def _plain(found: Any) -> dict[str, Any]:
    return {k: v for k, v in asdict_shallow(found).items() if k != "dropped"}


def asdict_shallow(found: Any) -> dict[str, Any]:
    """Return the fields of a result, nested ones as dictionaries too."""
    return {
        name: [_item(each) for each in value] if isinstance(value, tuple) else value
        for name, value in vars(found).items()
    }


def _item(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return value._asdict()
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value
