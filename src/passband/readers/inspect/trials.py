"""The trials of a log of Inspect: samples in, one after another; a `Log` with its remarks out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from passband.errors import InvalidInput
from passband.readers.groups import Remark
from passband.readers.inspect.header import InspectHeader
from passband.readers.inspect.sample import InspectSample
from passband.readers.log import Log, Source
from passband.readers.log_builder import Clash, LogBuilder, ScoreValue
from passband.readers.options import Options
from passband.score import Score


class InspectTrials:
    """Collects the samples of one log."""

    def __init__(self, header: InspectHeader, source: Source, options: Options) -> None:
        self.header = header
        self._texts = options.opens_samples
        self._builder = LogBuilder(header.task, header.model, source, texts=self._texts)
        self._kinds: dict[str, type] = {}  # of the ids, which the builder gets as text
        self._valued: set[str] = set()  # scorers that gave a value
        self._cancelled = 0
        self._invalid = 0
        self._cut_short: Counter[str] = Counter()  # trials that are scored all the same
        self._targets: dict[str, Any] = {}
        self._unnamed = next(iter(header.scorers), "score")
        for key in header.ids:
            self._builder.problem(str(key))

    def __len__(self) -> int:
        return len(self._builder)

    def add(self, sample: InspectSample) -> None:
        """Add a sample, unless it was cancelled."""
        kind = type(sample.id)
        if self._kinds.setdefault(sample.key, kind) is not kind:
            raise Clash(
                f"both {sample.key} and {json.dumps(sample.key)} are ids of samples; if they are "
                "the same problem, write its id in one way, and if not, rename one of them."
            )
        if not sample.is_trial:
            self._cancelled += 1
            return
        try:
            self._add(sample)
        except RecursionError:
            raise InvalidInput(f"sample {sample.key!r:.60} is too deeply nested.") from None

    def _add(self, sample: InspectSample) -> None:
        scores = sample.scores(texts=self._texts, unnamed=self._unnamed)
        target = sample.record.get("target")
        more: dict[str, Any] = {}
        if self._targets.get(sample.key, self) != target:  # a new problem, or another under its id
            self._targets[sample.key] = target
            more = sample.problem(texts=self._texts)
        if self._texts:
            more |= sample.texts()
            more |= sample.costs(self.header.model)
            scores = {name: _shortened(score, more["text"]) for name, score in scores.items()}
        elif sample.attempts > 1:
            more["attempts"] = sample.attempts
        status = sample.status
        self._builder.add(sample.key, sample.epoch - 1, status, scores, error=sample.error, **more)
        for name, score in scores.items():
            if not isinstance(score, Score) or score.value is not None:
                self._valued.add(name)
        if status in ("errored", "limit"):
            self._count_scored(sample, scores)
        if sample.invalidation is not None and scores:
            self._invalid += 1

    def _count_scored(self, sample: InspectSample, scores: Mapping[str, ScoreValue]) -> None:
        """Count a trial that was cut short, if it has a value all the same."""
        values = [one.value if isinstance(one, Score) else one for one in scores.values()]
        if any(value is not None for value in values):
            self._cut_short["error" if sample.error is not None else f"{sample.limit} limit"] += 1

    def log(self, header: InspectHeader | None = None, remarks: Sequence[Remark] = ()) -> Log:
        """Return the log; `header` is the whole one, where it was read only now."""
        header = header or self.header
        if not len(self) and not self._cancelled:
            raise InvalidInput(
                "holds no samples; a run with log_samples=False records none, and one that failed "
                "at the start has none."
            )
        self._arrange(header.scorers)
        return self._builder.log(
            remarks=[*remarks, *header.remarks(len(self)), *self._remarks()],
            settings=header.settings(),
            planned=header.planned,
            scales=header.scales,
        )

    def _arrange(self, listed: Sequence[str]) -> None:
        """Put the scorers into the order of the header.

        A scorer that gives mappings has no value of its own; where it failed as a whole, so has
        each of its parts.
        """
        names = self._builder.scorers
        parts = {
            name: [other for other in names if other.startswith(f"{name}/")]
            for name in names
            if name not in self._valued
        }
        parts = {name: others for name, others in parts.items() if others}
        kept = [name for name in names if name not in parts]
        self._builder.arrange(sorted(kept, key=_Order(listed)) if kept else listed, parts)

    def _remarks(self) -> Iterator[Remark]:
        if self._cancelled:
            noun = "sample was" if self._cancelled == 1 else "samples were"
            yield Remark(f"{self._cancelled} {noun} cancelled, and count as missing", True)
        if self._invalid:
            noun = "sample was" if self._invalid == 1 else "samples were"
            yield Remark(
                f"{self._invalid} {noun} declared invalid after the run, and have no score here; "
                "Inspect's own metrics count them",
                important=True,
            )
        if self._cut_short:
            count = sum(self._cut_short.values())
            noun = "trial is" if count == 1 else "trials are"
            kinds = ", ".join(f"{kind}: {number}" for kind, number in self._cut_short.items())
            yield Remark(
                f"{count} {noun} scored though cut short ({kinds}), as Inspect scores them",
                important="error" in self._cut_short,
            )


def _shortened(score: ScoreValue, text: str | None) -> ScoreValue:
    """Return a score without its answer where that is the whole completion, which is kept once."""
    if isinstance(score, Score) and score.answer is not None and score.answer == text:
        return score._replace(answer=None)
    return score


class _Order:
    """Sorts scorers as a header lists them; others follow as they are."""

    def __init__(self, listed: Sequence[str]) -> None:
        self._places = {name: place for place, name in reversed(list(enumerate(listed)))}

    def __call__(self, name: str) -> int:
        places = [self._places.get(one) for one in (name, name.rpartition("/")[0])]
        return min((place for place in places if place is not None), default=len(self._places))
