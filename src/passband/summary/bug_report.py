"""Write a ZIP file for a bug report: versions, settings and evidence, without texts and keys.

Of a run there are settings, counts and findings. Any string of a recorded setting that is not
known to be a name is replaced with its length: it may be a prompt, an example or an answer.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib import metadata
from pathlib import Path

from passband import plugins
from passband.errors import InvalidInput
from passband.generate import redacted
from passband.log import LINE, VARIABLE
from passband.readers import stored_outcomes
from passband.score import Diagnosis
from passband.stats.evidence import evidence_of
from passband.trials import RunRecord, Trials
from passband.version import __version__

_NAMES = {  # settings whose texts are words of passband, or names of programs
    "aggregation", "engine", "filter", "function", "kind", "metric", "name", "order",
    "output_type", "repeat_aggregation", "sandbox", "scorer", "truncated", "type", "version",
}  # fmt: skip
_WORD = re.compile(r"[A-Za-z][\w.:@^/+-]{0,60}")
_SHOWN = ("CPUS", "IMPORT", "LOG", "SANDBOX", "SANDBOX_IMAGE", "SANDBOX_PYTHON")
_TAIL = 200_000  # bytes of the log


def write_bug_report(file: Path, run: Path | None, diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Write the file and return the names of its members."""
    members = {
        "versions.json": _versions(),
        "environment.json": _environment(),
        "sandboxes.json": [asdict(each) | {"holds": each.holds} for each in diagnoses],
    }
    if run is not None:
        with Trials(run) as trials:
            members["sessions.json"] = [
                each._replace(address=None, pid=None, host=None)._asdict()
                for each in trials.sessions()
            ]
            members["runs.json"] = [_run(trials, record) for record in trials.runs()]
    texts = {name: json.dumps(value, indent=1) for name, value in members.items()}
    if tail := _log_tail():
        texts["log.txt"] = tail
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, redacted(text))
    return list(texts)


def _versions() -> dict[str, object]:
    needed = metadata.requires("passband") or ()
    names = sorted({re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in needed})
    installed = {}
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            installed[name] = metadata.version(name)
    return {
        "passband": __version__,
        "python": sys.version,
        "platform": platform.platform(),
        "machine": platform.machine(),
        "packages": installed,
        "plugins": sorted({*plugins.failures, *plugins.named_modules()}),
    }


def _environment() -> dict[str, str]:
    """Return the variables of passband: values of those that hold no key and no text."""
    return {
        name: value if name.removeprefix("PASSBAND_") in _SHOWN else "(set)"
        for name, value in sorted(os.environ.items())
        if name.startswith("PASSBAND_")
    }


def _run(trials: Trials, run: RunRecord) -> dict[str, object]:
    rows = trials.attempt_rows(run.number)
    attempts = Counter(f"{row.outcome} {row.http or ''}".rstrip() for row in rows)
    return {
        "task": run.task,
        "model": run.model,
        "created": run.created,
        "spec": _without_texts(run.spec),
        "config": _without_texts(run.config),
        "statuses": trials.statuses(run.number),
        "failed_attempts": attempts,
        "problems": trials.coverage(run)._asdict(),
        "scorers": [_scorer(trials, run, index) for index in range(len(run.scorers))],
    }


def _scorer(trials: Trials, run: RunRecord, index: int) -> dict[str, object]:
    """Return a scorer with the codes and numbers of what its scores show; their texts may quote."""
    scorer = run.scorers[index]
    try:
        findings = evidence_of(stored_outcomes(trials, run, scorer)).findings
    except InvalidInput as error:  # such as that no trial has a score
        return {"name": scorer.name, "error": type(error).__name__}
    shown = [
        {"code": each.code, "severity": each.severity, "numbers": _without_texts(each.numbers)}
        for each in findings
    ]
    return {"name": scorer.name, "findings": shown}


def _without_texts(value: object, name: str = "") -> object:
    """Return plain values with every string replaced that may be a text.

    >>> _without_texts({"n": 2, "scorer": "exact_match", "doc_to_text": "What is {{a}}?"})
    {'n': 2, 'scorer': 'exact_match', 'doc_to_text': '(14 characters)'}
    """
    if isinstance(value, str):
        is_name = name in _NAMES and _WORD.fullmatch(value)
        return value if is_name else f"({len(value)} characters)"
    if isinstance(value, Mapping):
        return {
            key: _without_texts(inner, key)
            for key, inner in value.items()
            if isinstance(key, str) and _WORD.fullmatch(key)
        }
    if isinstance(value, (list, tuple)):
        return [_without_texts(inner, name) for inner in value]
    return value if isinstance(value, (bool, int, float)) else None


def _log_tail() -> str:
    """Return the end of the log, where it is a file: the lines that passband has written."""
    path = Path(os.environ.get(VARIABLE, ""))
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        text = file.read().decode("utf-8", "replace")
    return "".join(f"{line}\n" for line in text.splitlines() if LINE.match(line))
