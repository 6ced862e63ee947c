"""Results of opencompass with details, `results/MODEL/DATASET.json`.

Details are there if `dump_details` was on. What an evaluator returns (version 0.5) is a list of
problems, in which every field is the list of its values in the repeated runs:

    {"accuracy": 75.0, "details": [{"example_abbr": "gsm8k_0", "pred": ["4", "5"],
     "answer": ["4", "4"], "correct": [true, false]}, ...]}

In older versions, and where an evaluator returns none, answers are numbered, without repeats:

    {"accuracy": 50.0, "details": {"type": "GEN", "0": {"prompt": ..., "predictions": "4",
     "references": "4", "correct": true}, ...}}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.files import read_json
from passband.readers.fields import kept_text, key
from passband.readers.file_head import head_of
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import LogBuilder, ScoreValue
from passband.readers.names import UNKNOWN, plain_name
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import Items
from passband.stats.data import Scale

_SCORER = "correct"
_CORRECT = ("correct", "is_correct", "cascade_correct")  # whichever the evaluator writes
_OF_DETAILS = {"predictions", "pred", "origin_prediction", *_CORRECT}
_TYPES = ("GEN", "PPL")

Record = Mapping[str, Any]


@register_reader("opencompass")
class OpenCompass:
    """Reads the details of one data set by one model."""

    def sniff(self, path: Path) -> bool:
        head = head_of(path)
        details = head.get("details") if isinstance(head, dict) else None
        if isinstance(details, list):
            return bool(details) and isinstance(details[0], dict) and "example_abbr" in details[0]
        if not isinstance(details, dict):
            return False
        first = details.get("0")
        is_detail = isinstance(first, dict) and not _OF_DETAILS.isdisjoint(first)
        return is_detail or details.get("type") in _TYPES

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return the trials, those of repeated runs under one problem."""
        content = read_json(path, "json")
        details = content.get("details") if isinstance(content, dict) else None
        model = path.parent.name if path.parent.parent.name == "results" else UNKNOWN
        source = Source.of("opencompass", path)
        builder = LogBuilder(plain_name(path), model, source, (_SCORER,), texts=options.texts)
        remarks: list[Remark] = []
        if isinstance(details, list):
            items = Items(path, options, details)
            for place, record in items:
                with items.checking(place):
                    _add_runs(builder, record)
        elif isinstance(details, dict):
            numbered = list(_numbered(path, details))
            items = Items(path, options, numbered)
            remarks += _add_numbered(builder, items, len(numbered))
        else:
            raise InvalidInput(f"{path}: has no details; run opencompass with --dump-eval-details.")
        every = [*items.remarks(), *remarks, *_unscored(builder)]
        return [builder.log(remarks=every, scales={_SCORER: Scale(lower_is_better=False)})]


def _numbered(path: Path, details: Record) -> Iterator[Any]:
    """Yield the details by their number, which must have no gaps."""
    count = len(details) - ("type" in details)
    for number in range(count):
        if str(number) not in details:
            raise InvalidInput(
                f"{path}: details {number} is missing, though there are {count} of them."
            )
        yield details[str(number)]


# -- one record per problem ----------------------------------------------------------------


def _add_runs(builder: LogBuilder, record: Record) -> None:
    """Add a trial for each of the repeated runs."""
    lists = {name: value for name, value in record.items() if isinstance(value, list)}
    runs = max(map(len, lists.values()), default=0)
    if not runs:
        raise InvalidInput(f"there are no runs of {record.get('example_abbr')!r:.60}.")
    scores = [_score({name: one[at] for name, one in lists.items() if at < len(one)})
              for at in range(runs)]  # fmt: skip
    texts = [_aligned(lists, name, runs) for name in ("pred", "prediction", "predictions")]
    predictions = next((found for found in texts if found), [None] * runs)
    for number, (score, prediction) in enumerate(zip(scores, predictions, strict=True)):
        builder.add(
            key(record, "example_abbr"),
            number,
            scores={_SCORER: score},
            targets=_targets(_aligned(lists, "answer", runs)[:1]),
            text=kept_text(prediction),
        )


def _aligned(lists: Mapping[str, Sequence[Any]], name: str, runs: int) -> Sequence[Any]:
    """Return the values of a field if every run has one; else it is unknown whose they are."""
    found = lists.get(name, ())
    return found if len(found) == runs else ()


# -- one record per position ---------------------------------------------------------------


def _add_numbered(builder: LogBuilder, items: Items, count: int) -> Iterator[Remark]:
    """Add a trial for each position; repeats are recognized where all come again in order."""
    records = list(items)
    size = _period([question for _, record in records if (question := _question(record))], count)
    for place, record in records:
        with items.checking(place):
            builder.add(
                (place.line - 1) % size,
                (place.line - 1) // size,
                scores={_SCORER: _score(record)},
                targets=_targets([record.get("references")]),
                messages=_messages(_prompt(record)),
                text=kept_text(record.get("origin_prediction")),
            )
    if size < count:
        prompts = "prompt comes" if size == 1 else f"{size} prompts come"
        text = f"the same {prompts} {count // size} times: they are read as repeated trials"
        yield Remark(text, important=True)


def _prompt(record: Record) -> Any:
    return record.get("prompt", record.get("origin_prompt"))


def _question(record: Record) -> str | None:
    """Return the prompt and the references as one text; None where there is no prompt."""
    prompt = _prompt(record)
    return repr((prompt, record.get("references"))) if prompt else None


def _period(questions: Sequence[str], count: int) -> int:
    """Return the number of questions after which all of them begin again; `count` if they do not.

    >>> _period(["a", "b", "a", "b"], 4), _period(["a", "b", "a"], 3), _period(["a"], 2)
    (2, 3, 2)
    """
    size = len(set(questions))
    if len(questions) == count and size and count % size == 0:
        rounds = [questions[at : at + size] for at in range(0, count, size)]
        if all(one == rounds[0] for one in rounds):
            return size
    return max(count, 1)


# -- fields --------------------------------------------------------------------------------


def _score(record: Record) -> ScoreValue:
    """Return whether an answer is correct; None where the evaluator has not recorded it."""
    value = next((record[name] for name in _CORRECT if record.get(name) is not None), None)
    rule = record.get("rule_evaluation")
    if value is None and isinstance(rule, dict):  # a cascade that needed no judge
        value = rule.get("correct")
    if value is None or value in (0, 1):
        return None if value is None else bool(value)
    raise InvalidInput(f"correct must be true or false; got {value!r:.60}.")


def _targets(found: Sequence[Any]) -> list[str]:
    target = found[0] if found else None
    if isinstance(target, list):
        return [one for one in target if isinstance(one, str)]
    return [str(target)] if isinstance(target, (str, int, float)) else []


def _messages(prompt: Any) -> list[tuple[str, Any]]:
    """Return a prompt, which is a text, or a list of messages in the words of opencompass."""
    if isinstance(prompt, str):
        return [("user", prompt)]
    found = [one for one in prompt if isinstance(one, dict)] if isinstance(prompt, list) else []
    return [(str(one.get("role", "user")).lower(), one.get("prompt")) for one in found]


def _unscored(builder: LogBuilder) -> Iterator[Remark]:
    log = builder.log()
    if len(builder) and not any(trial.scores for trial in log.trials):
        yield Remark(
            "the evaluator has not recorded which answers are correct: import the log and score "
            "its texts with passband score",
            important=True,
        )
