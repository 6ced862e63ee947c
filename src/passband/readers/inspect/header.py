"""The header of a log of Inspect: what was asked of which model, how often, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passband.errors import InvalidInput
from passband.readers.groups import Remark
from passband.stats.data import Scale

KNOWN_VERSION = 2  # of the format; Inspect itself refuses a log of a newer one
_MOST_EPOCHS = 1 << 31
_OF_EVAL = ("created", "task_id", "task_version", "task_args", "solver", "solver_args", "config")


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True)
class InspectHeader:
    """What is read of a header, or of the start of a run that never ended."""

    task: str
    model: str
    status: str  #: started, success, cancelled or error
    ids: tuple[str | int, ...]  #: of all problems, in the order of the data set
    epochs: int | None
    scorers: tuple[str, ...]  #: the main one first; those of a mapping are NAME/KEY
    record: Mapping[str, Any]

    @staticmethod
    def of(record: Any) -> InspectHeader:
        """Check a header and take from it what is needed."""
        header = mapping(record)
        version = header.get("version", KNOWN_VERSION)
        if type(version) is not int or not 1 <= version <= KNOWN_VERSION:
            raise InvalidInput(
                f"is a log of Inspect in version {version!r:.20} of its format; versions 1 to "
                f"{KNOWN_VERSION} can be read. Install a newer passband."
            )
        spec = mapping(header.get("eval"))
        task, model = spec.get("task"), spec.get("model")
        if not isinstance(task, str) or not isinstance(model, str):
            raise InvalidInput("names no task and model in its header, as a log of Inspect does.")
        dataset, config = mapping(spec.get("dataset")), mapping(spec.get("config"))
        return InspectHeader(
            task,
            model,
            str(header.get("status") or "started"),
            tuple(_ids(dataset.get("sample_ids"))),
            _epochs(config.get("epochs")),
            tuple(dict.fromkeys(_scorers(header, spec))),
            header,
        )

    @property
    def scales(self) -> dict[str, Scale]:
        """The direction of the scorers whose metadata say that lower scores are better."""
        listed = mapping(self.record.get("eval")).get("scorers")
        entries = [mapping(one) for one in (listed if isinstance(listed, list) else ())]
        return {
            str(entry.get("name")).rpartition("/")[2]: Scale(lower_is_better=True)
            for entry in entries
            if mapping(entry.get("metadata")).get("lower_is_better") is True
        }

    @property
    def created(self) -> str:
        """When the run began, as it is written in the log."""
        return str(mapping(self.record.get("eval")).get("created") or "")

    @property
    def is_invalidated(self) -> bool:
        """Whether samples have been declared invalid after the run."""
        return self.record.get("invalidated") is True

    @property
    def early_stops(self) -> list[Any]:
        """The trials that were left out on purpose, by a rule of the task."""
        stopping = mapping(mapping(self.record.get("results")).get("early_stopping"))
        stops = stopping.get("early_stops")
        return stops if isinstance(stops, list) else []

    @property
    def planned(self) -> int | None:
        """The trials of each problem; None where their number was left to a rule."""
        return None if self.early_stops else self.epochs or 1

    def settings(self) -> dict[str, Any]:
        """Return what the model was asked with, as far as it was recorded."""
        spec, plan = mapping(self.record.get("eval")), mapping(self.record.get("plan"))
        asked = {**mapping(plan.get("config")), **mapping(spec.get("model_generate_config"))}
        about = {name: spec[name] for name in _OF_EVAL if spec.get(name)}
        version = mapping(spec.get("packages")).get("inspect_ai")
        return {**asked, "inspect": {**about, "version": version, "status": self.status}}

    def remarks(self, trials: int) -> Iterator[Remark]:
        """Yield what to keep in mind about a run that did not end as it should."""
        total = f" of {len(self.ids) * (self.epochs or 1)} planned" if self.ids else ""
        held = f"the log holds {trials}{total} trials"
        if self.status == "started":
            yield Remark(f"the run has not ended, or was killed; {held}", important=True)
        elif self.status == "error":
            message = str(mapping(self.record.get("error")).get("message") or "no message")
            yield Remark(f"the run ended in an error ({message:.200}); {held}", important=True)
        elif self.status != "success":
            yield Remark(f"the run ended as {self.status:.20}; {held}", important=True)
        if stops := self.early_stops:
            yield Remark(
                f"{len(stops)} trials were left out by the task's rule for stopping early: if it "
                "looks at scores, problems with fewer trials may differ from the others",
                important=True,
            )


def _ids(value: Any) -> list[str | int]:
    """Return the ids of a list; none if there is no list."""
    ids = value if isinstance(value, list) else []
    return [key for key in ids if type(key) in (str, int)]


def _epochs(value: Any) -> int | None:
    return value if type(value) is int and 1 <= value < _MOST_EPOCHS else None


def _scorers(header: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the scorers: the headline's first, then as the results have them."""
    results = mapping(header.get("results"))
    scores = results.get("scores")
    entries = [results.get("headline"), *(scores if isinstance(scores, list) else [])]
    for entry in map(mapping, entries):
        scorer, score = entry.get("scorer"), entry.get("score", entry.get("name"))
        if isinstance(scorer, str):
            yield scorer if score is None or score == scorer else f"{scorer}/{score}"
    old = mapping(results.get("scorer")).get("name")  # of version 1
    if isinstance(old, str):
        yield old
    listed: Sequence[Any] = spec.get("scorers") or ()
    for entry in map(mapping, listed if isinstance(listed, list) else ()):
        if isinstance(entry.get("name"), str):
            yield entry["name"].rpartition("/")[2]
