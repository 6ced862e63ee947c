"""Word the agreement of a judge with labels, and what would improve it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from passband.report.words import counted, money
from passband.summary import JudgeResult, Summary

if TYPE_CHECKING:
    from passband.stats.judged import JudgeAgreement, NextData, Rate


_DESIGNS = {
    "spread": "drawn evenly over problems",
    "trial": "drawn among all trials",
    "problem": "drawn by whole problems",
    "verdict": "drawn by verdict",
    "unknown": "taken as a random sample",
    "chosen": "chosen by hand",
}


def judge_lines(summary: Summary) -> list[str]:
    """Return a few lines on each judge of a summary."""
    lines = []
    for group in summary.groups:
        if group.judge is not None:
            prefix = f"{group.name}: " if group.by else ""
            lines += [prefix + line for line in _lines(group.judge)]
    return lines


def _lines(judge: JudgeResult) -> list[str]:
    lines = []
    if judge.agreement is not None:
        pairs = [f"{name} {value}" for name, value in agreement_rows(judge.agreement)]
        lines.append(f"{named(judge)}, {label_text(judge)}: {'; '.join(pairs)}")
    if judge.bracket is not None:
        low, high = judge.bracket
        lines.append(
            f"{named(judge)}: {judge.n_failed:,} of {counted(judge.n_trials, 'trial')} have "
            f"no verdict; its pass rate is between {low:.3f} (all failed) and {high:.3f} (all "
            "passed)"
        )
    if shares := share_rows(judge):
        parts = ", ".join(f"{share:.0%} {name}" for name, share in shares)
        lines.append(f"{named(judge)}: where the variance comes from: {parts}")
    return lines


def named(judge: JudgeResult) -> str:
    """Return the name of a judge, without repeating the word judge."""
    return judge.title if judge.title == "judge" else f"judge {judge.title}"


def label_text(judge: JudgeResult) -> str:
    """Return how many labels there are, and how their trials were drawn."""
    drawn = _DESIGNS.get(judge.design or "", "")
    where = f" on {counted(judge.n_labelled_problems, 'problem')}" if judge.n_labels else ""
    return f"{counted(judge.n_labels, 'label')}{where}{f' ({drawn})' if drawn else ''}"


def agreement_rows(found: JudgeAgreement) -> list[tuple[str, str]]:
    """Return the agreement of judge and labels as names and numbers, errors by class first."""
    return [
        ("passes failures", _error(found.specificity)),
        ("misses passes", _error(found.sensitivity)),
        ("agrees", _rate(found.agree)),
        ("AC1", _rate(found.ac1)),
        ("kappa", _rate(found.kappa)),
        ("pass rate there", f"{found.judge_rate:.2f} (labels {found.label_rate:.2f})"),
    ]


def _error(rate: Rate) -> str:
    """Return the share of errors where the rate is that of right verdicts."""
    if rate.value is None or rate.count is None or rate.of is None:
        return "- (no such label)"
    share, missed = 1 - rate.value, rate.of - rate.count
    return f"{share:.2f} [{1 - rate.high:.2f}, {1 - rate.low:.2f}] ({missed} of {rate.of})"


def _rate(rate: Rate) -> str:
    if rate.value is None:
        return "-"
    counts = "" if rate.count is None else f" ({rate.count} of {rate.of})"
    return f"{rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}]{counts}"


def share_rows(judge: JudgeResult) -> list[tuple[str, float]]:
    """Return the three parts of the variance, where the data show them."""
    split = judge.split
    if split is None:
        return []
    shares = (
        ("which problems", split.share_between),
        ("sampling", split.share_within),
        ("judge", split.share_judge),
    )
    known = [(name, share) for name, share in shares if share is not None]
    return known if any(share for _, share in known) else []  # labels all alike show no variance


def purchase_text(one: NextData) -> str:
    """Return a possible purchase with its price, if known."""
    what = {
        "labels": f"{counted(one.amount, 'more label')}",
        "votes": f"{counted(one.amount, 'more vote')} on every trial",
        "trials": f"{counted(one.amount, 'more trial')} of every problem",
        "problems": f"{counted(one.amount, 'more problem')}",
    }[one.kind]
    return what if one.cost is None else f"{what}, for {money(one.cost)}"
