"""Notes on judges and labels."""

from __future__ import annotations

from passband.notes import Note, plural


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
        "corrected-by-labels", f"judged by {judge}, corrected by {plural(labels, 'label')}{aside}"
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
        "labels": ("label more", plural(amount, "more label")),
        "votes": ("judge more often", f"{plural(amount, 'more vote')} on every trial"),
        "trials": ("sample more", f"{plural(amount, 'more trial')} of every problem"),
        "problems": ("ask more problems", plural(amount, "more problem")),
    }[kind]
    price = "" if cost is None else f" (for {cost:.2f})"
    width = "" if half_width is None else f" would narrow the interval to about ±{half_width:.3f}"
    return Note(
        "judge-worth",
        f"with this judge a label is worth {worth:.1f} labels without it; next, {bought[0]}: "
        f"{bought[1]}{price}{width}",
    )


def judge_shares_name(judge: str, name: str) -> Note:
    """Return the note on a judge that may know its own."""
    return Note(
        "judge-shares-name",
        f"the model of the judge {judge} and the model it judges share the name {name}: a judge "
        "may prefer answers like its own",
    )


def labels_by_hand(labels: int) -> Note:
    """Return the note on labels that correct nothing."""
    return Note(
        "labels-by-hand",
        f"{plural(labels, 'label')} of trials that were chosen by hand are shown, and correct "
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
        f"{missing} of {plural(drawn, 'trial')} that were drawn have no label; the others are a "
        f"random part of them only if nobody skipped the difficult ones{doubt if alike else ''}",
    )


def labels_of_part(then: int, now: int) -> Note:
    """Return the note on labels that were drawn before the run had all its trials."""
    return Note(
        "labels-of-part",
        f"labels were drawn from the first {then} of {plural(now, 'trial')}; the later ones are "
        "taken to be like them",
    )


def labellers_agree(first: str, second: str, agree: int, shared: int) -> Note:
    """Return the note on two labellers of the same trials."""
    return Note(
        "labellers-agree",
        f"{first} and {second} agree on {agree} of {plural(shared, 'trial')} that both labelled; "
        f"the numbers are about what {first} says",
    )


def labellers_apart(first: str, second: str) -> Note:
    """Return the note on two labellers of different trials."""
    return Note(
        "labellers-apart",
        f"{first} and {second} share no labelled trial that tells whether they agree; the numbers "
        f"are about what {first} says",
    )
