"""Notes on EVA's summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from passband.notes import Note, plural

THEORETICAL_BIASED = Note(
    "theoretical-biased",
    "pass_power_k_theoretical is the mean of (c/n)^k, which is larger than pass^k on average: with "
    "3 trials of a problem that passes half of the time, 0.25 and not 0.125",
)
EVA_POOLED = Note(
    "eva-pooled-mean",
    "mean pools all records, while its interval is around the mean over scenarios: scenarios with "
    "more scored trials weigh more in one and not in the other, and the mean may lie outside",
)
EVA_SAME_SEED = Note(
    "eva-same-seed",
    "every interval is drawn with the seed of the run, so those of metrics with equally many "
    "scenarios rest on the same resamples",
)
EVA_FOLDER_ORDER = Note(
    "eva-folder-order",
    "scenarios are resampled in the order in which the file system lists their folders, so the "
    "bounds of a copy of the run may differ in their last digits",
)
EVA_MIXED_K = Note(
    "eva-mixed-k",
    "pass_k of metrics takes fewer draws where a scenario has fewer trials, and still says k",
)
EVA_DROPPED_SCENARIOS = Note(
    "eva-dropped-scenarios",
    "pass_k of composites drops a scenario for a single trial without a score, or with fewer than "
    "k trials; that of metrics does not",
)
EVA_PARTIAL_MEANS = Note(
    "eva-partial-means",
    "mean composites average whatever components have a score, so that not all of them are means "
    "of the same things",
)
EVA_SKIPPED = Note(
    "eva-skipped-as-missing", "records in which a metric had nothing to score count as missing"
)
EVA_EMPTY_ERRORS = Note(
    "eva-empty-errors",
    "an error with an empty message counts as an error in mean and pass_k, and as the score "
    "beside it in intervals and composites",
)


def left_out(problems: int, left_out: int, k: int) -> Note:
    """Return the note on problems with too few trials for pass@k."""
    return Note("left-out", f"{left_out} of {problems} problems have fewer than {k} scored trials")


def eva_unseen(count: int) -> Note:
    """Return the note on trials that EVA's counts leave out."""
    return Note(
        "eva-unseen-trials",
        f"{plural(count, 'trial')} without a metrics.json: in none of the counts",
    )


def absent_components(names: Sequence[str]) -> Note:
    """Return the note on composites whose metrics a run does not have."""
    return Note(
        "no-estimate-absent-metrics",
        f"the run has no {', '.join(names)}, which composites need",
    )


def unused_rule(metric: str, hint: str) -> Note:
    """Return the note on a rule for a metric that a run does not have."""
    return Note(
        "unused-rule", f"there is a rule for {metric!r}, which the run does not have.{hint}"
    )


def no_failing_score(statuses: Mapping[str, int], reason: str) -> Note:
    """Return the note on a mean that has no score to give to failed trials."""
    kinds = ", ".join(f"{number} {status}" for status, number in statuses.items())
    return Note(
        "no-estimate-no-failing-score",
        f"{reason}, so a trial without a score ({kinds}) cannot count as 0; use policy 'drop'",
    )


def no_threshold(metrics: Sequence[str]) -> Note:
    """Return the note on metrics without a pass@k, for want of a threshold."""
    return Note(
        "no-pass-threshold",
        f"no pass_k of {', '.join(metrics)}: scores lie outside 0 to 1, and no threshold is "
        "declared; declare one under metrics in a file for --composites",
    )


def no_interval(reason: str) -> Note:
    """Return the note on a value whose interval the chosen method cannot make."""
    return Note("no-interval-by-method", reason)
