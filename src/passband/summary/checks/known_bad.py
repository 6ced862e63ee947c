"""Problems of a run whose key or text is known to be wrong, by the list that its task brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from passband.errors import InvalidInput
from passband.notes import Note, plural
from passband.trials import RunRecord, Trials


def known_bad_notes(trials: Trials, run: RunRecord) -> tuple[Note, ...]:
    """Return the note on such problems, if there are any."""
    task = run.config.get("task")
    entries = task.get("known_bad") if isinstance(task, Mapping) else None
    if not isinstance(entries, list) or not entries:
        return ()
    from passband.tasks import KnownBad

    try:
        known = KnownBad(entries)
    except (InvalidInput, AttributeError, KeyError):  # a store that another program wrote
        return ()
    problems = ((p.key, p.record.get("doc") or {}) for p in trials.each_problem(run.number))
    bad = known.among(problems)
    return (known_bad([(one.key, one.reason) for one in bad]),) if bad else ()


def known_bad(problems: Sequence[tuple[str, str]]) -> Note:
    """Return the note on problems whose key or text is known to be wrong, with the reasons."""
    listed = "; ".join(f"{key}: {reason.rstrip('.')}" for key, reason in problems[:5])
    dots = "; ..." if len(problems) > 5 else ""
    text = f"{plural(len(problems), 'problem')} known to have a wrong key or text ({listed}{dots})"
    return Note("known-bad", text)
