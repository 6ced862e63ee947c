"""Results of tau-bench: a list of trials with their rewards and conversations.

    [{"task_id": 0, "reward": 1.0, "info": {...}, "traj": [{"role": "system", ...}], "trial": 0}]

A reward within a millionth of 1 is a success. A trial that ended in an exception has a reward of
0.0, no conversation and `info.error`: it is read as errored, not as a failure. The document is read
as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.files import read_json
from passband.readers.file_head import head_of
from passband.readers.groups import Remark
from passband.readers.log import Log, Source
from passband.readers.log_builder import LogBuilder
from passband.readers.names import plain_name
from passband.readers.options import Options
from passband.readers.reader import register_reader
from passband.readers.records import Items
from passband.stats.data import UNIT

_KEYS = {"task_id", "reward", "info", "traj", "trial"}
_TOLERANCE = 1e-6  # of a reward that counts as 1


@register_reader("tau-bench")
class TauBench:
    """Reads a file of results or a checkpoint of tau-bench."""

    def sniff(self, path: Path) -> bool:
        head = head_of(path)
        first = head[0] if isinstance(head, list) and head else None
        # The conversation may be longer than the beginning of the file, and hide what follows it.
        return isinstance(first, dict) and _KEYS - {"trial"} <= first.keys()

    def read(self, path: Path, options: Options) -> list[Log]:
        """Return the log: `success` of each trial, and its reward."""
        content = read_json(path)
        if not isinstance(content, list):
            raise InvalidInput(f"{path}: must be a list of trials, as tau-bench writes it.")
        items = Items(path, options, content)
        source = Source.of("tau-bench", path)
        scorers = ("success", "reward")
        builder = LogBuilder("tau-bench", plain_name(path), source, scorers, texts=options.texts)
        errored = 0
        for place, trial in items:
            with items.checking(place):
                errored += _add(builder, trial, options.texts)
        planned = len({item.get("trial") for _, item in items})
        remarks = [*items.remarks(), *_errored(errored)]
        scales = {"success": UNIT}
        return [builder.log(remarks=remarks, planned=planned or None, scales=scales)]


def _add(builder: LogBuilder, trial: Mapping[str, Any], texts: bool) -> bool:
    """Add a trial; return whether it ended in an exception."""
    missing = _KEYS - trial.keys()
    if missing:
        raise InvalidInput(f"the trial has no {min(missing)}.")
    reward, info, messages = trial["reward"], trial["info"], trial["traj"]
    key, number = trial["task_id"], trial["trial"]
    if type(number) is not int:
        raise InvalidInput(f"trial must be a whole number; got {number!r:.60}.")
    error = info.get("error") if isinstance(info, dict) else None
    if error is not None and not reward and not messages:
        builder.add(key, number, "errored", error=str(error))
        return True
    fields = _texts(messages) if texts else {}
    scores = {"success": _success(reward), "reward": reward}
    builder.add(key, number, scores=scores, doc=_doc(info), **fields)
    return False


def _success(reward: Any) -> Any:
    """Return 1 or 0; what is no number goes on as it is, and is refused or left unscored."""
    if isinstance(reward, (int, float)) and reward == reward:
        return abs(reward - 1) <= _TOLERANCE
    return reward


def _doc(info: Any) -> dict[str, Any]:
    """Return the instruction of the task, where it is recorded."""
    task = info.get("task") if isinstance(info, dict) else None
    wanted = ("user_id", "instruction")
    return {name: task[name] for name in wanted if name in task} if isinstance(task, dict) else {}


def _texts(messages: Any) -> dict[str, Any]:
    """Return the conversation and the agent's last words."""
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return {}
    said = [one.get("content") for one in messages if one.get("role") == "assistant"]
    texts: Sequence[str] = [text for text in said if isinstance(text, str)]
    return {"transcript": messages, "text": texts[-1] if texts else None}


def _errored(count: int) -> Iterator[Remark]:
    if count:
        trials = "1 trial" if count == 1 else f"{count} trials"
        yield Remark(
            f"{trials} ended in an exception, which tau-bench counts as a failure: left without a "
            "score (--policy fail counts such trials)",
            important=True,
        )
