"""Render the end of a run's page: trials and their cost, notes, methods, how to repeat it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from passband.report.html.document import escape
from passband.report.html.elements import folded_list, pair_rows, prose, section
from passband.report.html.lead import times_text
from passband.report.html.run_text import RunText
from passband.report.noted import NoteLine, parted
from passband.report.summary import notes_of
from passband.report.words import call_cost, call_counts, call_tokens, counted, duration, money
from passband.summary import Findings, Tries

_STATUSES = {
    "truncated": "truncated (cut off at the limit of tokens)",
    "refused": "refused",
    "invalid": "invalid (what came back was no answer)",
    "gave_up": "given up (nothing came back)",
    "limit": "stopped by a limit of the task",
    "errored": "ended with an error",
    "tool_call": "ended with a call of a tool",
    "unknown": "ended for an unknown reason",
    "scorer_error": "errors of the scorer",
    "scorer_timeout": "timeouts of the scorer",
    "scorer_no_verdict": "replies of the judge without a verdict",
}
_PLAIN = ("missing", "unscored")  # which say themselves that there is no score


def trials_section(run: RunText) -> str:
    """Return the trials by status, with their cost."""
    rows = [*_counts(run), *_taken(run)]
    return section("Trials", "", pair_rows(rows))


def _counts(run: RunText) -> Iterator[tuple[str, str]]:
    group = run.findings.group
    yield "scored", f"{group.n_trials:,}"
    own = next((one for one in group.scorers if one.name == run.findings.scorer), None)
    if own is not None:
        yield "no answer found (counted wrong)", f"{own.no_answer:,}"
    lost = {name: count for name, count in group.statuses.items() if count and name != "ok"}
    for name, count in lost.items():
        word = name if name in _PLAIN else f"{_STATUSES.get(name, name)}, no score"
        yield word, f"{count:,}"
    for name, count in group.incomplete.items():
        yield f"{_STATUSES.get(name, name)}, scored all the same", f"{count:,}"
    if not lost and not group.incomplete:
        yield "truncated, refused, invalid, given up", "0"
    if group.retried:
        yield "asked more than once", f"{group.retried:,}"
    bracket = group.bracket
    if bracket is not None:
        ends = f"{run.rounding.value(bracket.low)} – {run.rounding.value(bracket.high)}"
        yield f"{bracket.metric}, all without a score wrong – right", ends


def _taken(run: RunText) -> Iterator[tuple[str, str]]:
    usage = run.findings.usage
    if usage.prompt_tokens is not None and usage.completion_tokens is not None:
        yield "tokens, in and out", f"{usage.prompt_tokens:,} + {usage.completion_tokens:,}"
    else:
        yield "tokens", "not recorded"
    if usage.cached_tokens:
        yield "of those in, from a cache", f"{usage.cached_tokens:,}"
    if usage.reasoning_tokens:
        yield "of those out, reasoning", f"{usage.reasoning_tokens:,}"
    if usage.seconds is not None:
        name = "time, with the other runs of the directory" if usage.shares_time else "time"
        yield name, duration(usage.seconds)
    name = "cost, without judges" if usage.judges else "cost"
    yield name, "unknown (no price given)" if usage.cost is None else money(usage.cost)
    for judge in usage.judges:
        yield f"calls to {judge.title}, the judge", call_counts(judge)
        yield f"tokens of {judge.title}, in and out", call_tokens(judge)
        yield f"cost of {judge.title}", call_cost(judge)


# -- notes ---------------------------------------------------------------------------------


def notes_section(run: RunText) -> str:
    """Return where numbers are weak, and how the trials were read."""
    found = run.findings
    lines_of_notes = [*notes_of(found.summary), *_curve_notes(found)]
    notes = parted(sorted(lines_of_notes, key=lambda line: line.rank))
    lines = [*notes.first]
    if found.transcripts.damaged:
        lines.append(
            f"{counted(found.transcripts.damaged, 'transcript')} could not be read and "
            f"{'is' if found.transcripts.damaged == 1 else 'are'} left out: the store is damaged. "
            "passband check says where, passband salvage saves what can be read."
        )
    lines += [one.text for one in found.summary.remarks if not one.important]
    unique = list(dict.fromkeys(lines))
    if not unique and not notes.others:
        return ""
    return section("Notes", "", folded_list(unique, notes.others, notes.how_many))


def _curve_notes(found: Findings) -> Iterator[NoteLine]:
    """Yield notes on curves that the lines of the table do not have."""
    said = {note.text for line in found.group.lines for note in line.notes}
    for tries in _curves(found):
        for note in tries.notes:
            if note.text not in said:
                where = f"{tries.metric}, at the k where the curve is weakest"
                yield NoteLine(note, f"{where}: {note.text}")


def _curves(found: Findings) -> list[Tries]:
    """Return the curves that are drawn: those of more than one k."""
    return [tries for tries in found.tries if len(tries.points) > 1]


# -- methods -------------------------------------------------------------------------------


def methods_section(run: RunText) -> str:
    """Return how the numbers were made, and the command that asks for the same."""
    made = run.findings.provenance
    parts = [f'<p class="small">{escape(" ".join(_methods(run)))}</p>']
    if made.command is not None:
        parts.append(f'<pre class="command">{escape(made.command)}</pre>')
    parts += [
        f'<p class="caption">imported from {prose(Path(one.file).name)} ({escape(one.reader)}, '
        f"sha256 {escape(one.sha256[:12])})</p>"
        for one in made.sources
    ]
    parts.append(f'<p class="caption">{prose(" · ".join(_versions(run)))}</p>')
    return section("Methods", "", "".join(parts))


def _versions(run: RunText) -> Iterator[str]:
    made = run.findings.provenance
    if made.versions:
        yield f"asked by passband {', '.join(made.versions)}"
    yield f"run {made.name}"
    if made.seed is not None and made.seed != made.name:
        yield f"seed {made.seed}"
    if made.digest:
        yield f"data sha256 {made.digest[:12]}"


def _methods(run: RunText) -> Iterator[str]:
    found = run.findings
    group = found.group
    if group.adaptive is not None:
        yield (
            "Items of a calibrated bank were asked one after the other, each chosen for what it "
            f"tells about ability, and scored by {found.scorer}: see docs/adaptive.md."
        )
        return
    times = times_text(run)
    each = "One problem" if group.n_problems == 1 else f"Each of {group.n_problems:,} problems"
    often = "once" if times == "1" else f"{times} times"
    yield f"{each} was asked {often} and scored by {found.scorer}."
    measured = [line for line in group.lines if line.estimate is not None]
    metrics = {line.metric.partition("@")[0].partition("^")[0] for line in measured}
    if "pass" in metrics or any(tries.metric.startswith("pass") for tries in found.tries):
        yield (
            "pass@k and pass^k are the unbiased estimates of Chen et al. (2021, arXiv 2107.03374) "
            "and Yao et al. (2024, arXiv 2406.12045)."
        )
    if any(line.estimate and line.estimate.method == "auto" for line in group.lines):
        yield (
            "Intervals are passband's default: over problems a Wilson-type interval with the "
            "scores' own variance and skewness, over trials from a fitted distribution of success "
            "rates."
        )
    others = sorted(
        {x.estimate.method for x in group.lines if x.estimate and x.estimate.method != "auto"}
    )
    if others:
        yield f"Intervals by {', '.join(others)}: see docs/which-interval.md."
    if _curves(found):
        yield "Bands hold for all k at once."
    if found.uncertainty is not None and found.uncertainty.share_problems is not None:
        yield "The variance is split as in Miller (2024, arXiv 2411.00640)."
    if measured:
        yield "Their measured coverage is in docs/measured.md."
