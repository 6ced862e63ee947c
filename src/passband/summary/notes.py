"""Notes on the results of a run."""

from __future__ import annotations

from collections.abc import Mapping

from passband.notes import Note, plural
from passband.stats.data import treatment


def no_corrected_macro(column: str) -> Note:
    """Return the note on a mean over groups of problems that labels do not correct."""
    return Note(
        "no-corrected-macro",
        f"no mean over the groups of {column}: labels of all problems do not correct each group",
    )


def judge_until(judge: str) -> Note:
    """Return the note on a rule for the width of an interval, where scores are a judge's."""
    return Note(
        "judge-until",
        f"the rule of --until looks at what {judge} says; labels widen the interval, and more of "
        "them narrow it",
    )


def labels_alone(labels: int, design: str | None) -> Note:
    """Return the note on labels that are measured by themselves, without the judge."""
    drawn = {
        "verdict": "drawn by verdict, they are no random sample of all trials: this mean is wrong",
        "chosen": "chosen by hand, they are no random sample of all trials: this mean is wrong",
        "unknown": "how their trials were drawn is not recorded",
    }.get(design or "", f"drawn by {design}")
    return Note(
        "labels-alone",
        f"only the {plural(labels, 'labelled trial')} ({drawn}); measured by the judge that they "
        "correct, all trials count",
    )


def until(text: str) -> Note:
    """Return the note on where a run with a width rule stopped, and what that guarantees."""
    return Note("until", text)


def _looks_stopped(p_value: float, problems: int, cap: int) -> str:
    return (
        f"every problem with fewer than {cap} trials succeeded in exactly one of them, as if each "
        f"was tried until it succeeded (p {p_value:.2g}, {plural(problems, 'problem')})"
    )


def taken_as_stopped(p_value: float, problems: int, cap: int) -> Note:
    """Return the note on an estimate that takes trials as stopped by their outcome."""
    return Note(
        "taken-as-stopped",
        f"{_looks_stopped(p_value, problems, cap)}, and so it is counted; --stopped-after 0 if the "
        f"numbers of trials were fixed beforehand, --cap if the limit was above {cap}",
    )


TRUNCATED = Note(
    "truncated",
    "truncated completions are usually counted as wrong where results are published: --policy fail "
    "does that, --truncated score scores what there is, a larger --max-tokens avoids them",
)


def unscored(
    statuses: Mapping[str, int],
    trials: int,
    policy: str,
    bounds: tuple[float, float] | None = None,
    value: float | None = None,
) -> Note:
    """Return the note on trials without a score, and on how far they could move pass@1.

    >>> print(unscored({"refused": 1, "truncated": 1}, 8, "drop"))
    2 of 8 trials have no score (1 refused, 1 truncated) and are left out
    """
    count = sum(statuses.values())
    kinds = ", ".join(f"{number} {status}" for status, number in statuses.items())
    has = "has" if count == 1 else "have"
    treated = treatment(policy, count)
    text = f"{count} of {plural(trials, 'trial')} {has} no score ({kinds}) and {treated}"
    if bounds is not None and value is not None:
        them = "it" if count == 1 else "all of them"
        wrong = f"{bounds[0]:.3f} with {them} wrong and " if policy == "drop" else ""
        text += f"; pass@1 is {value:.3f}, and would be {wrong}{bounds[1]:.3f} with {them} right"
    return Note("unscored", text)


def scorer_errors(scorer: str, count: int, detail: str | None) -> Note:
    """Return the note on trials that a scorer failed on, with the first error."""
    first = f"; the first: {detail}" if detail else ""
    return Note("scorer-errors", f"{scorer} failed on {plural(count, 'trial')}{first}")


def task_errors(count: int, detail: str) -> Note:
    """Return the note on trials in which the task's own code failed, with the first error."""
    return Note("task-errors", f"the task failed on {plural(count, 'trial')}; the first: {detail}")


def micro_average(column: str, groups: int) -> Note:
    """Return the note on a task whose results are also grouped by a column."""
    return Note(
        "micro-average",
        f"values count every problem the same (micro); macro over {column} counts each of its "
        f"{groups} groups the same, and --by {column!r} shows them one by one",
    )


def scored_incomplete(counts: Mapping[str, int]) -> Note:
    """Return the note on trials that were cut short and are scored all the same."""
    listed = " and ".join(f"{count} {status}" for status, count in counts.items())
    noun = "trial is" if sum(counts.values()) == 1 else "trials are"
    return Note("scored-incomplete", f"{listed} {noun} scored all the same")


def retried(count: int, trials: int) -> Note:
    """Return the note on trials that needed several attempts."""
    return Note("retried", f"{count} of {plural(trials, 'trial')} needed more than one attempt")


def planned(text: str) -> Note:
    """Return the note on what was planned and what was done."""
    return Note("plan", text)
