"""Read runs of HELM: `per_instance_stats.json` and the files beside it.

    [{"instance_id": "id12", "train_trial_index": 0, "perturbation": {"name": "typos", ...},
      "stats": [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1.0,
                 "mean": 1.0, ...}]}, ...]

`run_spec.json` names the run and the model; `scenario_state.json` holds prompts, completions and
failed requests. A train trial has other few-shot examples: it is not a repeated draw of the
same question, and neither is a perturbed question. Each is a task of its own here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from passband.errors import InvalidInput
from passband.files import read_json
from passband.generate import Verdict, verdict_of
from passband.readers.fields import kept_text, part, text, values
from passband.readers.file_head import first_item
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import Clash, LogBuilder, LogBuilders
from passband.readers.names import UNKNOWN, label
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import Items
from passband.trials import Status

_STATUSES: Mapping[Verdict, Status] = {"length": "truncated", "content_filter": "refused"}

Key = tuple[str, str, int]  # instance, perturbation, train trial


@dataclass(frozen=True)
class Answer:
    """The reply to an instance; its texts are empty unless they are wanted."""

    completions: list[tuple[Status, str | None]] = field(default_factory=list)
    error: str | None = None
    targets: tuple[str, ...] = ()
    messages: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Answers:
    """The answers of a run, by instance; None where there is no such file."""

    by_key: Mapping[Key, Answer] | None

    def get(self, key: Key) -> Answer | None:
        return (self.by_key or {}).get(key)

    def remarks(self) -> Iterator[Remark]:
        """Yield what was recovered, or cannot be."""
        if self.by_key is None:
            yield Remark(
                "no scenario_state.json beside it: an answer that failed to come cannot be told "
                "from a wrong one",
                important=True,
            )
            return
        failed = sum(answer.error is not None for answer in self.by_key.values())
        if failed:
            yield Remark(
                f"no score: {failed} {'instance' if failed == 1 else 'instances'} in the file, "
                "whose request failed; HELM counts an empty answer",
                important=True,
            )
        most = max((len(answer.completions) for answer in self.by_key.values()), default=0)
        if most > 1:
            yield Remark(
                f"up to {most} completions of an instance, but HELM scores the first of them, or "
                "all of them together",
                important=True,
            )


def variant(perturbation: Any) -> str:
    """Return the name of a perturbation; an empty one for the original question."""
    if not isinstance(perturbation, dict) or not perturbation:
        return ""
    name, seed = label(perturbation.get("name"), "unnamed"), perturbation.get("seed")
    return name if seed is None else f"{name} {seed!r:.20}"


def read_answers(path: Path, *, texts: bool) -> Answers:
    """Return the answers that a file holds, without texts unless they are wanted."""
    if not path.is_file():
        return Answers(None)
    content = read_json(path, "json")
    states = content.get("request_states") if isinstance(content, dict) else None
    if not isinstance(states, list):
        raise InvalidInput(f"{path}: has no list request_states; remove it, or get it again.")
    answers: dict[Key, Answer] = {}
    for state in states:
        instance = state.get("instance") if isinstance(state, dict) else None
        if isinstance(instance, dict) and isinstance(instance.get("id"), str):
            trial = state.get("train_trial_index")
            if type(trial) is not int:
                continue
            key = (instance["id"], variant(instance.get("perturbation")), trial)
            answers[key] = _joined(answers.get(key), _answer(state, instance, texts=texts))
    return Answers(answers)


def _joined(before: Answer | None, answer: Answer) -> Answer:
    """Return the answer to all requests on an instance: one that failed, if any has."""
    if before is None or answer.error is not None:
        return answer
    return before  # a request for each reference: their completions are no answers of their own


def _answer(state: Mapping[str, Any], instance: Mapping[str, Any], *, texts: bool) -> Answer:
    result = state.get("result")
    if not isinstance(result, dict):
        return Answer(error="no result was recorded")
    error = None
    if result.get("success") is False:
        error = kept_text(result.get("error")) or "the request failed"
    found = result.get("completions")
    completions = (
        [_completion(one, texts=texts) for one in found] if isinstance(found, list) else []
    )
    if not texts:
        return Answer(completions, error)
    request = state.get("request")
    prompt = kept_text(request.get("prompt")) if isinstance(request, dict) else None
    messages = (("user", prompt),) if prompt else ()
    return Answer(completions, error, tuple(_targets(instance)), messages)


def _completion(completion: Any, *, texts: bool) -> tuple[Status, str | None]:
    if not isinstance(completion, dict):
        return "ok", None
    finish = completion.get("finish_reason")
    reason = finish.get("reason") if isinstance(finish, dict) else None
    status = _STATUSES.get(verdict_of(reason), "ok")
    return status, kept_text(completion.get("text")) if texts else None


def _targets(instance: Mapping[str, Any]) -> Iterator[str]:
    references = instance.get("references")
    for reference in references if isinstance(references, list) else []:
        tags = reference.get("tags") if isinstance(reference, dict) else None
        if not isinstance(tags, list) or "correct" not in tags:
            continue
        output = reference.get("output")
        if isinstance(output, dict) and isinstance(output.get("text"), str):
            yield output["text"]


_FILE = "per_instance_stats.json"
_KEYS = {"instance_id", "train_trial_index", "stats"}

#: Statistics that a scenario has only where it is scored by them, then the general ones.
_MAIN = (
    "math_equiv_chain_of_thought", "math_equiv", "final_number_exact_match", "pass",
    "chain_of_thought_correctness", "ifeval_strict_accuracy", "omni_math_accuracy",
    "execution_accuracy", "program_accuracy", "exact_match", "quasi_exact_match",
    "quasi_prefix_exact_match", "prefix_exact_match", "f1_score", "squad_f1_score", "rouge_2",
    "rouge_l", "bleu_4",
)  # fmt: skip
#: What a run cost, and how long its texts are.
_BOOKKEEPING = (
    "num_", "inference_", "training_", "batch_size", "prompt_truncated", "logprob", "max_prob",
    "finish_reason_", "estimated_", "predicted_index",
)  # fmt: skip


class _Entry(NamedTuple):
    """The statistics of one instance, under one perturbation, in one train trial."""

    scores: dict[str, float | None]
    doc: dict[str, Any]


@register_reader("helm")
class Helm:
    """Reads a run: its statistics by instance, or its folder."""

    def sniff(self, path: Path) -> bool:
        first = first_item(path / _FILE if path.is_dir() else path)
        return isinstance(first, dict) and first.keys() >= _KEYS

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return a log for each perturbation and train trial."""
        path = path / _FILE if path.is_dir() else path
        content = read_json(path, "json")
        if not isinstance(content, list):
            raise InvalidInput(f"{path}: must be a list of statistics by instance.")
        items = Items(path, options, content)
        entries = _entries(items)
        task, model = _names(path.with_name("run_spec.json"))
        answers = read_answers(path.with_name("scenario_state.json"), texts=options.texts)
        scorers = _scorers(entries)
        builders = LogBuilders(Source.of("helm", path), scorers, texts=options.texts)
        train_trials = {trial for _, _, trial in entries}
        for key, entry in entries.items():
            name = _task(task, key, several=len(train_trials) > 1)
            _add(builders.of(name, model), key, entry, answers)
        remarks = [*items.remarks(), *_remarks(entries, scorers, answers)]
        return builders.logs(remarks=remarks)


def _entries(items: Items) -> dict[Key, _Entry]:
    """Merge the items of an instance: every metric of HELM writes one."""
    entries: dict[Key, _Entry] = {}
    for place, record in items:
        with items.checking(place):
            key = _key(record)
            found = [_stat(stat) for stat in values(record, "stats")]
            entry = entries.get(key) or _Entry({}, {})
            for name, value, _ in found:
                if entry.scores.get(name, value) != value:
                    raise Clash(f"instance {key[0]!r} has two values of {name}.")
            for name, value, doc in found:
                entry.scores[name] = value
                entry.doc.update(doc)
            entries[key] = entry
    return entries


def _key(record: Mapping[str, Any]) -> Key:
    instance, trial = text(record, "instance_id"), record.get("train_trial_index")
    if instance is None:
        raise InvalidInput("there is no instance_id.")
    if type(trial) is not int or trial < 0:
        raise InvalidInput(f"train_trial_index must be a whole number; got {trial!r:.60}.")
    return instance, variant(part(record, "perturbation")), trial


def _stat(stat: Any) -> tuple[str, float | None, dict[str, Any]]:
    """Return the name and mean of a statistic, and where it was taken."""
    if not isinstance(stat, dict):
        raise InvalidInput(f"every statistic must be an object; got {stat!r:.60}.")
    of = part(stat, "name")
    name = text(of, "name")
    if name is None:
        raise InvalidInput("a statistic has no name.")
    mean = stat.get("mean")
    if isinstance(mean, bool) or not isinstance(mean, (int, float, type(None))):
        raise InvalidInput(f"the mean of {name} must be a number; got {mean!r:.60}.")
    doc = {field: of[field] for field in ("split", "sub_split") if isinstance(of.get(field), str)}
    return name, None if mean != mean else mean, doc


def _scorers(entries: Mapping[Key, _Entry]) -> list[str]:
    """Return the names of all statistics: a likely main one, further scores, then bookkeeping."""
    names = list(dict.fromkeys(name for entry in entries.values() for name in entry.scores))
    costs = [name for name in names if name.startswith(_BOOKKEEPING)]
    scores = [name for name in names if name not in costs]
    main = next((name for name in _MAIN if name in scores), None)
    return list(dict.fromkeys([*([main] if main else []), *scores, *costs]))


def _add(builder: LogBuilder, key: Key, entry: _Entry, answers: Answers) -> None:
    """Add the trial of an instance; further completions are trials without a score."""
    answer = answers.get(key)
    if answer is None:
        builder.add(key[0], scores=entry.scores, doc=entry.doc)
        return
    problem: dict[str, Any] = {
        "doc": entry.doc, "targets": answer.targets, "messages": answer.messages,
    }  # fmt: skip
    if answer.error is not None:
        builder.add(key[0], status="errored", error=answer.error, **problem)
        return
    completions: list[tuple[Status, str | None]] = answer.completions or [("ok", None)]
    for number, (status, completion) in enumerate(completions):
        scores = {} if number else entry.scores
        builder.add(key[0], status=status, scores=scores, text=completion, **problem)


# -- names and remarks ---------------------------------------------------------------------


def _names(path: Path) -> tuple[str, str]:
    try:
        content = read_json(path, "json")
    except InvalidInput:  # names alone rest on it
        content = {}
    spec = content if isinstance(content, dict) else {}
    adapter = spec.get("adapter_spec")
    model = adapter.get("model") if isinstance(adapter, dict) else None
    name = label(spec.get("name"), path.parent.name or "HELM")
    return _without_model(name), label(model)


def _without_model(name: str) -> str:
    """Return the name of a run without the model, which is in it, so that models compare.

    >>> _without_model("mmlu:subject=law,model=openai_gpt-4,groups=x")
    'mmlu:subject=law,groups=x'
    """
    scenario, mark, arguments = name.partition(":")
    kept = [
        one for one in arguments.split(",") if not one.startswith(("model=", "model_deployment="))
    ]
    return f"{scenario}{mark}{','.join(kept)}".rstrip(":") or UNKNOWN


def _task(task: str, key: Key, *, several: bool) -> str:
    _, perturbation, trial = key
    parts = [f"perturbation {perturbation}"] if perturbation else []
    parts += [f"train trial {trial}"] if several else []
    return f"{task} ({', '.join(parts)})" if parts else task


def _remarks(
    entries: Mapping[Key, _Entry], scorers: Sequence[str], answers: Answers
) -> Iterator[Remark]:
    trials = len({trial for _, _, trial in entries})
    if trials > 1:
        yield Remark(
            f"{trials} train trials are separate tasks: they differ in their few-shot examples, "
            "so they are no repeated draws",
            important=True,
        )
    if any(perturbation for _, perturbation, _ in entries):
        yield Remark("perturbed instances are separate tasks", important=True)
    if not scorers or scorers[0] not in _MAIN:
        names = ", ".join(scorers[:6]) or "none"
        yield Remark(
            f"no known main statistic; it has {names} (choose with --score)", important=True
        )
    splits = {split for entry in entries.values() if (split := kept_text(entry.doc.get("split")))}
    if len(splits) > 1:
        names = ", ".join(sorted(splits))
        yield Remark(f"instances of several splits ({names}); --by split", important=True)
    yield from answers.remarks()
