"""The words of a gate: its headline, its target, and what is said of each comparison."""

from __future__ import annotations

from collections.abc import Iterator

from passband.report.words import counted
from passband.summary.gate.result import GateLine, GateResult

__all__ = ["HEADLINES", "headline", "line_text", "notes_of", "target"]

HEADLINES = {
    "pass": "PASS",
    "regression": "REGRESSION",
    "undecided": "UNDECIDED",
    "not-certified": "NOT CERTIFIED",
}


def headline(result: GateResult) -> str:
    """Return the verdict on a gate in one sentence."""
    return f"{HEADLINES[result.verdict]}: {_sentence(result)}"


def _sentence(result: GateResult) -> str:
    lines = result.deciding
    names = _listed(lines)
    if result.verdict == "pass":
        number = counted(len(lines), "required comparison")
        worse = sum(line.verdict == "worse-within-tolerance" for line in lines)
        within = f"; {worse} worse, within tolerance" if worse else ""
        return f"no loss beyond the tolerance in {number}{within}"
    if result.verdict == "regression":
        return f"worse, beyond noise, in {names}"
    if result.verdict == "undecided":
        return f"the data do not decide {names}"
    return f"nothing can be said of {names}" if lines else "no comparison is required"


def _listed(lines: tuple[GateLine, ...], most: int = 4) -> str:
    names = [f"{line.task} {line.metric}" for line in lines[:most]]
    more = len(lines) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def target(result: GateResult) -> str:
    """Return what the verdicts are about, and how often they may be wrong."""
    over = result.policy.over
    these = "these very problems" if over == "trials" else "problems like these"
    error = f"{100 * result.policy.error:g}%"
    if result.settled is not None:
        return (
            f"Verdicts and {100 * result.policy.level:g}% intervals are for {these}, at all looks "
            f"together. A model that is no worse is called a regression in at most {error} of such "
            f"gates ({counted(result.n_deciding, 'comparison')}), and one that is worse by the "
            f"tolerance passes in at most {error}."
        )
    return (
        f"Verdicts and {100 * result.policy.level:g}% intervals are for {these}. A false "
        f"regression anywhere among {counted(result.n_deciding, 'comparison')} has a chance of at "
        f"most {error} (Holm), and so has a pass where a loss reaches the tolerance."
    )


def notes_of(result: GateResult) -> Iterator[str]:
    """Yield what is to be known of single comparisons."""
    for line in result.lines:
        for text in line_text(line):
            yield f"{line.task} {line.metric}: {text}"


def line_text(line: GateLine) -> Iterator[str]:
    """Yield why a comparison is open, what would settle it, and what to keep in mind."""
    if line.reason:
        yield line.reason
    if line.more is not None:
        yield f"to settle it: {line.more}"
    if line.bracket is not None:
        low, high = line.bracket
        yield (
            f"failed trials ({line.failed[0]} of BASE, {line.failed[1]} of NEW): the difference is "
            f"between {low:+.3f} and {high:+.3f}, whatever they would have been"
        )
    if line.left_out:
        yield f"{line.left_out} problems of BASE are not compared"
    yield from (str(note) for note in line.notes if note.code != "unscored-trials")
