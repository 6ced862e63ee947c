"""Weighted means over the groups of a summary: strata of a table, tasks of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from passband import notes
from passband.errors import InvalidInput
from passband.notes import Note
from passband.stats.data.outcomes import Outcomes, on_one_scale
from passband.stats.evidence.collect import evidence_of_all
from passband.stats.interval.estimation import on_scale, weighed
from passband.stats.interval.strata.combination import combined_estimate
from passband.stats.interval.strata.weights import Weights, check_names, shares_of
from passband.stats.metric.registry import parse_metric
from passband.summary.summary import Combined, Group, Line, Request

__all__ = ["Sample", "Stratum", "check_population", "combine_groups", "combined_line"]

_STOPPED = notes.not_measurable(
    "its trials were stopped by their own outcome; stopped_after=0, in the shell --stopped-after "
    "0, if their numbers were fixed beforehand."
)


@dataclass(frozen=True)
class Sample:
    """What a line is computed from: outcomes, and the metric of them."""

    outcomes: Outcomes
    metric: str
    notes: tuple[Note, ...] = ()  #: on how it was read


@dataclass(frozen=True)
class Stratum:
    """A group of a summary as a stratum, with the sample of each line by its label."""

    group: Group
    samples: Mapping[str, Sample]


def combine_groups(strata: Sequence[Stratum], request: Request) -> tuple[Combined, ...]:
    """Return the weighted means over groups, for each model by itself."""
    if request.weights is None:
        return ()
    _check(request)
    if any(stratum.group.adaptive is not None for stratum in strata):
        raise InvalidInput("weights: adaptive tests have no mean over problems to combine.")
    for stratum in strata:
        if stratum.group.judge is not None and stratum.group.judge.is_corrected:
            raise InvalidInput(
                f"weights: {stratum.group.name or 'the group'} is corrected by labels, and such "
                "estimates are not combined; choose another scorer with --score."
            )
    by_model: dict[str | None, dict[str, Stratum]] = {}
    for stratum in strata:
        members = by_model.setdefault(stratum.group.model, {})
        name = stratum_name(stratum.group)
        if name in members or not name:
            raise InvalidInput(
                "weights are for groups that differ by more than the model; say by what with by "
                "(in the shell, --by COLUMN)."
            )
        members[name] = stratum
    return tuple(
        _combined(
            members, request, request.weights, {} if len(by_model) == 1 else {"model": model or ""}
        )
        for model, members in by_model.items()
    )


def _check(request: Request) -> None:
    if request.method != "auto":
        raise InvalidInput(f"weights go with method 'auto'; got {request.method!r}.")
    if request.stopped_after:
        raise InvalidInput("weights are for trials of a fixed number, not with stopped_after.")


def check_population(groups: Sequence[Group], request: Request) -> None:
    """Refuse one size of a population for several groups, each of which is part of another."""
    if request.population is not None and len(groups) > 1:
        names = ", ".join(group.name for group in groups[:4])
        raise InvalidInput(
            f"population is the size of one benchmark, and there are {len(groups)} groups "
            f"({names}); choose one, in the shell with --task or a file of its own."
        )


def stratum_name(group: Group) -> str:
    """Return what sets a group apart from others of the same model."""
    return " / ".join(value for name, value in group.by.items() if name != "model")


def _combined(
    strata: Mapping[str, Stratum], request: Request, weights: Weights, by: Mapping[str, str]
) -> Combined:
    check_names(strata)
    shares_of(weights, {name: max(s.group.n_problems, 1) for name, s in strata.items()})
    labels = [
        line.metric
        for line in next(iter(strata.values())).group.lines
        if all(line.metric in stratum.samples for stratum in strata.values())
    ]
    lines = [combined_line(label, strata, request, weights) for label in labels]
    weighting = weights if isinstance(weights, str) else "given"
    given = None if isinstance(weights, str) else dict(weights)
    return Combined("all", weighting, tuple(strata), tuple(lines), dict(by), given)


def combined_line(
    label: str, strata: Mapping[str, Stratum], request: Request, weights: Weights
) -> Line:
    """Return the weighted mean of the lines of one label; without one of them there is none."""
    lines = {
        name: next(line for line in stratum.group.lines if line.metric == label)
        for name, stratum in strata.items()
    }
    first = next(iter(lines.values()))
    for name, line in lines.items():
        if line.estimate is None:
            return replace(first, estimate=None, reason=notes.no_stratum(name, line.reason))
        if line.estimate.method.startswith("unstopped"):
            return replace(first, estimate=None, reason=notes.no_stratum(name, _STOPPED))
        if label not in strata[name].samples:
            reason = notes.not_measurable(f"{label} is no mean over problems.")
            return replace(first, estimate=None, reason=notes.no_stratum(name, reason))
    samples = {name: stratum.samples[label] for name, stratum in strata.items()}
    sample = next(iter(samples.values()))
    try:
        outcomes = on_one_scale({name: sample.outcomes for name, sample in samples.items()})
        scored = {name: each.counted(request.policy) for name, each in outcomes.items()}
        metric = parse_metric(sample.metric, max(each.most_trials() for each in scored.values()))
        estimate, _ = combined_estimate(
            outcomes, scored, metric, weights, request.over, request.level, request.policy
        )
        estimate = on_scale(estimate, metric, next(iter(outcomes.values())))
        estimate = weighed(estimate, metric.k, evidence_of_all(scored.values()))
    except InvalidInput as error:
        return replace(first, estimate=None, reason=notes.not_measurable(str(error)))
    own = [line.estimate for line in lines.values() if line.estimate is not None]
    estimate = replace(
        estimate,
        metric=own[0].metric,
        n_trials=sum(one.n_trials for one in own),  # of reduced trials, those that were reduced
        left_out=sum(one.left_out for one in own),
        n_unscored=sum(one.n_unscored for one in own),
        notes=(*_kept(estimate.notes, request), *_uncertified(request)),
    )
    return replace(first, estimate=estimate, reason=None)


def _kept(found: Sequence[Note], request: Request) -> tuple[Note, ...]:
    """Return the notes; numbers of trials are as fixed as the request says."""
    is_fixed = request.stopped_after == 0
    return tuple(note for note in found if not (is_fixed and note.code == "stopped-by-outcome"))


def _uncertified(request: Request) -> tuple[Note, ...]:
    """Return why there is no certificate, where one was asked for."""
    if not (request.certify or request.calibrate):
        return ()
    return (notes.no_certificate("that is for single strata, not for means over them"),)
