"""Hold the findings about a data set that bear on every number made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from passband.errors import InvalidInput, UnknownName, nearest
from passband.json_values import json_values
from passband.notes import ACCEPTED, SEVERITIES, Note, Severity
from passband.stats.checks import Over

#: codes of notes on trials that change what a number means, shown even where notes are not
WARNED = frozenset(
    {
        "unscored", "scored-incomplete", "scorer-errors", "task-errors", "looks-wrong",
        "looks-misread", "many-flaky-verdicts", "missing-modules", "missing-rows", "one-shard",
        "shards-missing", "shards-waiting", "unsafe-code", "unscored-trials",
    }
)  # fmt: skip


VERSION = 1  #: of the JSON
COUNTS_FIXED = ("stopped-by-outcome", "trials-related", "stopped-by-results")
CODES = (
    *COUNTS_FIXED, "drift", "unlike-round", "copied-trials", "copied-draws", "identical-scores",
    "order-unknown", "identical-answers", "greedy-decoding", "copied-problems",
    "failures-related", "rare-credit", "unasked-problems", "gone-problems", "limited-problems",
    "looks-wrong", "looks-misread", "other-extraction", "different-targets", "missing-rows",
    "moved-server", "model-accuracy",
)  # fmt: skip
BOTH: Mapping[Over, int] = {"problems": 1, "trials": 1}


@dataclass(frozen=True)
class Finding:
    """Something found in a data set, and the claims that it concerns.

    "invalid" means that an interval for these targets would claim what the data cannot show, "weak"
    that it may well be too short, "remark" that a reader should know.
    """

    code: str  #: stable, for programs
    severity: Severity
    text: str  #: the one sentence that a user needs
    #: by target, the smallest k of the metrics that it concerns; for others it is a remark
    targets: Mapping[Over, int] = field(default_factory=lambda: dict(BOTH), hash=False)
    numbers: Mapping[str, float | int | str] = field(default_factory=dict, hash=False)

    def severity_for(self, over: Over, k: int) -> Severity:
        """Return the severity for a metric with k draws and a target."""
        least = self.targets.get(over)
        return "remark" if least is None or k < least else self.severity

    def note(self, over: Over, k: int) -> Note:
        """Return the note that goes with an estimate for a target."""
        return Note(self.code, self.text, self.severity_for(over, k))


@dataclass(frozen=True)
class Evidence:
    """The findings about one data set: a task asked of a model, scored by one scorer.

    >>> copied = Finding("identical-answers", "invalid", "all answers agree", {"trials": 1})
    >>> evidence = Evidence((copied,))
    >>> evidence.against("trials", 1).code, evidence.against("problems", 1)
    ('identical-answers', None)
    >>> evidence.accepting(["identical-answers"]).against("trials", 1)
    """

    findings: tuple[Finding, ...] = ()
    accepted: tuple[str, ...] = ()  #: codes that are taken for granted
    has_texts: bool = field(default=False, compare=False)  #: whether answers were compared

    def against(self, over: Over, k: int) -> Finding | None:
        """Return the first finding for which there can be no interval, unless it is accepted."""
        for finding in self.findings:
            if finding.code not in self.accepted and finding.severity_for(over, k) == "invalid":
                return finding
        return None

    def notes(self, over: Over, k: int) -> tuple[Note, ...]:
        """Return a note per finding; an accepted finding becomes a remark.

        Of findings with one sentence, the most severe is noted.
        """
        alike: dict[str, list[Finding]] = {}
        for finding in self.findings:
            alike.setdefault(finding.text, []).append(finding)

        def rank(finding: Finding) -> int:
            return SEVERITIES.index(finding.severity_for(over, k))

        return tuple(self._note(min(found, key=rank), over, k) for found in alike.values())

    def accepting(self, codes: Iterable[str]) -> Evidence:
        """Return the evidence with some codes accepted.

        >>> Evidence().accepting(["identical-answer"])
        Traceback (most recent call last):
        ...
        passband.errors.UnknownName: no finding has the code 'identical-answer'. Did you \
mean 'identical-answers'?
        """
        codes = tuple(codes)
        for code in codes:
            if code not in CODES:
                hint = nearest(code, CODES) or f" Known: {', '.join(CODES)}."
                raise UnknownName(f"no finding has the code {code!r}.{hint}")
        return replace(self, accepted=tuple(dict.fromkeys((*self.accepted, *codes))))

    def warned(self, over: Over = "problems") -> tuple[Finding, ...]:
        """Return the warnings shown even without notes: the values may be wrong."""
        return tuple(
            finding
            for finding in self.findings
            if finding.code not in self.accepted
            and (finding.code in WARNED or finding.severity_for(over, 1) == "invalid")
        )

    def of_first(self) -> Evidence:
        """Return the findings that also hold for the first trials of each problem.

        Findings whose remedy they are do not speak of them.
        """
        kept = tuple(finding for finding in self.findings if "first" not in finding.numbers)
        return replace(self, findings=kept)

    def require_first(self) -> None:
        """Raise `InvalidInput` if trials are known not to be in the order of asking."""
        for finding in self.findings:
            if finding.code == "order-unknown":
                raise InvalidInput(f"{finding.text}.")

    def if_any(self) -> Evidence | None:
        """Return the evidence if there is a finding."""
        return self if self.findings else None

    def joined(self, findings: Iterable[Finding]) -> Evidence:
        """Return the evidence with further findings; of two with one code the first is kept."""
        by_code = {finding.code: finding for finding in (*self.findings, *findings)[::-1]}
        return replace(self, findings=tuple(by_code.values())[::-1])

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON-serialisable dict."""
        return json_values(
            {"version": VERSION, "findings": self.findings, "accepted": self.accepted}
        )

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Evidence:
        """Read what `as_json` returned; evidence of another version is refused."""
        if values.get("version") != VERSION:
            raise InvalidInput(
                f"evidence must be of version {VERSION}; got {values.get('version')!r}."
            )
        findings = tuple(Finding(**one) for one in values["findings"])
        return cls(findings, tuple(values["accepted"]))

    def _note(self, finding: Finding, over: Over, k: int) -> Note:
        if finding.code not in self.accepted:
            return finding.note(over, k)
        return Note(finding.code, f"{finding.text}{ACCEPTED}", "remark")


NOTHING = Evidence()
