"""Render a run's judge: its agreement with the labels, and where uncertainty comes from."""

from __future__ import annotations

from passband.report.charts.split_bar import SplitBar, SplitPart
from passband.report.html.document import escape
from passband.report.html.elements import caption, figure, pair_rows, section, sentence
from passband.report.html.run_text import RunText
from passband.report.judged import agreement_rows, label_text, purchase_text, share_rows
from passband.report.words import counted
from passband.stats.judged import JudgeAgreement, JudgedSplit
from passband.summary import JudgeResult


def judged_by(run: RunText) -> str:
    """Return by whom the trials of a run are judged, where they are; nothing where they are not."""
    judge = run.findings.group.judge
    return "" if judge is None else judge.title


def judge_section(run: RunText) -> str:
    """Return how well the judge does by the labels, or that there are none."""
    judge = run.findings.group.judge
    if judge is None:
        return ""
    if judge.agreement is None:
        return section("The judge", _unlabelled(judge), caption(_asked(judge)))
    body = pair_rows(agreement_rows(judge.agreement))
    return section("The judge", _finding(judge.agreement), body + caption(_asked(judge)))


def _unlabelled(judge: JudgeResult) -> str:
    if judge.n_labels:
        return f"{counted(judge.n_labels, 'label')} of what {judge.title} says: too few to tell."
    return f"Nobody has labelled what {judge.title} says: its pass rate is not the task's."


def _finding(found: JudgeAgreement) -> str:
    passes, misses = found.specificity.value, found.sensitivity.value
    parts = [] if passes is None else [f"passes {100 * (1 - passes):.0f} % of failures"]
    parts += [] if misses is None else [f"misses {100 * (1 - misses):.0f} % of passes"]
    return f"It {' and '.join(parts)}." if parts else ""


def _asked(judge: JudgeResult) -> str:
    """Return the numbers of judged and labelled trials, and the judge."""
    who = judge.title if judge.model in (None, judge.title) else f"{judge.scorer} ({judge.model})"
    parts = [f"{who} judged {counted(judge.n_trials, 'trial')}; {label_text(judge)}."]
    if judge.bracket is not None:
        low, high = judge.bracket
        parts.append(
            f"{counted(judge.n_failed, 'trial')} without a verdict: its pass rate is between "
            f"{low:.3f} and {high:.3f}."
        )
    if judge.agreement is not None:
        level = f"{100 * judge.agreement.level:.6g} %"
        parts.append(f"Intervals are {level}; AC1 and kappa are agreement beyond chance.")
        parts += [sentence(note.text) for note in judge.agreement.notes]
    return " ".join(parts)


def confusion_section(run: RunText) -> str:
    """Return the labelled trials by verdict and label."""
    judge = run.findings.group.judge
    if judge is None or judge.agreement is None:
        return ""
    right, wrong = judge.agreement.sensitivity, judge.agreement.specificity
    hits, kept = right.count or 0, wrong.count or 0
    missed, passed = (right.of or 0) - hits, (wrong.of or 0) - kept
    head = (
        "<tr><th></th><th class='number'>judge passes</th><th class='number'>judge fails</th></tr>"
    )
    counts = (("labelled pass", hits, missed), ("labelled fail", passed, kept))
    rows = "".join(
        f'<tr><td>{escape(name)}</td><td class="number">{first:,}</td>'
        f'<td class="number">{second:,}</td></tr>'
        for name, first, second in counts
    )
    shown = f"Both agree on {hits + kept:,} of {counted(hits + kept + missed + passed, 'trial')}."
    body = f"<table>{head}{rows}</table>"
    seen = caption("passband show RUN --disagree shows the trials on which they differ.")
    return section("Verdicts and labels", shown, body + seen)


# -- where the uncertainty comes from ------------------------------------------------------


def judged_split_bar(run: RunText) -> SplitBar | None:
    """Return the three parts of the variance of a corrected value."""
    judge = run.findings.group.judge
    shares = [] if judge is None else share_rows(judge)
    return (
        SplitBar([SplitPart(name, share) for name, share in shares]) if len(shares) == 3 else None
    )


def judged_split(run: RunText) -> str:
    """Return the section on the variance of a corrected value, and on the next purchase."""
    judge = run.findings.group.judge
    if judge is None or judge.split is None:
        return ""
    chart = judged_split_bar(run)
    bar = "" if chart is None else figure(chart, text="")
    rows = _widths(run, judge.split)
    return section(
        "Where the uncertainty comes from",
        _main_part(judge),
        f"{bar}{pair_rows(rows, useful=[1])}{caption(_meaning(judge.split))}",
    )


def _main_part(judge: JudgeResult) -> str:
    words = {
        "which problems": "Mostly from which problems were asked.",
        "sampling": "Mostly from sampling the model.",
        "judge": "Mostly from what the judge gets wrong and labels do not show.",
    }
    shares = share_rows(judge)
    if not shares:
        return "What more data would bring."
    name, share = max(shares, key=lambda pair: pair[1])
    return words[name] if share > 0.5 else "From problems, sampling and the judge together."


def _widths(run: RunText, split: JudgedSplit) -> list[tuple[str, str]]:
    """Return the half-width now, and with each purchase, the best one first."""
    line = run.findings.headline
    estimate = None if line is None else line.estimate
    if estimate is None or estimate.low is None or estimate.high is None or not split.se:
        return []
    half = (estimate.high - estimate.low) / 2
    widths = [("now", half)]
    widths += [(purchase_text(one), half * one.se / split.se) for one in split.purchases]
    return [(name, f"± {_points(run, width)}") for name, width in widths]


def _points(run: RunText, width: float) -> str:
    return run.percent.value(width) if run.counts_successes else run.rounding.value(width)


def _meaning(split: JudgedSplit) -> str:
    parts = [f"Half the width of the interval of {split.metric}."]
    if split.explained is not None:
        parts.append(f"The judge explains {split.explained:.0%} of the labels' variance.")
    if split.worth is not None:
        parts.append(f"With it a label is worth {split.worth:.1f} labels without it.")
    if all(one.cost is None for one in split.purchases):
        parts.append("--prices puts them in order of what they bring for their price.")
    parts += [sentence(note.text) for note in split.notes]
    return " ".join(filter(None, parts))
