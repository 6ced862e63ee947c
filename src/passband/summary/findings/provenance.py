"""Trace trials to their origin, and to the command that would ask for the same again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from passband.score import read_rubric
from passband.trials import RunRecord, SourceRecord, Trials

_RUBRIC = "RUBRIC_FILE"  # its text is recorded, and its name is not


@dataclass(frozen=True)
class RunProvenance:
    """The command, the versions, the seed and the digest of the data."""

    command: str | None  #: None where the trials were imported
    name: str  #: of the run
    versions: tuple[str, ...]  #: of passband that asked
    seed: str | None
    digest: str | None  #: sha256 of the problems as they were asked
    created: str
    temperature: float | None = None
    sources: tuple[SourceRecord, ...] = ()  #: files that trials were imported from


def provenance_of(trials: Trials, run: RunRecord) -> RunProvenance:
    """Return what the trials table says about how its trials were made."""
    versions = tuple(dict.fromkeys(session.version for session in trials.sessions()))
    entered = run.config.get("problems")
    made = entered.get("made") if isinstance(entered, Mapping) else None
    seed = run.spec.get("seed")
    sources = trials.sources()
    logs = [
        source
        for source in sources
        if run.source == source.number or source.sha256 in run.imported.files
    ]
    return RunProvenance(
        command=None if run.is_imported else command_of(run),
        name=run.name,
        versions=() if run.is_imported else versions,
        seed=None if seed is None else str(seed),
        digest=made if isinstance(made, str) else None,
        created=run.created,
        temperature=_temperature(run),
        sources=tuple(logs),
    )


def _temperature(run: RunRecord) -> float | None:
    sampling = run.spec.get("sampling")
    value = sampling.get("temperature") if isinstance(sampling, Mapping) else None
    return float(value) if isinstance(value, (int, float)) else None


def command_of(run: RunRecord) -> str:
    """Return a command that asks the same task of the same model, as far as the store says how.

    Files are named without their folders, which are those of another machine.
    """
    return shlex.join(["passband", "run", *_words(run)])


def _words(run: RunRecord) -> Iterator[str]:
    yield _task(run)
    yield from ("--model", str(run.spec.get("model", run.model)))
    if run.addresses:
        yield from ("--base-url", run.addresses[-1])
    if isinstance(n := run.config.get("n"), int):
        yield from ("-n", str(n))
    if isinstance(limit := run.config.get("limit"), int):
        yield from ("--limit", str(limit))
    rule = run.config.get("until")
    if isinstance(rule, Mapping) and "half_width" in rule:
        yield from ("--until", f"{rule['half_width']:g}")
    yield from _sampling(run)
    yield from _judge(run)
    if "seed" in run.spec:
        seed = run.spec["seed"]
        yield from ("--no-seed",) if seed is None else ("--seed", str(seed))


def _judge(run: RunRecord) -> Iterator[str]:
    """Yield the options of the judge; several models that judge are named in the task."""
    specs = [scorer.spec or {} for scorer in run.scorers if scorer.is_judge]
    if len({spec.get("model") for spec in specs}) != 1 or not specs[0].get("model"):
        return
    spec, judge_options = specs[0], specs[0].get("options") or {}
    yield from ("--judge", str(spec["model"]))
    if spec.get("address"):
        yield from ("--judge-base-url", str(spec["address"]))
    if judge_options.get("rubric") not in (None, read_rubric(None).as_json()) and not _has_judge(
        run
    ):
        yield from ("--rubric", _RUBRIC)
    if spec.get("votes", 1) != 1:
        yield from ("--votes", str(spec["votes"]))
    if judge_options.get("against"):
        yield from ("--against", PurePath(str(judge_options["against"])).name)


def _has_judge(run: RunRecord) -> bool:
    """Return whether the judge is the task's, and its rubric with it."""
    listed = (run.config.get("task") or {}).get("metric_list") or ()
    return any(isinstance(one, Mapping) and one.get("metric") == "judge" for one in listed)


def _task(run: RunRecord) -> str:
    path = run.config.get("path")
    if not isinstance(path, str):
        return run.task
    file = PurePath(path)
    builtin = Path(__file__).parents[2] / "tasks" / "builtin"
    is_builtin = (builtin / file.name).exists() and file.parent.name == "builtin"
    return run.task if is_builtin else file.name


def _sampling(run: RunRecord) -> Iterator[str]:
    """Yield the sampling options that the task itself does not set so."""
    sampling: Mapping[str, Any] = run.spec.get("sampling") or {}
    task_options: Mapping[str, Any] = (run.config.get("task") or {}).get("generation_kwargs") or {}
    for name, option, theirs in (
        ("temperature", "--temperature", "temperature"),
        ("top_p", "--top-p", "top_p"),
        ("max_tokens", "--max-tokens", "max_gen_toks"),
    ):
        value = sampling.get(name)
        if value is not None and value != task_options.get(theirs):
            yield from (option, f"{value:g}" if isinstance(value, float) else str(value))
    extra = sampling.get("extra")
    for name, value in extra.items() if isinstance(extra, Mapping) else ():
        yield from ("--gen", f"{name}={value if isinstance(value, str) else json.dumps(value)}")
