"""Every note of the package: a remark that travels with a number, with a code to match on.

A note says what to keep in mind about a number that is shown, or why there is none. Its code is
stable and is what programs match; its text is for people and may be reworded. Notes whose code
begins with ``no-`` explain a number that is missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

RELIABLE_CLUSTERS = 20  #: below this many clusters, an interval is indicative only


ACCEPTED = " (accepted)"  #: ends a note on a finding that shall not count

#: "invalid": the claim cannot be made; "weak": the interval may be too short; "remark": to know.
Severity = Literal["invalid", "weak", "remark"]
SEVERITIES: tuple[Severity, ...] = ("invalid", "weak", "remark")


class Note(NamedTuple):
    """A remark on a number: a stable code for programs, a sentence for people.

    >>> note = Note("one-problem", "only one problem")
    >>> print(f"{note.code}: {note}")
    one-problem: only one problem
    """

    code: str
    text: str
    severity: Severity = "remark"

    def __str__(self) -> str:
        return self.text

    def as_weak(self) -> Note:
        """Return the note where it means that the interval may be too short."""
        return self._replace(severity="weak")


def claim_refused(notes: Iterable[Note]) -> str:
    """Return why no claim can be made, from the notes that say so; nothing if none does."""
    return "; ".join(note.text for note in notes if note.severity == "invalid")


def joined(notes: Iterable[Note]) -> str:
    """Join the texts of notes into one sentence."""
    return "; ".join(note.text for note in notes)


# -- the sample is small, or shows little ------------------------------------------------------

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
GRADED_K_ABOVE_HALF = Note(
    "graded-k-above-half",
    "k > n/2, so any two sets of k trials overlap and the width is rough; 2k trials per problem "
    "would make it firm",
)
TAIL_MISSING = Note(
    "tail-may-be-missing",
    "unbounded scores with a long tail, whose end so few problems may not have shown; the interval "
    "may be too short; add problems",
    "weak",
)
SOLVED_WITHIN = Note(
    "solved-within",
    "trials stopped at the first success: pass@k is the share of problems solved within k trials, "
    "each problem counting once",
)
CONSTANT_METRIC = Note("constant-metric", "this metric has the same value whatever the trials show")


def scale_guessed(is_bounded: bool) -> Note:
    """Return the note on graded scores whose scale is not stated.

    >>> print(scale_guessed(True))
    no scale is stated: as all scores lie from 0 to 1, these are taken for its ends; if others can \
occur, state the scale
    """
    bounded = "all scores lie from 0 to 1, these are taken for its ends"
    guess = bounded if is_bounded else "all scores lie on one side of 0, it is taken for an end"
    text = f"no scale is stated: as {guess}; if others can occur, state the scale"
    return Note("scale-guessed", text)


def few_clusters(clusters: int, effective: float | None = None) -> Note:
    """Return the note on an interval over too few clusters, unequal ones by Kish's number.

    >>> print(few_clusters(60, 17.9))
    60 clusters of unequal size, worth 18 equal ones; below 20 the interval is indicative only
    """
    number = f"only {_count(clusters, 'cluster')}"
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


def tied_to_size(correlation: float, over_clusters: float, over_problems: float) -> Note:
    """Return the note on clusters whose values go along with their sizes.

    >>> print(tied_to_size(-0.62, 0.551, 0.412))
    larger clusters have lower values (correlation -0.62 with the logarithm of size): the mean is \
0.412 over problems and 0.551 over clusters; which is meant matters, and the interval of the first \
may be short
    """
    direction = "higher" if correlation > 0 else "lower"
    return Note(
        "tied-to-size",
        f"larger clusters have {direction} values (correlation {correlation:.2f} with the "
        f"logarithm of size): the mean is {over_problems:.3g} over problems and "
        f"{over_clusters:.3g} over clusters; which is meant matters, and the interval of the first "
        "may be short",
    )


def few_informative(
    problems: int, informative: int, noun: str = "problem", *, is_weak: bool = False
) -> Note:
    """Return the note on problems, or clusters, whose spread rests on a few of them.

    It is weak where these are so few, or so far from the rest, that the interval may be too short.

    >>> print(few_informative(20, 8))
    12 of 20 problems share one value, so the interval rests on the other 8 and is rough; more \
problems make it firmer
    >>> print(few_informative(200, 1, is_weak=True))
    199 of 200 problems share one value, so the interval rests on the other one and may be too \
short; add problems
    """
    end = "may be too short" if is_weak else "is rough"
    remedy = f"add {noun}s" if is_weak else f"more {noun}s make it firmer"
    severity: Severity = "weak" if is_weak else "remark"
    if informative == 0:
        missed = f"the interval covers {noun}s of another value that so few could have missed"
        remedy = f"more {noun}s narrow it"
        if is_weak:
            missed = f"their trials show that others are possible, and the interval {end}"
            remedy = f"add {noun}s"
        text = f"all {problems} {noun}s have the same value; {missed}; {remedy}"
        return Note("all-same-value", text, severity)
    if informative == problems - 1 and problems <= 10:
        text = f"only {problems} {noun}s, so the interval {end}; add {noun}s"
    elif is_weak and 2 * informative > problems:
        text = (
            f"the spread of {problems} {noun}s rests on a few that are far from the others, so "
            f"the interval {end}; {remedy}"
        )
    else:
        text = (
            f"{problems - informative} of {problems} {noun}s share one value, so the interval "
            f"rests on the other {'one' if informative == 1 else informative} and {end}; {remedy}"
        )
    return Note("few-informative", text, severity)


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


def noise_by_trials(own: float, pooled: float) -> Note:
    """Return the note on sampling noise that differs with the number of trials."""
    return Note(
        "noise-by-trials",
        "problems with few trials are of another kind than those with many, so the noise is "
        f"measured for each number of trials (standard error {own:.2g}; {pooled:.2g} if they were "
        "alike)",
    )


def left_out_differ(left: float, kept: float, problems: int, k: int) -> Note:
    """Return the note on problems with too few trials that are unlike the others.

    >>> print(left_out_differ(0.91, 0.24, 12, 4))
    12 problems with fewer than 4 trials are left out, and differ: their pass@1 is 0.910, that of \
the others 0.240
    """
    return Note(
        "left-out-differ",
        f"{_count(problems, 'problem')} with fewer than {k} trials are left out, and differ: their "
        f"pass@1 is {left:.3f}, that of the others {kept:.3f}",
    )


def noise_partly_measured(measured: int, problems: int, trials: int) -> Note:
    """Return the note on sampling noise that only some problems have enough trials to show."""
    return Note(
        "noise-partly-measured",
        f"sampling noise is measured on the {measured} of {problems} problems with at least "
        f"{trials} trials, and assumed equal on the others",
    )


def noise_unmeasured(trials: int) -> Note:
    """Return the note on an interval over trials that no, or hardly any, problem can measure."""
    return Note(
        "noise-unmeasured",
        f"measuring the sampling noise takes problems with at least {trials} trials, which too few "
        "have, so this is the wider interval over problems",
    )


# -- the coverage that was simulated ------------------------------------------------------------


def low_coverage(sentence: str, is_widened: bool) -> Note:
    """Return the note on an interval that simulated data sets show to be too short.

    >>> print(low_coverage("on data like yours this 95% interval covers 88%", False))
    on data like yours this 95% interval covers 88%, by simulation; calibrate=True or --calibrate \
widens it
    """
    remedy = "add problems" if is_widened else "calibrate=True or --calibrate widens it"
    return Note("low-coverage", f"{sentence}, by simulation; {remedy}", "weak")


def calibrated(quantile: float, before: str, after: str) -> Note:
    """Return the note on an interval that was widened by simulation.

    >>> print(calibrated(2.714, "88%", "95%"))
    widened to a normal quantile of 2.71, as simulated data sets like yours are covered 88% of the \
time without and 95% with
    """
    return Note(
        "calibrated",
        f"widened to a normal quantile of {quantile:.2f}, as simulated data sets like yours are "
        f"covered {before} of the time without and {after} with",
    )


def no_certificate(reason: str) -> Note:
    """Return the note on an interval whose coverage could not be simulated."""
    return Note("no-certificate", f"its coverage is not simulated: {reason}")


# -- votes ---------------------------------------------------------------------------------

MAJORITY_OF_SCORES = Note(
    "majority-of-scores",
    "maj@k is the chance that more than half of k trials are right; vote@k is the chance that the "
    "most frequent answer among k is",
)


def mean_of_all_trials(name: str, k: int) -> Note:
    """Return the note on a mean of k trials where problems have other numbers of them.

    >>> print(mean_of_all_trials("avg@64", 64))
    avg@64 is the mean score of all trials of the problems that have at least 64
    """
    return Note(
        "mean-of-all-trials",
        f"{name} is the mean score of all trials of the problems that have at least {k}",
    )


def no_answers(without: int, problems: int) -> Note:
    """Return the note on problems none of whose trials has an answer.

    >>> print(no_answers(2, 30))
    no trial of 2 of 30 problems has an answer, so that their vote is never right
    """
    return Note(
        "no-answers",
        f"no trial of {without} of {_count(problems, 'problem')} has an answer, so that their vote "
        "is never right",
    )


def missing_answers(missing: int, problems: int) -> Note:
    """Return the note on trials without an answer, some of which are right."""
    return Note(
        "missing-answers",
        f"in {missing} of {_count(problems, 'problem')} some trials without an answer are right "
        "and others wrong, and only the right ones vote; if answers were not recorded, vote@k is "
        "too high",
    )


def mixed_answers(mixed: int, problems: int) -> Note:
    """Return the note on answers with different scores in different trials."""
    return Note(
        "mixed-answers",
        f"in {mixed} of {_count(problems, 'problem')} the same answer is scored right in one trial "
        "and wrong in another; where it wins, it is right in the share of its trials that are",
    )


def several_right_answers(several: int, problems: int) -> Note:
    """Return the note on problems with several right answers, which vote apart."""
    return Note(
        "several-right-answers",
        f"in {several} of {_count(problems, 'problem')} several different answers are right, and "
        "each has its own votes; if they are one answer in several spellings, vote@k is too low",
    )


# -- judged trials ------------------------------------------------------------------------------

LABELS_TAKEN_AS_RANDOM = Note(
    "labels-taken-as-random",
    "how the labelled trials were drawn is not recorded; they are taken as a random sample, and if "
    "they were picked by eye this number is wrong",
    "weak",
)
FULLY_LABELLED = Note(
    "fully-labelled", "every trial has a label, so the judge is not used: this is the labels' own"
)
TRIALS_AS_PROBLEMS = Note(
    "judged-over-problems",
    "the noise of sampling cannot be told from the spread of the problems for this metric, so this "
    "is the wider interval over problems",
)


def few_labels(labels: int) -> Note:
    """Return the note on an interval that rests on few labels."""
    return Note("few-labels", f"{labels} labels: the interval is safe but wide; 50 or more help")


def few_labelled_problems(problems: int) -> Note:
    """Return the note on labels that come from a handful of problems."""
    return Note(
        "few-labelled-problems",
        f"all labels are on {_count(problems, 'problem')}, which say little about the judge on "
        "others; spread them over more",
    )


def no_disagreement(labels: int, bias: float) -> Note:
    """Return the note on labels that all agree with the judge.

    >>> print(no_disagreement(40, 0.0612))
    the judge agrees with all 40 labels, which still leaves room for a bias of up to 6 points
    """
    return Note(
        "no-disagreement",
        f"the judge agrees with all {labels} labels, which still leaves room for a bias of up to "
        f"{100 * bias:.0f} points",
    )


def judge_adds_nothing(explained: float) -> Note:
    """Return the note on a judge whose scores hardly go along with the labels."""
    return Note(
        "judge-adds-nothing",
        f"the judge adds nothing to the labels: it explains {explained:.0%} of their variance",
    )


def unlabelled_verdict(verdict: str, share: float) -> Note:
    """Return the note on a verdict of which no trial is labelled.

    >>> print(unlabelled_verdict("passed", 0.031))
    no trial that the judge passed is labelled (3.1% of all): anything from none to all of them \
may be right
    """
    trials = "without a verdict" if verdict == "none" else f"that the judge {verdict}"
    return Note(
        "unlabelled-verdict",
        f"no trial {trials} is labelled ({share:.1%} of all): anything from none to all of them "
        "may be right",
    )


def failed_verdicts(failed: int, trials: int, low: float, high: float, labels: int) -> Note:
    """Return the note on verdicts that could not be read, and on how far they could move the value.

    >>> print(failed_verdicts(12, 800, 0.6004, 0.6151, 2))
    12 of 800 trials have no verdict, and are estimated by the 2 labels among them; with all of \
them wrong it would be 0.600, with all of them right 0.615
    """
    among = f"the {_count(labels, 'label')} among them" if labels else "the labels of the others"
    return Note(
        "failed-verdicts",
        f"{failed} of {_count(trials, 'trial')} have no verdict, and are estimated by {among}; "
        f"with all of them wrong it would be {low:.3f}, with all of them right {high:.3f}",
    )


def votes_unmeasured() -> Note:
    """Return the note on judges whose noise from vote to vote is not known."""
    return Note(
        "votes-unmeasured",
        "one vote on every trial does not show what a second would bring; ask for 2 votes on about "
        "50 trials",
    )


def agreement_by_clusters(labels: int, problems: int) -> Note:
    """Return the note on agreement measured by several labels from one problem."""
    return Note(
        "agreement-clustered",
        f"{labels} labels are on {problems} problems; the intervals of the agreement count labels "
        "of one problem as far as they differ",
    )


# -- judges and labels --------------------------------------------------------------------------


def judge_only(judge: str, by_hand: int = 0) -> Note:
    """Return the note on numbers that are a judge's, and nobody's else.

    >>> print(judge_only("quality"))
    no labels: this is what quality says, the judge's pass rate and not the task's; label at least \
10 trials, better 50 (passband label)
    """
    labels = "no labels"
    if by_hand:
        labels = f"no labels of trials drawn at random ({by_hand} were chosen by hand)"
    return Note(
        "judge-only",
        f"{labels}: this is what {judge} says, the judge's pass rate and not the task's; label at "
        "least 10 trials, better 50 (passband label)",
    )


def judge_uncorrected(judge: str, reason: str) -> Note:
    """Return the note on numbers of a judge that labels cannot correct."""
    why = f"{reason[:1].lower()}{reason[1:]}".rstrip(".")
    return Note("judge-uncorrected", f"what {judge} says, not corrected by labels: {why}")


def judge_reduced(judge: str) -> Note:
    """Return the note on a reduction of a judge's scores that labels cannot correct."""
    return Note(
        "judge-reduced",
        f"what {judge} says: labels of single trials do not correct one value per problem",
    )


def corrected_by_labels(
    judge: str, labels: int, alone: float | None, passes: float | None, misses: float | None
) -> Note:
    """Return the note on a number that labels correct.

    >>> print(corrected_by_labels("quality", 80, 0.7, 0.31, 0.04))
    judged by quality, corrected by 80 labels (judge alone: 0.700; it passes 31% of failures, \
misses 4% of passes)
    """
    parts = [] if alone is None else [f"judge alone: {alone:.3f}"]
    errors = [] if passes is None else [f"passes {passes:.0%} of failures"]
    errors += [] if misses is None else [f"misses {misses:.0%} of passes"]
    parts += [f"it {', '.join(errors)}"] if errors else []
    aside = f" ({'; '.join(parts)})" if parts else ""
    return Note(
        "corrected-by-labels", f"judged by {judge}, corrected by {_count(labels, 'label')}{aside}"
    )


def judge_worth(
    worth: float, kind: str, amount: int, cost: float | None, half_width: float | None
) -> Note:
    """Return the note on what a label is worth beside a judge, and on what to buy next.

    >>> print(judge_worth(2.13, "labels", 40, None, 0.0449))
    with this judge a label is worth 2.1 labels without it; next, label more: 40 more labels would \
narrow the interval to about ±0.045
    """
    bought = {
        "labels": ("label more", _count(amount, "more label")),
        "votes": ("judge more often", f"{_count(amount, 'more vote')} on every trial"),
        "trials": ("sample more", f"{_count(amount, 'more trial')} of every problem"),
        "problems": ("ask more problems", _count(amount, "more problem")),
    }[kind]
    price = "" if cost is None else f" (for {cost:.2f})"
    width = "" if half_width is None else f" would narrow the interval to about ±{half_width:.3f}"
    return Note(
        "judge-worth",
        f"with this judge a label is worth {worth:.1f} labels without it; next, {bought[0]}: "
        f"{bought[1]}{price}{width}",
    )


def judge_canaries(judge: str, passed: int, judged: int) -> Note:
    """Return the note on a judge that was shown answers without content.

    >>> print(judge_canaries("openai:large", 5, 9))
    the judge openai:large passes 5 of 9 null answers (empty, a mere claim, the answer to another \
problem): do not trust its rate
    """
    said = f"the judge {judge} passes {passed} of {judged} null answers"
    why = " (empty, a mere claim, the answer to another problem): do not trust its rate"
    return Note("judge-canaries", said + (why if passed else ""))


def judge_shares_name(judge: str, name: str) -> Note:
    """Return the note on a judge that may know its own."""
    return Note(
        "judge-shares-name",
        f"the model of the judge {judge} and the model it judges share the name {name}: a judge "
        "may prefer answers like its own",
    )


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
        f"only the {_count(labels, 'labelled trial')} ({drawn}); measured by the judge that they "
        "correct, all trials count",
    )


def labels_by_hand(labels: int) -> Note:
    """Return the note on labels that correct nothing."""
    return Note(
        "labels-by-hand",
        f"{_count(labels, 'label')} of trials that were chosen by hand are shown, and correct "
        "nothing",
    )


def labels_missing(missing: int, drawn: int, alike: str = "") -> Note:
    """Return the note on drawn trials without a label, and on labels that all say the same.

    >>> print(labels_missing(22, 40, "fail"))
    22 of 40 trials that were drawn have no label; the others are a random part of them only if \
nobody skipped the difficult ones; every label says fail, and if only such trials were labelled \
the corrected number is wrong
    """
    doubt = (
        f"; every label says {alike}, and if only such trials were labelled the corrected number "
        "is wrong"
    )
    return Note(
        "labels-missing",
        f"{missing} of {_count(drawn, 'trial')} that were drawn have no label; the others are a "
        f"random part of them only if nobody skipped the difficult ones{doubt if alike else ''}",
    )


def labels_of_part(then: int, now: int) -> Note:
    """Return the note on labels that were drawn before the run had all its trials."""
    return Note(
        "labels-of-part",
        f"labels were drawn from the first {then} of {_count(now, 'trial')}; the later ones are "
        "taken to be like them",
    )


def labellers_agree(first: str, second: str, agree: int, shared: int) -> Note:
    """Return the note on two labellers of the same trials."""
    return Note(
        "labellers-agree",
        f"{first} and {second} agree on {agree} of {_count(shared, 'trial')} that both labelled; "
        f"the numbers are about what {first} says",
    )


def labellers_apart(first: str, second: str) -> Note:
    """Return the note on two labellers of different trials."""
    return Note(
        "labellers-apart",
        f"{first} and {second} share no labelled trial that tells whether they agree; the numbers "
        f"are about what {first} says",
    )


# -- strata ------------------------------------------------------------------------------------

ONE_STRATUM = Note(
    "one-stratum", "all problems are in one stratum, so this is its own estimate, unweighted"
)


def single_problem_strata(single: int, strata: int) -> Note:
    """Return the note on strata of one problem, which show no spread of their own.

    >>> print(single_problem_strata(3, 20))
    3 of 20 strata have a single problem; their spread is taken to be that of the others
    >>> print(single_problem_strata(20, 20))
    every stratum has a single problem, so the interval includes what differs between strata
    """
    if single == strata:
        text = (
            "every stratum has a single problem, so the interval includes what differs between "
            "strata"
        )
    else:
        text = (
            f"{single} of {strata} strata have a single problem; their spread is taken to be that "
            "of the others"
        )
    return Note("single-problem-strata", text)


def few_informative_in_strata(problems: int, informative: int) -> Note:
    """Return the note on strata nearly all of whose problems share the commonest value there.

    >>> print(few_informative_in_strata(20, 8))
    12 of 20 problems share the commonest value of their stratum, so the interval rests on the \
other 8 and is rough; more problems make it firmer
    """
    if informative == 0:
        return Note(
            "all-same-value",
            "no problem differs from the others of its stratum; the interval covers problems of "
            "another value that so few could have missed; more problems narrow it",
        )
    return Note(
        "few-informative",
        f"{problems - informative} of {problems} problems share the commonest value of their "
        f"stratum, so the interval rests on the other {informative} and is rough; more problems "
        "make it firmer",
    )


def heavy_stratum(weight: float, problems: int) -> Note:
    """Return the note on a mean that rests mostly on a small stratum.

    >>> print(heavy_stratum(0.5, 3))
    a stratum of 3 problems has a weight of 0.5, so the interval rests mostly on those and is rough
    """
    return Note(
        "heavy-stratum",
        f"a stratum of {_count(problems, 'problem')} has a weight of {weight:.2g}, so the interval "
        "rests mostly on those and is rough",
    )


def scaled_weights(total: float, are_counts: bool) -> Note:
    """Return the note on weights that were divided by their sum.

    >>> print(scaled_weights(1.002, are_counts=False))
    the weights add up to 1.002 and were divided by that
    """
    if are_counts:
        return Note("scaled-weights", f"the weights are read as counts, of {total:.10g} in all")
    return Note("scaled-weights", f"the weights add up to {total:.10g} and were divided by that")


def no_stratum_interval(stratum: str, reasons: Iterable[Note]) -> Note:
    """Return the note on a mean over strata one of which has no interval."""
    return Note(
        "no-interval-stratum",
        f"no interval: stratum {stratum!r} has none ({joined(reasons)})",
    )


def no_task(group: str, task: str, metric: str | None = None) -> Note:
    """Return the note on a group one of whose tasks has no trials, or not this metric.

    >>> print(no_task("mmlu", "mmlu_anatomy"))
    no mean over the group 'mmlu': its task 'mmlu_anatomy' has no trials here
    """
    lack = "has no trials here" if metric is None else f"does not measure {metric}"
    return Note("no-estimate-group", f"no mean over the group {group!r}: its task {task!r} {lack}")


def no_stratum(stratum: str, reason: Note | None) -> Note:
    """Return the note on a mean over strata one of which has no estimate.

    >>> print(no_stratum("algebra", Note("no-estimate-not-enough-data", "no trial has a score.")))
    no mean over strata: 'algebra' has no estimate for it (no trial has a score)
    """
    why = "" if reason is None else f" ({reason.text.rstrip('.')})"
    text = f"no mean over strata: {stratum!r} has no estimate for it{why}"
    return Note("no-estimate-stratum", text)


# -- adaptive tests ------------------------------------------------------------------------

ADAPTIVE_ITEMS = Note(
    "no-estimate-adaptive",
    "the items of an adaptive test are chosen for what they tell about ability, so averages over "
    "them estimate nothing; see theta and bank accuracy",
)
ADAPTIVE_RESCORED = Note(
    "adaptive-rescored",
    "these scores would have led to other items; theta is of the items that were asked",
)
ADAPTIVE_UNFINISHED = Note("adaptive-unfinished", "the test is unfinished: no stop rule is met yet")
_STOPS = {
    "se": "theta is known well enough",
    "stability": "theta is stable",
    "max_items": "the maximum number of items is reached",
    "budget": "the trial budget is spent",
    "bank is exhausted": "the bank is exhausted",
}


def adaptive_test(items: int, bank_items: int, bank: str, split: str) -> Note:
    """Return the note on what an adaptive test has asked.

    >>> print(adaptive_test(12, 200, "arithmetic", "test"))
    adaptive test: 12 of the 200 items of bank arithmetic, split test
    """
    return Note(
        "adaptive-test",
        f"adaptive test: {items} of the {_count(bank_items, 'item')} of bank {bank}, split {split}",
    )


def adaptive_stop(stop: str, se: float) -> Note:
    """Return the note on what ended an adaptive test.

    >>> print(adaptive_stop("se", 0.29))
    stopped: theta is known well enough; standard error 0.29
    """
    return Note("adaptive-stop", f"stopped: {_STOPS.get(stop, stop)}; standard error {se:.2f}")


def adaptive_remote(items: int, server: str) -> Note:
    """Return the note on a test whose items a server has chosen.

    >>> print(adaptive_remote(60, "http://localhost:8411"))
    adaptive test: 60 items, chosen by http://localhost:8411, which has computed theta too; the \
interval is theta and its standard error, taken as normal
    """
    return Note(
        "adaptive-remote",
        f"adaptive test: {_count(items, 'item')}, chosen by {server}, which has computed theta "
        "too; the interval is theta and its standard error, taken as normal",
    )


def adaptive_unscored(trials: int) -> Note:
    """Return the note on trials of an adaptive test without a score."""
    return Note(
        "adaptive-unscored",
        f"{_count(trials, 'trial')} without a score, which say nothing about ability here",
    )


# -- why there is no interval ------------------------------------------------------------------

ONE_PROBLEM_NO_INTERVAL = Note(
    "no-interval-one-problem",
    "no interval: a single problem does not show how problems differ; add problems",
)
ONE_CLUSTER = Note(
    "no-interval-one-cluster",
    "no interval: a single cluster does not show how clusters differ; add clusters",
)
ONE_UNIT = Note("no-interval-one-unit", "no interval: only one problem (or cluster)")
NO_SPREAD = Note(
    "no-interval-no-spread",
    "no interval: all problems have the same value, so their spread is unknown",
)
NO_TRIAL_NOISE = Note(
    "no-interval-no-trial-noise",
    "no interval: within every problem all trials have the same score, so sampling noise is "
    "unknown",
)
EQUAL_RESAMPLES = Note(
    "no-interval-equal-resamples",
    "no interval: every resample gives the same value, so resampling shows no spread",
)
OPEN_END_NO_INTERVAL = Note(
    "no-interval-open-end",
    "no interval: too many resamples show no spread, and the scores have no bounds",
)
ALL_TRIALS_ALIKE = Note(
    "no-interval-all-trials-alike",
    "no interval: all trials have the same outcome, so the fitted prior has no spread",
)
TOO_MANY_COUNTS = Note(
    "too-many-counts",
    "too many trials of a problem for the default interval; this is Student's t over problems",
)


# -- how an interval was made ------------------------------------------------------------------

ZERO_FACTOR = Note(
    "zero-factor",
    "one factor of the blend is zero, so the upper end combines the upper ends of the factors",
)
PLUG_IN_RATES = Note(
    "plug-in-rates",
    "resampling takes the observed rates for the true ones and understates the noise when trials "
    "are few",
    "weak",
)
STRETCHED = Note(
    "stretched",
    "resampling shifts this metric to one side, so the interval was stretched to contain the "
    "estimate",
)
OPEN_END = Note("open-end", "too many resamples show no spread, so one end is the end of the scale")
CLUSTERS_IGNORED = Note(
    "clusters-ignored",
    "clusters are ignored: this method takes the problems as independent, and its interval may be "
    "too short",
    "weak",
)
EVA_CLUSTERS = Note(
    "eva-clusters-ignored", "clusters are ignored: EVA resamples single problems", "weak"
)
EVA_ZERO_WIDTH = Note(
    "eva-zero-width",
    "all problems have the same value; EVA then reports a width of zero, which is no certainty",
    "weak",
)
EVA_OUTSIDE = Note(
    "eva-outside", "the estimate lies outside the interval, which is left as EVA computes it"
)

# -- EVA's summary ---------------------------------------------------------------------------

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
        f"{_count(count, 'trial')} without a metrics.json: in none of the counts",
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


# -- posterior intervals -----------------------------------------------------------------------

PRIOR_ON_EDGE = Note(
    "prior-on-edge",
    "the best-fitting prior is at the edge of the search: the data do not determine how the "
    "problems are spread, and the interval is likely too short",
    "weak",
)
ONE_TRIAL_PRIOR = Note(
    "one-trial-prior",
    "with one trial per problem, only the prior separates sampling noise from the spread of the "
    "problems",
)


def posterior_mean(observed: float) -> Note:
    """Return the note that the value is a posterior mean, with the observed value.

    >>> print(posterior_mean(0.6467))
    the value is the posterior mean; the observed, unbiased value is 0.6467
    """
    return Note(
        "posterior-mean",
        f"the value is the posterior mean; the observed, unbiased value is {observed:.4g}",
    )


def fitted_prior(alpha: float, beta: float) -> Note:
    """Return the note that gives the fitted prior."""
    return Note(
        "fitted-prior", f"prior Beta({alpha:.3g}, {beta:.3g}), fitted by maximum likelihood"
    )


def prior_dominates(mean: float, observed: float, sd: float) -> Note:
    """Return the note on a posterior mean far from the observed value."""
    return Note(
        "prior-dominates",
        f"the prior moves the answer more than the data do: posterior mean {mean:.4g}, "
        f"observed value {observed:.4g}, posterior standard deviation {sd:.2g}",
        "weak",
    )


def value_outside(observed: float) -> Note:
    """Return the note on an observed value outside a posterior interval."""
    return Note(
        "value-outside",
        f"the observed value {observed:.4g} lies outside the interval, which is for the latent "
        "value",
        "weak",
    )


# -- extrapolation -----------------------------------------------------------------------------


def model_based(most_trials: int) -> Note:
    """Return the note that a value lies beyond the trials of every problem."""
    return Note("model-based", f"model-based: no problem has more than {most_trials} trials")


def beyond_trials(factor: float, *, any_shape: bool) -> Note:
    """Return the note on how far beyond the trials k lies, and what the interval covers."""
    covered = "allows for other shapes of it" if any_shape else "does not cover a wrong shape of it"
    return Note(
        "beyond-trials",
        f"k is {factor:.3g} times the trials: the fitted model decides the value, and the interval "
        f"{covered}",
    )


def never_solved(never: int, problems: int, highest: float, *, hopeless: bool) -> Note:
    """Return the note on problems that no trial solved."""
    reading = (
        "partly as hopeless, but a few hard levels would look the same"
        if hopeless
        else "as equally hard, but hopeless ones would look the same"
    )
    return Note(
        "never-solved",
        f"{never} of {problems} problems were never solved; the fit treats them {reading}; if none "
        f"of them is ever solved, the value for these problems is at most {highest:.3g}",
    )


# -- comparisons -------------------------------------------------------------------------------

PAIRED_BY_POSITION = Note(
    "paired-by-position", "the problems have numbers for names, so they were paired by position"
)
EQUAL_CHANGES = Note(
    "equal-changes",
    "every problem changed by the same amount; the interval bounds what a not-yet-seen problem "
    "could change",
)
UNEVEN_TRIALS = Note(
    "uneven-trials",
    "the two runs have different trial counts per problem, so the interval is at least as wide as "
    "sampling noise alone would make it",
)
ZERO_FACTOR_UNPAIRED = Note(
    "zero-factor-unpaired", "one factor of the blend is zero, so the interval ignores the pairing"
)
NO_BEST = Note(
    "no-p-best",
    "no confidence of being the best: at least one difference has no interval",
)


def rare_loss(missed: float, margin: float, needed: float) -> Note:
    """Return the note on a margin that problems of a kind that was not drawn may exceed."""
    return Note(
        "rare-loss",
        f"the interval is within the margin of {margin:g}, but of problems like these up to "
        f"{missed:.1%} may be lost entirely and not have shown; to rule that out takes about "
        f"{math.ceil(needed):,} problems",
        "weak",
    )


def circular_pairs(total: float) -> Note:
    """Return the note on pairwise confidences that contradict each other."""
    return Note(
        "circular-pairs",
        f"the confidences of being the best add up to {total:.3f}: the pairwise confidences, which "
        "none of them may exceed, contradict each other",
    )


def few_to_tell(units: int) -> Note:
    """Return the note on abilities that have no interval."""
    where = "no problem" if units == 0 else "a single problem or cluster"
    return Note(
        "no-interval-abilities",
        f"no interval: models differ on {where}, which does not show how abilities vary over "
        "problems",
    )


def few_telling(units: int) -> Note:
    """Return the note on abilities that rest on a handful of problems or clusters."""
    return Note(
        "few-telling",
        f"models differ on {units} problems or clusters only: the intervals of their abilities are "
        "rough",
    )


def unbounded_abilities(above: Sequence[str], below: Sequence[str]) -> Note:
    """Return the note on models that are ahead of others, or behind them, wherever they differ.

    >>> print(unbounded_abilities(["x"], []))  # doctest: +ELLIPSIS
    the data give no upper bound for the ability of x: ...
    """
    sides = [
        f"no {side} bound for the ability of {', '.join(models)}"
        for side, models in (("upper", above), ("lower", below))
        if models
    ]
    return Note(
        "unbounded-ability",
        f"the data give {' and '.join(sides)}: wherever trials tell such a model from others, they "
        "tell the same; its value rests on half a success and half a failure added to each model",
    )


def order_differs(
    metric: str,
    models: tuple[str, str],
    ability: float,
    plain: tuple[float, float],
    others: int,
    *,
    same_problems: bool,
) -> Note:
    """Return the note on two models whose abilities are in another order than their averages.

    >>> note = order_differs("pass@1", ("x", "y"), 0.5, (0.4, 0.6), 0, same_problems=True)
    >>> print(note.text[:79])
    x is better than y by 0.5 in ability, though its pass@1 is lower (0.4 against 0
    """
    reason = (
        "the model weighs problems otherwise" if same_problems else "it was asked other problems"
    )
    more = f"; {_count(others, 'other pair')} likewise" if others else ""
    return Note(
        "order-differs",
        f"{models[0]} is better than {models[1]} by {ability:.3g} in ability, though its {metric} "
        f"is lower ({plain[0]:.3g} against {plain[1]:.3g}): {reason}{more}",
    )


def of_side(side: str, note: Note) -> Note:
    """Return a note on one side of a comparison."""
    return note._replace(text=f"{side}: {note.text}")


def unscored_in_pair(a: int, b: int, policy: str) -> Note:
    """Return the note on trials without a score in a comparison of two."""
    return Note(
        "unscored-trials",
        f"{_count(a + b, 'trial')} without a score ({a} of a, {b} of b) "
        f"{_TREATMENTS[policy == 'drop'][a + b > 1]}",
    )


def unscored_by_model(unscored: Mapping[str, int], policy: str) -> Note:
    """Return the note on trials without a score in a ranking."""
    counts = ", ".join(f"{count} of {model}" for model, count in unscored.items())
    treated = _TREATMENTS[policy == "drop"][sum(unscored.values()) > 1]
    return Note("unscored-trials", f"trials without a score: {counts}, which {treated}")


# -- abilities and banks -----------------------------------------------------------------------

NO_MAXIMUM = Note(
    "likelihood-without-maximum",
    "the likelihood has no maximum, as when every score is the best or every score the worst "
    "possible; theta is Warm's weighted estimate",
)
NO_WEIGHTED_MAXIMUM = Note(
    "weighted-likelihood-without-maximum",
    "neither the likelihood nor Warm's weighted one has a maximum; theta is the mode of the "
    "posterior, and rests on the prior",
)
NOT_CONVERGED = Note(
    "not-converged",
    "the calibration stopped before it had converged; allow more iterations",
)
GUESSING_PRIOR = Note(
    "guessing-prior",
    "guessing has a weak prior around 0.2, as scores of easy items say nothing about it",
)
OWN_ERRORS = Note(
    "own-errors",
    "standard errors are of each item by itself, and leave out what all items share: the error "
    "of the mean and spread of the abilities",
)

MODEL_ACCURACY = Note(
    "model-accuracy",
    "the accuracy on items that were not asked is what the model of the bank expects, and the "
    "scores of a test hardly show whether that is right; a random share of the items gives an "
    "interval that needs no model",
    "weak",
)
FEW_RANDOM = Note("few-random", "fewer than 30 random items: the interval is rough")


def misfit(chance: float) -> Note:
    """Return the note on scores that contradict the model of a bank."""
    return Note(
        "misfit",
        f"the scores do not fit the model of the bank (p = {chance:.1g}): the interval is likely "
        "too short",
    )


def dropped_items(count: int) -> Note:
    """Return the note on items that calibration left out."""
    return Note("dropped-items", f"{_count(count, 'item')} dropped; the reasons are listed")


def held_slopes(count: int, steepest: float) -> Note:
    """Return the note on items whose discrimination the data do not bound."""
    return Note(
        "held-slopes",
        f"{_count(count, 'item')} with a discrimination beyond {steepest:g} without a prior: a "
        "weak one around 1 was used for them",
    )


def few_people(count: int) -> Note:
    """Return the note on a calibration by a handful of models."""
    return Note(
        "few-people",
        f"calibrated on {_count(count, 'model')}: difficulties are rough, and discriminations "
        "rougher",
    )


# -- variances and plans -----------------------------------------------------------------------

NO_SPLIT_ONE_TRIAL = Note(
    "no-split-one-trial",
    "one trial per problem cannot separate sampling noise from the spread of the problems; run a "
    "second trial of some problems",
)
NO_SPLIT_ONE_PROBLEM = Note(
    "no-split-one-problem", "a single problem does not show how problems differ; add problems"
)
NO_SPLIT_SAME_VALUE = Note(
    "no-split-same-value", "all problems have the same value, which does not show how they differ"
)
ONLY_NOISE = Note("only-noise", "the problems differ no more than sampling noise explains")
NOISE_FALLS = Note(
    "noise-falls", "scores are not 0 or 1, so sampling noise is assumed to fall as 1/n"
)
CLUSTERED_PROBLEMS = Note(
    "clustered-problems",
    "problems come in clusters; a further problem is assumed to bring its share of a cluster",
)


PILOT_ONE_TRIAL = Note(
    "pilot-one-trial",
    "the pilot has one trial of each problem, which does not show how problems differ; what other "
    "numbers of trials would bring is a guess",
)
PLAN_BY_MOMENTS = Note(
    "plan-by-moments",
    "planned with a t interval of the pilot's variance; the printed interval follows the skewness "
    "of the scores as well and may be wider",
)
PLAN_BY_NUMBERS = Note(
    "plan-by-numbers",
    "approximate: a t interval with these very variances; near 0 or 1, and where the variances are "
    "guesses, the printed interval may be wider",
)


def few_in_pilot(problems: int, informative: int) -> Note:
    """Return the note on a pilot nearly all of whose problems share one value.

    >>> print(few_in_pilot(30, 4))
    26 of 30 problems of the pilot share one value; the plan allows for what the other 4 leave open
    """
    if informative == 0:
        alone = "the pilot is of one problem"
        text = f"all {problems} problems of the pilot share one value" if problems > 1 else alone
        return Note(
            "pilot-all-same-value", f"{text}; the plan rests on what could have been missed"
        )
    return Note(
        "pilot-few-informative",
        f"{problems - informative} of {problems} problems of the pilot share one value; the plan "
        f"allows for what the other {informative} leave open",
    )


def assumed_correlation(correlation: float) -> Note:
    """Return the note on the second model that a plan imagines."""
    return Note(
        "assumed-correlation",
        f"a second model with correlation {correlation:g} across problems is assumed",
    )


# -- trials that were stopped, by a rule or by their outcome -----------------------------------


def until(text: str) -> Note:
    """Return the note on where a run with a width rule stopped, and what that guarantees."""
    return Note("until", text)


def _looks_stopped(p_value: float, problems: int, cap: int) -> str:
    return (
        f"every problem with fewer than {cap} trials succeeded in exactly one of them, as if each "
        f"was tried until it succeeded (p {p_value:.2g}, {_count(problems, 'problem')})"
    )


def taken_as_stopped(p_value: float, problems: int, cap: int) -> Note:
    """Return the note on an estimate that takes trials as stopped by their outcome."""
    return Note(
        "taken-as-stopped",
        f"{_looks_stopped(p_value, problems, cap)}, and so it is counted; --stopped-after 0 if the "
        f"numbers of trials were fixed beforehand, --cap if the limit was above {cap}",
    )


def unstopped_values(successes: int) -> Note:
    """Return the note on problems that were tried until they succeeded several times."""
    return Note(
        "unstopped",
        f"trials stopped at {successes} successes: without the last trial of a problem that "
        f"reached them",
    )


def within_cap(cap: int) -> Note:
    """Return the note on a k beyond the trials that any problem could have."""
    return Note(
        "beyond-cap",
        f"no problem was tried more than {_count(cap, 'time')}: the value is the share solved "
        f"within that, and a lower bound; the upper one is 1",
    )


def decided_early(look: int, looks: int, rounds: int) -> Note:
    """Note that a difference was decided before the last planned look, and so looks too large.

    >>> print(decided_early(3, 9, 4))
    decided at look 3 of 9, after 4 rounds: stopped early, the value tends to overstate
    """
    return Note(
        "decided-early",
        f"decided at look {look} of {looks}, after {rounds} rounds: stopped early, the value tends "
        "to overstate",
        "weak",
    )


# -- results of a run --------------------------------------------------------------------------

CORPUS_FIRST_ANSWER = Note(
    "corpus-first-answer", "a corpus score, computed from the first scored answer to each problem"
)


def unequal_trials(fewest: int, most: int) -> Note:
    """Return the note on problems of which different numbers of trials were reduced."""
    return Note(
        "unequal-trials",
        f"problems contribute unequal numbers of scored trials ({fewest}-{most}), and a reduction "
        "such as a vote or a maximum depends on how many it takes; --policy fail counts those "
        "without a score as wrong",
    )


def few_units(units: int) -> Note:
    """Return the note on a percentile interval from a handful of problems or clusters."""
    text = f"an interval from {units} problems or clusters is too narrow; add problems"
    return Note("few-units", text, "weak")


# -- trials of a run, and metrics that cannot be measured ------------------------------------------

TRUNCATED = Note(
    "truncated",
    "truncated completions are usually counted as wrong where results are published: --policy fail "
    "does that, --truncated score scores what there is, a larger --max-tokens avoids them",
)
ANSWERS_AS_TEXT = Note(
    "answers-as-text",
    "the scorer cannot be rebuilt from the recorded trials, so votes count answers as the same "
    "only where their text is",
)
OTHER_SCORER_VERSION = Note(
    "other-scorer-version",
    "votes were counted with another version of the scorer than the scores; `passband score` "
    "scores again",
)


#: codes of notes on trials that change what a number means, shown even where notes are not
WARNED = frozenset(
    {
        "unscored", "scored-incomplete", "scorer-errors", "task-errors", "looks-wrong",
        "looks-misread", "many-flaky-verdicts", "missing-modules", "missing-rows", "one-shard",
        "shards-missing", "shards-waiting", "unsafe-code", "unscored-trials",
    }
)  # fmt: skip

_TREATMENTS = {
    True: ("is left out", "are left out"),
    False: ("counts as a failure", "count as failures"),
}


def one_shard(index: int, of: int) -> Note:
    """Return the note on a store that holds one shard of a run.

    >>> print(one_shard(3, 16))
    this is shard 3/16 of a run, not the run; merge all 16 with passband merge
    """
    text = f"this is shard {index}/{of} of a run, not the run; merge all {of} with passband merge"
    return Note("one-shard", text)


def shards_missing(remark: str) -> Note:
    """Return the note on a run that some shards have not been merged into.

    >>> print(shards_missing("shards 2 and 7 of 16 are not merged yet"))
    this is part of a run: shards 2 and 7 of 16 are not merged yet
    """
    return Note("shards-missing", f"this is part of a run: {remark}")


def shards_waiting(count: int) -> Note:
    """Return the note on a run whose shards are being asked, or were when it was cut off.

    >>> print(shards_waiting(3))
    3 shards are not merged yet, and not counted; the run merges each when it ends, and one that \
was cut off does so when it goes on
    """
    shards = "1 shard is" if count == 1 else f"{count} shards are"
    text = (
        f"{shards} not merged yet, and not counted; the run merges each when it ends, and one that "
        "was cut off does so when it goes on"
    )
    return Note("shards-waiting", text)


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
    one, several = _TREATMENTS[policy == "drop"]
    treated = one if count == 1 else several
    text = f"{count} of {_count(trials, 'trial')} {has} no score ({kinds}) and {treated}"
    if bounds is not None and value is not None:
        them = "it" if count == 1 else "all of them"
        wrong = f"{bounds[0]:.3f} with {them} wrong and " if policy == "drop" else ""
        text += f"; pass@1 is {value:.3f}, and would be {wrong}{bounds[1]:.3f} with {them} right"
    return Note("unscored", text)


def scorer_errors(scorer: str, count: int, detail: str | None) -> Note:
    """Return the note on trials that a scorer failed on, with the first error."""
    first = f"; the first: {detail}" if detail else ""
    return Note("scorer-errors", f"{scorer} failed on {_count(count, 'trial')}{first}")


def task_errors(count: int, detail: str) -> Note:
    """Return the note on trials in which the task's own code failed, with the first error."""
    return Note("task-errors", f"the task failed on {_count(count, 'trial')}; the first: {detail}")


def known_bad(problems: Sequence[tuple[str, str]]) -> Note:
    """Return the note on problems whose key or text is known to be wrong, with the reasons."""
    listed = "; ".join(f"{key}: {reason.rstrip('.')}" for key, reason in problems[:5])
    dots = "; ..." if len(problems) > 5 else ""
    text = f"{_count(len(problems), 'problem')} known to have a wrong key or text ({listed}{dots})"
    return Note("known-bad", text)


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
    return Note("retried", f"{count} of {_count(trials, 'trial')} needed more than one attempt")


def planned(text: str) -> Note:
    """Return the note on what was planned and what was done."""
    return Note("plan", text)


def not_enough_data(message: str) -> Note:
    """Return the note on a metric that needs more trials than there are."""
    return Note("no-estimate-not-enough-data", message)


def no_interval(reason: str) -> Note:
    """Return the note on a value whose interval the chosen method cannot make."""
    return Note("no-interval-by-method", reason)


def not_measurable(message: str) -> Note:
    """Return the note on a metric that these trials do not allow."""
    return Note("no-estimate-not-measurable", message)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# -- the answers look odd ----------------------------------------------------------------------


def looks_wrong(
    mean: float,
    scored: int,
    no_answer: int,
    place: str,
    text: str,
    answer: str | None,
    targets: Sequence[str],
) -> Note:
    """Return the note on scores that are nearly all 0, or answers that are nearly all missing.

    >>> print(looks_wrong(0.0, 120, 30, "p3, trial 0", "It is 42, surely.", None, ["42"]))
    nearly every score is 0 (mean 0 of 120 trials; 30 have no answer): p3, trial 0 ends in "It is \
42, surely.", where no answer was found; expected "42". Is it read as it should be?
    """
    what = "nearly every score is 0" if mean <= 0.02 else "most trials have no answer"
    read = "where no answer was found"
    if answer is not None:
        read = f'read as "{_end(answer)}"' if answer != text else "compared as a whole"
    expected = " or ".join(f'"{_end(target)}"' for target in targets[:3]) or "nothing"
    return Note(
        "looks-wrong",
        f"{what} (mean {mean:.2g} of {_count(scored, 'trial')}; {no_answer} have no answer): "
        f'{place} ends in "{_end(text)}", {read}; expected {expected}. Is it read as it should be?',
    )


def looks_misread(
    misread: int,
    wrong: int,
    place: str,
    text: str,
    answer: str | None,
    targets: Sequence[str],
) -> Note:
    """Return the note on answers that are scored wrong and look right.

    >>> print(looks_misread(9, 10, "p3, trial 0", "It is 14 apples.", "14 apples", ["14"]))
    of 10 answers scored wrong that were looked at, 9 hold the right one where answers stand: p3, \
trial 0 ends in "It is 14 apples.", read as "14 apples"; expected "14". Is it read as it should be?
    """
    read = "where no answer was found" if answer is None else f'read as "{_end(answer)}"'
    expected = " or ".join(f'"{_end(target)}"' for target in targets[:3]) or "nothing"
    return Note(
        "looks-misread",
        f"of {_count(wrong, 'answer')} scored wrong that were looked at, {misread} hold the right "
        f'one where answers stand: {place} ends in "{_end(text)}", {read}; expected {expected}. Is '
        "it read as it should be?",
        "weak",
    )


def _end(text: str, most: int = 60) -> str:
    """Return the end of a text, where answers are."""
    text = text.strip()
    return text if len(text) <= most else f"...{text[3 - most :]}"


def other_extraction(
    rules: Sequence[tuple[str, int]], looked_at: int, occurring: int, command: str | None
) -> Note:
    """Return the note on what other rules of extraction would find.

    >>> print(other_extraction([("boxed", 28), ("marker", 0)], 40, 39, "passband score RUN"))
    of 40 trials looked at, 39 have the target somewhere in their text; right by other rules of \
extraction: boxed 28; use one: passband score RUN
    """
    found = ", ".join(f"{rule} {count}" for rule, count in rules if count)
    found = found or f"none (of {', '.join(rule for rule, _ in rules)})"
    use = "" if command is None else f"; use one: {command}"
    return Note(
        "other-extraction",
        f"of {_count(looked_at, 'trial')} looked at, {occurring} have the target somewhere in "
        f"their text; right by other rules of extraction: {found}{use}",
    )


def same_wrong(
    problems: int, problem: str, answer: str, target: str, times: int, scored: int, command: str
) -> Note:
    """Return the note on problems whose wrong trials agree far more than those of others.

    >>> print(same_wrong(1, "mix-14", "130", "140", 13, 16, "passband show RUN --same-wrong"))
    wrong in the same way: mix-14 is answered 130 in 13 of 16 trials, and 140 is expected; a wrong \
key, or a firm error of the model? passband show RUN --same-wrong
    """
    others = f" (and {_count(problems - 1, 'other problem')})" if problems > 1 else ""
    return Note(
        "same-wrong",
        f"wrong in the same way: {problem}{others} is answered {_end(answer)} in {times} of "
        f"{scored} trials, and {_end(target)} is expected; a wrong key, or a firm error of the "
        f"model? {command}",
    )


# -- programs ------------------------------------------------------------------------------


def program_outcomes(counts: Mapping[str, int], missing: int) -> Note:
    """Return the note on what became of programs, and on answers without one."""
    listed = [f"{count} {outcome}" for outcome, count in counts.items() if count]
    if missing:
        listed.append(f"{_count(missing, 'answer')} without a program")
    return Note("program-outcomes", f"programs: {', '.join(listed)}")


def unsafe_code(backend: str) -> Note:
    """Return the note on programs that ran without a sandbox."""
    return Note(
        "unsafe-code",
        f"programs ran without a sandbox (--unsafe-code, {backend}): they could do what the user "
        "can, and nothing vouches for their verdicts",
    )


def several_sandboxes(sandboxes: Sequence[str]) -> Note:
    """Return the note on verdicts of several sandboxes, which need not agree."""
    return Note(
        "several-sandboxes",
        f"verdicts are from {len(sandboxes)} sandboxes, which need not agree: "
        f"{'; '.join(sandboxes)}",
    )


def missing_modules(counts: Mapping[str, int]) -> Note:
    """Return the note on programs that import what the sandbox's Python does not have.

    >>> print(missing_modules({"numpy": 3}))
    3 programs failed because the sandbox's Python has no numpy; see passband doctor
    >>> print(missing_modules({"numpy": 3, "sympy": 1}))
    4 programs failed because the sandbox's Python has no numpy (3), sympy (1); see passband doctor
    """
    total = _count(sum(counts.values()), "program")
    named = ", ".join(f"{name} ({count})" for name, count in counts.items())
    named = named if len(counts) > 1 else next(iter(counts))
    return Note(
        "missing-modules",
        f"{total} failed because the sandbox's Python has no {named}; see passband doctor",
    )


def opaque_results(kinds: Mapping[str, int]) -> Note:
    """Return the note on results that did not cross from the programs to the tests."""
    total = _count(sum(kinds.values()), "program")
    return Note(
        "opaque-results",
        f"{total} failed on a result that is no plain data and equals nothing "
        f"({', '.join(kinds)}); tests of such objects need 'verdict: same'",
    )


def flaky_verdicts(flips: int, again: int, low: float, high: float) -> Note:
    """Return the note on verdicts that were given again under other hash seeds."""
    if not flips:
        return Note(
            "steady-verdicts",
            f"none of {_count(again, 're-run')} gave another verdict; up to {high:.1%} of the "
            "verdicts could",
        )
    text = f"{flips} of {_count(again, 're-run')} gave another verdict ({low:.1%} to {high:.1%})"
    if flips > 0.01 * again:
        return Note(
            "many-flaky-verdicts",
            f"{text}, which is much: tests or programs depend on chance, the clock or the load",
        )
    return Note("flaky-verdicts", text)


def late_timeouts(late: int, again: int) -> Note:
    """Return the note on programs that need more time than they have."""
    return Note(
        "late-timeouts",
        f"{late} of {_count(again, 'program')} that timed out would have passed in twice the time; "
        "a larger timeout gives other values",
    )


def flaky_interval(low: float, high: float) -> Note:
    """Return the note on an interval with room for verdicts that change."""
    return Note(
        "flaky-interval",
        f"the interval has room for verdicts that changed in re-runs; without them it is "
        f"[{low:.3f}, {high:.3f}]",
    )
