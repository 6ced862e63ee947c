"""Files in Inspect's format `.eval`: a ZIP file of a header, summaries and a member per sample.

Scores are read from the summaries, without parsing the samples, unless texts are wanted, a summary
leaves a question, or a sample has a stop reason that says it was cut off or refused. A run that
was killed has neither header nor summaries: its journal has the start of the run and summaries of
what was finished, and samples may be newer than both.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, Place
from passband.files import JsonStream, ZipMembers, first_name, require_file
from passband.readers.groups import Remark
from passband.readers.inspect.header import InspectHeader, mapping
from passband.readers.inspect.sample import InspectSample
from passband.readers.inspect.trials import InspectTrials
from passband.readers.log import Log, Source
from passband.readers.options import Options
from passband.readers.records import LeftOut

_HEADER, _START, _SUMMARIES = "header.json", "_journal/start.json", "summaries.json"
_JOURNAL = re.compile(r"_journal/summaries/([0-9]{1,9})\.json")
_SAMPLE = re.compile(r"samples/.*_epoch_[0-9]+(\.json|/sample\.json)", re.DOTALL)
_CHUNK = re.compile(
    r"(samples/.*_epoch_[0-9]+/(?:messages|attachments)/)([0-9]{1,9})\.json", re.DOTALL
)
_OURS = ("_journal/", "samples/", _HEADER, _SUMMARIES, "reductions.json")
_SHELL = "/sample.json"  # of a sample that is kept in several members
_STREAMED = 1 << 25  # bytes of a sample of which only the fields that matter are held in memory
_AT_ONCE = 1 << 24  # bytes of summaries that are parsed in one go, which is faster
_MOST_MESSAGES = 1_000_000  # of one sample
_CUT_SHORT = re.compile(
    rb'"stop_reason"\s*:\s*"(?:max_tokens|model_length|length|content_filter|unknown)"'
)
_LONGEST_STOP = 64  # bytes of such a match
_BULK = frozenset(("events", "events_data", "store", "timelines", "skeleton"))


class Samples(LeftOut):
    """The samples of a log, by their number."""

    noun = "sample"

    def refuse(self, error: InvalidInput, number: int) -> None:
        """Raise the error of a sample, or count it as left out."""
        with self.checking(Place(self._path, number)):
            raise error

    def _placed(self, error: InvalidInput, place: Place) -> InvalidInput:
        if error.message.startswith(str(self._path)):
            return error
        return InvalidInput(f"{self._path}: {self.noun} {place.line}: {error.message}")


def is_eval(path: Path) -> bool:
    """Return whether a file is meant to be a log in this format, whatever state it is in."""
    if path.suffix.lower() == ".eval":
        return True
    with path.open("rb") as file:
        return first_name(file.read(512)).startswith(_OURS)


def read_eval(path: Path, options: Options) -> Log:
    """Return the log in a file."""
    require_file(path)
    with ZipMembers(path) as members:
        if not len(members):
            raise InvalidInput(f"{path}: is not a log of Inspect: there is no ZIP file in it.")
        header = InspectHeader.of(_header(members))
        trials = InspectTrials(header, Source.of("inspect", path), options)
        return _EvalFile(members, trials, options).log()


def _header(members: ZipMembers) -> Any:
    """Return the header, or what was known at the start of a run that did not end."""
    name = _HEADER if _HEADER in members else _START
    if name not in members:
        raise InvalidInput(
            f"is not a log of Inspect: it has neither a member {_HEADER} nor {_START}."
        )
    if name == _START and members.is_complete:
        members.check_names()  # a damaged name must not make a finished run look like a killed one
    return _parsed(members.read(name), name)


class _EvalFile:
    """One pass over the trials of an open file."""

    def __init__(self, members: ZipMembers, trials: InspectTrials, options: Options) -> None:
        self._members = members
        self._trials = trials
        self._options = options
        self._left_out = Samples(members.path, options)
        self._other_scores = 0

    def log(self) -> Log:
        """Add all samples, and return the log."""
        mentioned: set[str] = set()
        for number, record in enumerate(self._summaries(), start=1):
            try:
                sample = InspectSample(record)
                mentioned.add(sample.name)
                self._trials.add(self._whole(sample) if self._is_open(sample) else sample)
            except InvalidInput as error:
                self._left_out.refuse(error, number)
        unmentioned = 0
        for number, name in enumerate(self._unmentioned(mentioned), start=len(mentioned) + 1):
            try:
                sample = InspectSample(self._sample(name))
                if sample.name not in mentioned:
                    self._trials.add(sample)
                    unmentioned += 1
            except InvalidInput as error:
                self._left_out.refuse(error, number)
        return self._trials.log(remarks=[*self._left_out.remarks(), *self._remarks(unmentioned)])

    # -- summaries -------------------------------------------------------------------------

    def _summaries(self) -> Iterator[Any]:
        """Yield the summaries of all trials; in a journal, the last one of each."""
        if _SUMMARIES in self._members:
            yield from self._listed(_SUMMARIES)
            return
        names = {
            int(match[1]): match[0] for match in map(_JOURNAL.fullmatch, self._members) if match
        }
        ordered = [names[number] for number in sorted(names)]
        last = {}
        for name in ordered:
            for position, record in enumerate(self._listed(name)):
                last[_pair(record)] = (name, position)
        for name in ordered:
            for position, record in enumerate(self._listed(name)):
                if last[_pair(record)] == (name, position):
                    yield record

    def _listed(self, name: str) -> Iterator[Any]:
        """Yield the items of a list, which are right only once all of them have been taken."""
        chunks = self._members.chunks(name)
        text = JsonStream(_decoded(chunks, name))
        try:
            if self._members.size(name) <= _AT_ONCE and text.is_list():
                yield from text.value()
            else:
                yield from text.items()
            text.end()
        except InvalidInput as error:
            for _ in chunks:  # says first if the bytes are not those that were written
                pass
            if error.message.startswith(str(self._members.path)):
                raise
            raise InvalidInput(
                f"{self._members.path}: its member {name!r} {error.message}"
            ) from None

    # -- samples ---------------------------------------------------------------------------

    def _is_open(self, sample: InspectSample) -> bool:
        """Return whether a summary does not say all that is wanted."""
        if self._options.opens_samples or self._trials.header.is_invalidated:
            return True
        if sample.record.get("error") is not None or not self._trials.header.scorers:
            return False
        values = [score.get("value") for _, score in sample.raw_scores()]
        # Only the sample says whether a trial without a score was refused or cut off.
        return (
            not values
            or any(value is None or value != value for value in values)
            or self._may_be_cut_short(sample)
        )

    def _may_be_cut_short(self, summary: InspectSample) -> bool:
        """Return whether the bytes of a sample hold a stop reason that its summary lacks."""
        member = self._member(summary)
        end = b""
        for chunk in () if member is None else self._members.chunks(member):
            if _CUT_SHORT.search(end + chunk):
                return True
            end = chunk[-_LONGEST_STOP:]
        return False

    def _member(self, summary: InspectSample) -> str | None:
        names = (f"{summary.name}.json", f"{summary.name}{_SHELL}")
        return next((name for name in names if name in self._members), None)

    def _whole(self, summary: InspectSample) -> InspectSample:
        """Return the sample of a summary; the summary itself where there is none."""
        member = self._member(summary)
        if member is None:
            return summary
        sample = InspectSample(self._sample(member))
        if (sample.key, sample.epoch) != (summary.key, summary.epoch):
            raise InvalidInput(
                f"its member {member!r:.80} holds sample {sample.key!r:.60}, epoch {sample.epoch}."
            )
        if _differ(_values(sample), _values(summary)):
            self._other_scores += 1
        return sample

    def _sample(self, name: str) -> dict[str, Any]:
        if self._members.size(name) > _STREAMED:
            record = self._fields(name)
        else:
            data = self._members.read(name)
            record = _without_events(data) or dict(mapping(_parsed(data, name)))
        if name.endswith(_SHELL):
            record |= self._sequences(name.removesuffix(_SHELL), record)
        return record

    def _fields(self, name: str) -> dict[str, Any]:
        """Return a large sample without what is not needed of it."""
        chunks = self._members.chunks(name)
        text = JsonStream(_decoded(chunks, name))
        record = {}
        for field in text.names():
            if field in _BULK:
                text.skip()
            else:
                record[field] = text.value()
        text.end()
        for _ in chunks:
            pass
        return record

    def _sequences(self, prefix: str, shell: Mapping[str, Any]) -> dict[str, Any]:
        """Return the messages and attachments of a sample that is kept in several members."""
        attachments = self._sequence(f"{prefix}/attachments/")
        messages = self._sequence(f"{prefix}/messages/") if self._options.texts else []
        places: list[int] = []
        for start, end in _ranges(shell.get("message_refs")):
            places += range(start, min(end, len(messages)))
            if len(places) > _MOST_MESSAGES:
                raise InvalidInput(f"a sample has more than {_MOST_MESSAGES:,} messages.")
        metadata = f"{prefix}/metadata.json"
        known = metadata in self._members
        return {
            "messages": [messages[place] for place in places],
            "attachments": {str(place): text for place, text in enumerate(attachments)},
            "metadata": _parsed(self._members.read(metadata), metadata) if known else {},
        }

    def _sequence(self, prefix: str) -> list[Any]:
        items: list[Any] = []
        for start in sorted(self._chunks.get(prefix, ())):
            part = _parsed(self._members.read(f"{prefix}{start}.json"), prefix)
            items += part if isinstance(part, list) else []
        return items

    @cached_property
    def _chunks(self) -> dict[str, list[int]]:
        """The parts of samples that are kept in several members, by what is before their number."""
        chunks: dict[str, list[int]] = {}
        for name in self._members:
            if match := _CHUNK.fullmatch(name):
                chunks.setdefault(match[1], []).append(int(match[2]))
        return chunks

    def _unmentioned(self, mentioned: set[str]) -> list[str]:
        """Return the samples that no summary mentions."""
        others = [name for name in self._members if name.removesuffix(".json") not in mentioned]
        names = [name for name in others if _SAMPLE.fullmatch(name)]
        return [name for name in names if name.removesuffix(_SHELL) not in mentioned]

    def _remarks(self, unmentioned: int) -> Iterator[Remark]:
        if not self._members.is_complete:
            yield Remark(
                "the file is cut off, or its directory is damaged: what can be found in it was "
                "read, and trials may be missing or out of date",
                important=True,
            )
        if unmentioned:
            noun = "1 trial was" if unmentioned == 1 else f"{unmentioned} trials were"
            yield Remark(f"{noun} read from samples that no summary in the log mentions")
        if self._other_scores:
            noun = "trial has" if self._other_scores == 1 else "trials have"
            yield Remark(
                f"{self._other_scores} {noun} other scores in the sample than in its summary; "
                "those of the sample count here, and those of summaries where no texts are read",
                important=True,
            )


def _parsed(data: bytes, name: str) -> Any:
    try:
        return json.loads(data)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"its member {name!r:.80} is not UTF-8 text ({error.reason}).") from None
    except json.JSONDecodeError as error:
        raise InvalidInput(f"its member {name!r:.80} is not JSON: {error.msg}.") from None
    except (ValueError, RecursionError) as error:
        reason = str(error).partition(";")[0]
        raise InvalidInput(
            f"its member {name!r:.80} is JSON too large or too deeply nested: {reason}."
        ) from None


def _without_events(data: bytes) -> dict[str, Any] | None:
    """Return a sample without its events, most of its bytes, without parsing them; None if unsure.

    Quotes within JSON strings are escaped, so these marks are names of fields. That both parts are
    whole objects shows that the marks belong to the sample itself and to nothing within it.
    """
    try:
        text = str(data, "utf-8")
        start, end = text.find(',"events":['), text.rfind('],"model_usage":{')
        if not 0 < start < end:
            return None
        head, tail = json.loads(text[:start] + "}"), json.loads("{" + text[end + 2 :])
    except (ValueError, RecursionError):
        return None
    return {**mapping(head), **mapping(tail)}


def _decoded(chunks: Iterator[bytes], name: str) -> Iterator[str]:
    try:
        yield from codecs.iterdecode(chunks, "utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"its member {name!r:.80} is not UTF-8 text ({error.reason}).") from None


def _pair(record: Any) -> tuple[str, Any]:
    """Return what tells a trial apart, whatever the record holds."""
    fields = mapping(record)
    return str(fields.get("id")), str(fields.get("epoch"))


def _values(sample: InspectSample) -> list[tuple[str, Any]]:
    return [(name, score.get("value")) for name, score in sample.raw_scores()]


def _differ(values: list[tuple[str, Any]], others: list[tuple[str, Any]]) -> bool:
    return values != others and repr(values) != repr(others)  # NaN is no other value than NaN


def _ranges(value: Any) -> Iterator[tuple[int, int]]:
    for pair in value if isinstance(value, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and all(type(one) is int for one in pair):
            yield max(0, pair[0]), pair[1]
