"""Lines of trials that were stopped by their own outcome: refused, or estimated as they must be."""

from __future__ import annotations

from collections.abc import Sequence

from passband import notes
from passband.errors import InvalidInput, UnknownName
from passband.notes import Note
from passband.stats.data.outcomes import Outcomes
from passband.stats.metric.names import parse_name
from passband.summary.default_metrics import default_metrics
from passband.summary.summary import Line, Request

__all__ = ["refusal", "stopped_lines"]


def refusal(outcomes: Outcomes, request: Request) -> Note | None:
    """Return why the mean of c/n is refused: the trials look stopped by their own outcome.

    A request that says how trials were stopped, or that they were not, is not refused.
    """
    from passband.stats.sequential.detect import detect_by_counts

    if request.stopped_after is not None:
        return None
    detection = detect_by_counts(outcomes)
    if not detection.is_alarm:
        return None
    return notes.stopped_by_outcome(detection.p_value, detection.problems, outcomes.most_trials())


def stopped_lines(
    outcomes: Outcomes, names: Sequence[str], request: Request, scorer: str | None
) -> list[Line]:
    """Estimate pass@k of trials that the request says were stopped by their outcome."""
    from passband.stats.sequential.unstopped import StoppingRule, estimate_stopped

    counted = outcomes.under(request.policy)
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
            lines.append(Line(name, scorer, None, notes.not_measurable(str(error))))
        else:
            lines.append(Line(name, scorer, result))
    return lines


def _single(name: str, cap: int) -> list[str]:
    """Return a name with several k, or every k up to the cap, as one name for each.

    >>> _single("pass@1,4", 8), _single("pass@*", 3)
    (['pass@1', 'pass@4'], ['pass@1', 'pass@2', 'pass@3'])
    """
    parsed = parse_name(name)
    ks = range(1, cap + 1) if parsed.ks is None else parsed.ks
    return [parsed.at(k) for k in ks] or [name]
