"""Results of verifiers: rollouts with rewards, in three forms.

    0.3, 0.4  {"env": {...}, "task": {...}, "traces": [{"task": ..., "rewards": {...}}]}
    0.2       {"task": {...}, "rewards": {"correct": 1.0}, "nodes": [...], "errors": []}
    0.1       {"example_id": 0, "prompt": [...], "completion": [...], "reward": 1.0, ...}

The first two are lines of `traces.jsonl`, the last is one of `results.jsonl`, which has its model
and environment in `metadata.json` beside it. The main score is the reward: the sum of the weighted
rewards. A rollout with an error has errored, though 0.1 writes a reward of 0 for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.files import read_json
from passband.readers.file_head import first_record
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import LogBuilders
from passband.readers.names import plain_name
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import Lines, is_joined
from passband.trials import Status

Record = Mapping[str, Any]

_ROLLOUT = {"prompt", "completion", "reward"}
_COLUMNS = {
    "example_id", "id", "prompt", "completion", "task", "answer", "info", "reward", "error",
    "timing", "is_completed", "is_truncated", "stop_condition", "metrics", "tool_defs",
    "token_usage", "error_chain", "long_error_chain", "generation_ms", "scoring_ms", "total_ms",
    "trajectory",
}  # fmt: skip


@register_reader("verifiers")
class Verifiers:
    """Reads traces.jsonl and results.jsonl."""

    def sniff(self, path: Path) -> bool:
        record = first_record(path)
        return _is_episode(record) or _is_trace(record) or _is_rollout(record)

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return a log for each environment and model."""
        lines = Lines(path, options)
        source = Source.of("verifiers", path)
        rollouts = _Rollouts(path, LogBuilders(source, ("reward",), texts=options.texts), options)
        later = []
        for place, record in lines:
            with lines.checking(place):
                if _is_episode(record) and not record["traces"]:
                    later.append((place, record))  # their model is that of the others
                else:
                    rollouts.add(record)
        for place, record in later:
            with lines.checking(place):
                rollouts.add_failed(record)
        return rollouts.builders.logs(remarks=[*lines.remarks(), *rollouts.remarks()])


def _is_episode(record: Record) -> bool:
    return isinstance(record.get("traces"), list) and isinstance(record.get("task"), dict)


def _is_trace(record: Record) -> bool:
    task = record.get("task")
    return isinstance(record.get("rewards"), dict) and isinstance(task, dict) and "data" in task


def _is_rollout(record: Record) -> bool:
    has_key = "example_id" in record or ("id" in record and "task" in record)
    talks = (list, str, type(None))  # messages, or the text of a completion
    return (
        has_key
        and record.keys() >= _ROLLOUT
        and isinstance(record["prompt"], talks)
        and isinstance(record["completion"], talks)
        and not is_joined(record, "task")
    )


class _Rollouts:
    """Collects rollouts of any form."""

    def __init__(self, path: Path, builders: LogBuilders, options: Options) -> None:
        self.builders = builders
        self._path, self._texts = path, options.texts
        self._models: dict[str, None] = {}  # of traces
        self._errored = 0
        self._zeroed = 0  # errored ones with a reward

    def add(self, record: Record) -> None:
        """Add the rollouts of a line."""
        if _is_episode(record):
            self._add_episode(record)
        elif _is_trace(record):
            self._add_trace(record, _name(record["task"].get("type")))
        elif record.keys() >= _ROLLOUT:
            self._add_rollout(record)
        else:
            raise InvalidInput("the line is neither an episode nor a trace nor a rollout.")

    def remarks(self) -> Iterator[Remark]:
        """Yield how many rollouts have errored."""
        if self._errored:
            rollouts = "1 rollout" if self._errored == 1 else f"{self._errored} rollouts"
            zeroed = f", {self._zeroed} of them with a reward" if self._zeroed else ""
            yield Remark(f"{rollouts} ended in an error{zeroed}: left without a score", True)

    # -- traces ----------------------------------------------------------------------------

    def _add_episode(self, record: Record) -> None:
        name, traces = _environment(record), record["traces"]
        for trace in traces:
            if not isinstance(trace, dict) or not isinstance(trace.get("task"), dict):
                raise InvalidInput(f"a trace must be an object with a task; got {trace!r:.60}.")
            _scores(_object(trace, "rewards"), _object(trace, "metrics"))  # all, or none is added
        agents = {_agent(trace) for trace in traces}
        for trace in traces:
            self._add_trace(trace, name, _agent(trace) if len(agents) > 1 else None)

    def add_failed(self, record: Record) -> None:
        """Add an episode whose environment itself has failed, under the only model of the file."""
        name = _environment(record)
        model = next(iter(self._models)) if len(self._models) == 1 else plain_name(self._path)
        builder = self.builders.of(name, model)
        builder.add(_key(record["task"]), None, "errored", error=_error(record))
        self._errored += 1

    def _add_trace(self, trace: Record, name: str, agent: str | None = None) -> None:
        rewards = _object(trace, "rewards")
        model = _model(trace) or plain_name(self._path)
        model = f"{model} ({agent})" if agent else model
        self._models[model] = None
        builder = self.builders.of(name, model)
        key, scores = _key(trace["task"]), _scores(rewards, _object(trace, "metrics"))
        if _has_failed(trace):
            self._note_error(rewards)
            builder.add(key, None, "errored", error=_error(trace))
            return
        status: Status = "limit" if trace.get("is_timeout") is True else "ok"
        fields = {**_about(trace["task"]), **(_conversation(trace) if self._texts else {})}
        builder.add(key, None, status, scores, completion_tokens=_tokens(trace), **fields)

    def _note_error(self, reward: Any) -> None:
        self._errored += 1
        rewards = reward.values() if isinstance(reward, dict) else [reward]
        self._zeroed += any(one is not None for one in rewards)

    # -- rollouts --------------------------------------------------------------------------

    def _add_rollout(self, record: Record) -> None:
        task = record.get("task")
        env, model = self._metadata
        name = task if isinstance(task, str) and task not in ("", "default") else env
        builder = self.builders.of(name, model)
        key = record.get("example_id", record.get("id"))
        error = record.get("error")
        if error is not None:
            self._note_error(record.get("reward"))
            message = error.get("error_chain_str") if isinstance(error, dict) else error
            builder.add(key, None, "errored", error=str(message))
            return
        metrics = record.get("metrics")
        if not isinstance(metrics, dict):
            metrics = {name: record[name] for name in record if name not in _COLUMNS}
        scores = {"reward": record.get("reward"), **_apart(_numeric(metrics), {"reward"})}
        status: Status = "truncated" if record.get("is_truncated") is True else "ok"
        answer = record.get("answer")
        targets = [answer] if isinstance(answer, str) and answer else []
        fields = _words(record["completion"]) if self._texts else {}
        builder.add(key, None, status, scores, targets=targets, **fields)

    @cached_property
    def _metadata(self) -> tuple[str, str]:
        """The environment and the model in the file beside the results."""
        beside = self._path.with_name("metadata.json")
        content = read_json(beside) if beside.is_file() else {}
        known = content if isinstance(content, dict) else {}
        env = known.get("env_id") or known.get("env") or "verifiers"
        return str(env), str(known.get("model") or plain_name(self._path))


def _name(value: Any) -> str:
    return value if isinstance(value, str) and value else "verifiers"


def _environment(episode: Record) -> str:
    env = episode.get("env")
    return _name(env.get("id") if isinstance(env, dict) else None)


def _agent(trace: Record) -> str:
    agent = trace.get("agent")
    name = agent.get("name") if isinstance(agent, dict) else None
    return name if isinstance(name, str) else "agent"


def _model(trace: Record) -> str | None:
    """Return the model of a trace: of its agent's settings, or of its calls."""
    agent = trace.get("agent")
    if isinstance(agent, dict):
        settings = agent.get("config")
        for place in (settings, agent):
            if isinstance(place, dict) and isinstance(place.get("model"), str):
                return str(place["model"])
    calls = trace.get("calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and isinstance(call.get("model"), str):
            return str(call["model"])
    return None


def _key(task: Record) -> str | int:
    """Return what tells the task from others: its key, its hash, its id, or its content."""
    data = task.get("data")
    row = data if isinstance(data, dict) else {}
    for value in (task.get("key"), task.get("hash"), *map(row.get, ("id", "name", "idx"))):
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            return value
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def _about(task: Record) -> dict[str, Any]:
    """Return the plain values of a task's data, and its answer."""
    data = task.get("data")
    row = data if isinstance(data, dict) else {}
    plain = {name: value for name, value in row.items() if isinstance(value, (str, int, float))}
    answer = plain.get("answer")
    return {"doc": plain, "targets": [str(answer)] if answer is not None else []}


def _object(trace: Record, name: str) -> Record:
    value = trace.get(name, {})
    if not isinstance(value, dict):
        raise InvalidInput(f"{name} must be an object; got {value!r:.60}.")
    return value


def _scores(rewards: Record, metrics: Record) -> dict[str, float]:
    """Return the sum of the weighted rewards, each reward, and each metric."""
    total, parts = 0.0, {}
    for name, reward in rewards.items():
        if reward is None:
            continue
        score, weight = reward, 1.0
        if isinstance(reward, dict):
            score, weight = reward.get("score"), reward.get("weight", 1.0)
        if not _is_number(score) or not _is_number(weight):
            raise InvalidInput(f"the reward {name} must be a number; got {reward!r:.60}.")
        total += score * weight
        parts[name] = float(score)
    parts = _apart(parts, {"reward"})
    return {
        **({"reward": total} if parts else {}),
        **parts,
        **_apart(_numeric(metrics), {"reward", *parts}),
    }


def _apart(scores: Mapping[str, float], taken: set[str]) -> dict[str, float]:
    """Return scores under names that are not taken."""
    return {f"{name} (part)" if name in taken else name: one for name, one in scores.items()}


def _numeric(values: Record) -> dict[str, float]:
    return {name: value for name, value in values.items() if _is_number(value)}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and value == value and abs(value) < 1e300


def _has_failed(trace: Record) -> bool:
    """Return whether a trace failed; before 0.3, any error is a failure."""
    if isinstance(trace.get("ok"), bool):
        return not trace["ok"]
    return bool(trace.get("errors"))


def _error(record: Record) -> str:
    errors = record.get("errors")
    last = errors[-1] if isinstance(errors, list) and errors else None
    if isinstance(last, dict):
        return f"{last.get('type')}: {last.get('message')}"
    return "the rollout did not succeed"


def _tokens(trace: Record) -> int | None:
    calls = trace.get("calls")
    listed = [one for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []
    usages = [one["usage"] for one in listed if isinstance(one.get("usage"), dict)]
    counts = [one.get("completion_tokens") for one in usages]
    return sum(counts) if counts and all(type(one) is int for one in counts) else None


def _conversation(trace: Record) -> dict[str, Any]:
    nodes = trace.get("nodes")
    listed = nodes if isinstance(nodes, list) else []
    messages = [one["message"] for one in listed if isinstance(one, dict) and "message" in one]
    return _words(messages)


def _words(messages: Any) -> dict[str, Any]:
    """Return messages as a transcript, and the last text of the model."""
    if isinstance(messages, str):
        return {"text": messages}
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return {}
    said = [one.get("content") for one in messages if one.get("role") == "assistant"]
    texts = [text for text in said if isinstance(text, str)]
    return {"transcript": messages, "text": texts[-1] if texts else None}
