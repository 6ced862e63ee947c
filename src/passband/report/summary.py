"""Word a summary: what `stats` and `run` print beside the table."""

from __future__ import annotations

from collections.abc import Mapping

from passband.report.judged import judge_lines
from passband.report.layout import not_shares
from passband.report.noted import Noted, NoteLine, about, note_lines, shown, warnings
from passband.report.style import PLAIN, Style
from passband.report.table_line import table_lines
from passband.summary import Group, Line, Summary

_MEANING = {
    "problems": "Intervals ({level}) are for problems like these, asked the same way",
    "trials": "Intervals ({level}) are for these very problems, the model sampled again",
}
_MEANING["population"] = (
    "Intervals ({level}) are for all {population} problems that these are a random part of"
)
_ADAPTIVE = "Intervals ({level}) are for this model's ability, and its accuracy on the whole bank"
_BESIDE = " (of adaptive tests: for the model's ability, and its accuracy on the whole bank)"
_WEIGHTED = {
    "equal": "each counting the same",
    "size": "each counting by its problems",
    "given": "weighted as given",
}
_OTHER_TARGET = {
    "problems": "; --over trials gives them for these very problems.",
    "trials": "; --over problems gives them for problems like these.",
}


def counts_text(group: Group) -> str:
    """Return the numbers of problems, clusters and trials of a group.

    >>> counts_text(Group(None, None, {}, 3, 23, {"ok": 23, "timeout": 1}, True, (7, 8)))
    '3 problems, 7-8 trials each, 23 scored, 1 timeout'
    """
    fewest, most = group.trials_per_problem
    parts = [_plural(group.n_problems, "problem")]
    if group.n_clusters is not None:
        parts.append(_plural(group.n_clusters, "cluster"))
    each = f"{fewest}" if fewest == most else f"{fewest}-{most}"
    parts.append(f"{each} {'trial' if each == '1' else 'trials'} each")
    parts.append(f"{group.n_trials} scored")
    parts += [f"{n} {status}" for status, n in group.statuses.items() if status != "ok" and n]
    return ", ".join(parts)


def remark_lines(summary: Summary, *, quiet: bool = False) -> list[str]:
    """Return remarks on the source, and the counts of each group; quiet, only important ones."""
    if quiet:
        return [remark.text for remark in summary.remarks if remark.important]
    lines = [remark.text for remark in summary.remarks]
    return lines + [
        f"{_prefix(group)}{counts_text(group)}{bracket_text(group)}" for group in summary.groups
    ]


def bracket_text(group: Group, *, named: bool = False) -> str:
    """Return the range that unscored trials leave open, if it is wider than the interval.

    >>> from passband.summary.from_sources import summarize
    >>> bracket_text(summarize([[1, None], [0, None]] * 40).groups[0])
    '; pass@1 is between 0.250 (all trials without a score wrong) and 0.750 (all right)'
    """
    bracket = group.bracket
    if bracket is None:
        return ""
    name = f"{_prefix(group) if named else ''}{bracket.metric}"
    low, high = f"{bracket.low:.3f}", f"{bracket.high:.3f}"
    return f"; {name} is between {low} (all trials without a score wrong) and {high} (all right)"


def notes_of(summary: Summary) -> list[NoteLine]:
    """Return the notes on the trials of each group, and on metrics, the most severe first."""
    everything = table_lines(summary)
    labels = [(" / ".join(one.by.values()), one.line.metric) for one in everything]
    noted = [Noted(note, _where(group)) for group in summary.groups for note in group.notes]
    for (where, metric), one in zip(labels, everything, strict=True):
        noted += [Noted(note, where, metric) for note in one.line.notes]
    return note_lines(noted, labels)


def warning_lines(summary: Summary) -> list[str]:
    """Return the notes that forbid a claim, or change what the numbers mean."""
    return warnings(notes_of(summary))


def meaning(summary: Summary) -> str:
    """Return the target of the intervals, without a full stop."""
    level = f"{100 * summary.request.level:.10g}%"
    if all(group.adaptive is not None for group in summary.groups):
        return _ADAPTIVE.format(level=level)
    population = summary.request.population
    over = summary.request.over if population is None else "population"
    text = _MEANING[over].format(level=level, population=population)
    return text + (_BESIDE if any(group.adaptive is not None for group in summary.groups) else "")


def style_notes(summary: Summary, style: Style) -> list[str]:
    """Return notes on what a style hides."""
    lines = []
    if kept := not_shares(summary, style):
        lines.append(f"{', '.join(kept)}: not a share of 1, so not a percentage; as it is.")
    left_out = {
        _label(one.by, one.line): one.estimate.left_out
        for one in table_lines(summary)
        if style.layout == "wide" and one.estimate is not None and one.estimate.left_out
    }
    lines += [
        f"{label}: {_plural(count, 'problem')} with too few trials left out"
        for label, count in left_out.items()
    ]
    return lines


def explanation(summary: Summary, style: Style = PLAIN) -> list[str]:
    """Return the target of the intervals and their weak spots."""
    is_only = all(group.adaptive is not None for group in summary.groups)
    is_only |= _all_stopped(summary)  # these have no interval over trials
    is_only |= summary.request.population is not None
    lines = [meaning(summary) + ("." if is_only else _OTHER_TARGET[summary.request.over])]
    if any("*" in name for name in summary.request.metrics):
        lines.append("Along a curve they hold one k at a time; passband.band holds for all k.")
    sentences, limits = _certificate_lines(summary)
    lines += style_notes(summary, style)
    own = [*combined_meaning(summary), *judge_lines(summary)]
    return [*lines, *own, *sentences, *remarks_below(summary, style), *limits]


def _certificate_lines(summary: Summary) -> tuple[list[str], list[str]]:
    """Return the coverage to expect, once for all metrics with the same, and its limits."""
    labels = [(_where(group), line.metric) for group, line in summary.lines()]
    sentences: dict[str, list[tuple[str, str]]] = {}
    unseen: dict[str, None] = {}
    for label, (_, line) in zip(labels, summary.lines(), strict=True):
        certificate = None if line.estimate is None else line.estimate.certificate
        if certificate is not None:
            unseen[certificate.unseen] = None
            if not certificate.is_low:  # else it has a note
                sentences.setdefault(certificate.sentence, []).append(label)
    lines = [f"{about(names, labels)}: {text}." for text, names in sentences.items()]
    return lines, [f"Simulated coverage cannot see {text}." for text in unseen]


def _all_stopped(summary: Summary) -> bool:
    """Return whether every estimate is of trials that were stopped by their outcome."""
    methods = {line.estimate.method for _, line in summary.lines() if line.estimate is not None}
    return bool(summary.request.stopped_after) or (
        bool(methods) and all(method.startswith("unstopped") for method in methods)
    )


def combined_meaning(summary: Summary) -> list[str]:
    """Return the weights of each mean over groups, and the target of its interval."""
    again = {
        "problems": "with problems sampled again within each",
        "trials": "with the model sampled again on these very problems",
    }[summary.request.over]
    labels = {combined.label: combined for combined in summary.combined}
    return [
        f"{label}: mean over {_plural(len(combined.strata), 'stratum', 'strata')}, "
        f"{_WEIGHTED[combined.weighting]}; its interval is for these strata, {again}."
        for label, combined in labels.items()
    ]


def remarks_below(summary: Summary, style: Style = PLAIN, more: str = "--notes") -> list[str]:
    """Return the notes that are no warnings, as many as the style asks for."""
    return shown(notes_of(summary), every=style.notes, more=more)


def _label(by: Mapping[str, str], line: Line) -> str:
    return " / ".join([*by.values(), line.metric])


def _where(group: Group) -> str:
    return group.name if group.by else ""


def _prefix(group: Group) -> str:
    return f"{group.name}: " if group.by else ""


def _plural(count: int, noun: str, plural: str | None = None) -> str:
    return f"1 {noun}" if count == 1 else f"{count} {plural or noun + 's'}"
