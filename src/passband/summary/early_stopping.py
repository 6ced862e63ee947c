"""Lines of trials that were stopped by their own outcome, estimated as they must be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from passband import notes
from passband.errors import InvalidInput, UnknownName
from passband.notes import Note
from passband.stats.data import Outcomes
from passband.stats.evidence import StoppedCounts, stopping_of
from passband.stats.interval import Estimate, on_scale
from passband.stats.metric import parse_metric, parse_name
from passband.summary.default_metrics import default_metrics
from passband.summary.summary import Line, Request


def looks_stopped(outcomes: Outcomes, request: Request) -> StoppedCounts | None:
    """Return why the trials are taken as stopped by their own outcome, if they are.

    A request that says how trials were stopped, or that they were not, is believed.
    """
    if request.stopped_after is not None or outcomes.successes is None:
        return None
    if not outcomes.most_trials():
        return None
    stopping = stopping_of(outcomes.histogram)
    return stopping if stopping.is_alarm else None


def stopped_lines(
    outcomes: Outcomes,
    names: Sequence[str],
    request: Request,
    scorer: str | None,
    stopping: StoppedCounts | None = None,
) -> list[Line]:
    """Estimate pass@k of trials that were stopped by their outcome, as given or as they look."""
    from passband.stats.sequential import StoppingRule, estimate_stopped

    if request.population is not None:
        raise InvalidInput(
            "population is for numbers of trials fixed beforehand, and these were stopped by their "
            "own outcome; leave it out, or say stopped_after=0 (in the shell, --stopped-after 0) "
            "if they were not."
        )
    counted = outcomes.counted(request.policy)
    cap = counted.most_trials() if request.cap is None else request.cap
    rule = StoppingRule(request.stopped_after or 1, cap)
    lines: list[Line] = []
    wanted = names if request.metrics else default_metrics(Outcomes.from_counts([0], cap))[:1]
    for name in dict.fromkeys(one for several in wanted for one in _single(several, cap)):
        try:
            result = estimate_stopped(counted, name, rule, level=request.level, over=request.over)
        except UnknownName:
            raise
        except InvalidInput as error:
            lines.append(Line(name, scorer, None, _reason(str(error), stopping)))
        else:
            result = on_scale(result, parse_metric(name), outcomes)
            found = _notes(result, request, stopping)
            lines.append(Line(name, scorer, replace(result, notes=found)))
    return lines


def _notes(result: Estimate, request: Request, stopping: StoppedCounts | None) -> tuple[Note, ...]:
    found = result.notes if stopping is None else (_taken(stopping), *result.notes)
    if request.certify or request.calibrate:
        found += (notes.no_certificate("the trials were stopped by their own outcome"),)
    return found


def _reason(message: str, stopping: StoppedCounts | None) -> Note:
    reason = message if stopping is None else f"{message} {_taken(stopping)}."
    return notes.not_measurable(reason)


def _taken(stopping: StoppedCounts) -> Note:
    return notes.taken_as_stopped(stopping.p_value, stopping.problems, stopping.cap)


def _single(name: str, cap: int) -> list[str]:
    """Return a name with several k, or every k up to the cap, as one name for each.

    >>> _single("pass@1,4", 8), _single("pass@*", 3)
    (['pass@1', 'pass@4'], ['pass@1', 'pass@2', 'pass@3'])
    """
    parsed = parse_name(name)
    ks = range(1, cap + 1) if parsed.ks is None else parsed.ks
    return [parsed.at(k) for k in ks] or [name]
