"""Notes on intervals that several modules issue."""

from __future__ import annotations

from passband.notes import Note, Severity, plural

RELIABLE_CLUSTERS = 20  #: below this many clusters, an interval is indicative only
ONE_PROBLEM = Note("one-problem", "only one problem, which says little about others; add problems")
ONE_TRIAL = Note(
    "one-trial",
    "one trial per problem cannot separate sampling noise from the spread of the problems, so this "
    "is the wider interval over problems; run at least 2 trials per problem",
)
K_ABOVE_HALF = Note(
    "k-above-half",
    "k > n/2, so the width depends on a fitted model; with 2k trials per problem it could be "
    "measured",
)
TAIL_MISSING = Note(
    "tail-may-be-missing",
    "unbounded scores with a long tail, whose end so few problems may not have shown; the interval "
    "may be too short; add problems",
    "weak",
)
CONSTANT_METRIC = Note("constant-metric", "this metric has the same value whatever the trials show")


def few_clusters(clusters: int, effective: float | None = None) -> Note:
    """Return the note on an interval over too few clusters, unequal ones by Kish's number.

    >>> print(few_clusters(60, 17.9))
    60 clusters of unequal size, worth 18 equal ones; below 20 the interval is indicative only
    """
    number = f"only {plural(clusters, 'cluster')}"
    if effective is not None and round(effective) < clusters:
        number = f"{clusters} clusters of unequal size, worth {max(effective, 1.0):.0f} equal ones"
    return Note(
        "few-clusters", f"{number}; below {RELIABLE_CLUSTERS} the interval is indicative only"
    )


def one_cluster(problems: int) -> Note:
    """Return the note on an interval over problems that all belong to one cluster."""
    return Note(
        "one-cluster",
        f"all {problems} problems belong to one cluster, which does not show how clusters differ; "
        "the interval is what a single observation leaves possible; add clusters",
    )


def few_informative(
    problems: int, informative: int, noun: str = "problem", *, is_weak: bool = False
) -> Note:
    """Return the note on problems, or clusters, whose spread rests on a few of them.

    It is weak where these are so few, or so far from the rest, that the interval may be too short.

    >>> print(few_informative(20, 8))
    12 of 20 problems have the same value, so the interval is rough; add problems
    >>> print(few_informative(200, 1, is_weak=True))
    199 of 200 problems have the same value, so the interval may be too short; add problems
    >>> print(few_informative(40, 0))
    all 40 problems have the same value; the interval allows for kinds of problem not in the \
sample; more problems narrow it
    """
    end = f"the interval {'may be too short' if is_weak else 'is rough'}; add {noun}s"
    severity: Severity = "weak" if is_weak else "remark"
    if informative == 0:
        text = f"all {problems} {noun}s have the same value"
        if is_weak:
            return Note(
                "all-same-value", f"{text}, though their trials allow others; {end}", "weak"
            )
        missed = f"the interval allows for kinds of {noun} not in the sample"
        return Note("all-same-value", f"{text}; {missed}; more {noun}s narrow it")
    if informative == problems - 1 and problems <= 10:
        text = f"only {problems} {noun}s"
    elif is_weak and 2 * informative > problems:
        text = f"the spread of {problems} {noun}s rests on a few that are far from the others"
    else:
        text = f"{problems - informative} of {problems} {noun}s have the same value"
    return Note("few-informative", f"{text}, so {end}", severity)


def few_repeats(repeated: int, problems: int) -> Note:
    """Return the note on an interval over trials where hardly any problem has several."""
    return Note(
        "few-repeats",
        f"only {repeated} of {problems} problems have more than one trial, too few to separate "
        "sampling noise from the spread of the problems, so this is the wider interval over "
        "problems; run at least 2 trials per problem",
    )


def single_trials(single: int, problems: int) -> Note:
    """Return the note on problems whose only trial cannot show its noise."""
    return Note(
        "single-trials",
        f"{single} of {problems} problems have a single trial, which cannot show its noise: they "
        "count as if all of their spread were noise, so the interval errs to the wide side",
    )


def no_certificate(reason: str) -> Note:
    """Return the note on an interval whose coverage could not be simulated."""
    return Note("no-certificate", f"its coverage is not simulated: {reason}")


ONE_PROBLEM_NO_INTERVAL = Note(
    "no-interval-one-problem",
    "no interval: a single problem does not show how problems differ; add problems",
)
ONE_CLUSTER = Note(
    "no-interval-one-cluster",
    "no interval: a single cluster does not show how clusters differ; add clusters",
)
NO_SPREAD = Note(
    "no-interval-no-spread",
    "no interval: all problems have the same value, so their spread is unknown",
)
NO_TRIAL_NOISE = Note(
    "no-interval-no-trial-noise",
    "no interval: within every problem all trials have the same score, so sampling noise is "
    "unknown",
)
TOO_MANY_COUNTS = Note(
    "too-many-counts",
    "too many trials of a problem for the default interval; this is Student's t over problems",
)
CLUSTERS_IGNORED = Note(
    "clusters-ignored",
    "clusters are ignored: this method takes the problems as independent, and its interval may be "
    "too short",
    "weak",
)
