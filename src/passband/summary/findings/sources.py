"""Collect the findings on every run of run directories, folders, logs and tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.readers import Options, chosen_sources, expand_sources, opened_trials, require_path
from passband.stats import as_level
from passband.stats.data import Scale
from passband.summary.findings.findings import ReportRequest, SourceFindings, source_findings
from passband.trials import is_run_directory

_HEAD = 4_096  # bytes in which a file of passband's own says what it is


def read_findings(
    sources: Sequence[str | Path],
    request: ReportRequest | None = None,
    *,
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
    columns: Mapping[str, str | None] | None = None,
    skip_bad: bool = False,
    scales: Mapping[str, Scale] | None = None,
) -> list[SourceFindings]:
    """Return the findings on each source; those without such tasks or models are left out.

    A log of another tool or a table is imported into a temporary store first, so that there is
    one way from trials to findings. A run directory may be one that a process is writing to: it is
    read as of one moment, and nothing in it changes.
    """
    if request is not None:
        as_level(request.summary.level)
    paths = expand_sources(sources)
    found: list[SourceFindings] = []
    left_out: list[str] = []
    for path, chosen in chosen_sources(paths, tasks, models).items():
        if isinstance(chosen, str) and len(paths) > 1:
            left_out.append(chosen)
            continue
        path = require_path(path, "a report shows")
        _refuse_summaries(path)
        names = (list(tasks), list(models)) if isinstance(chosen, str) else chosen
        options = Options.of(columns, (), *names, skip_bad=skip_bad, scales=scales)
        with opened_trials(path, options) as trials:
            asked = _of_scorer(request, path, options)
            found.append(source_findings(trials, asked, tasks=names[0], models=names[1]))
    if not found:
        raise InvalidInput(" ".join(f"{line}." for line in left_out) or "there is nothing to read.")
    return found


def _of_scorer(request: ReportRequest | None, path: Path, options: Options) -> ReportRequest | None:
    """Return the request for the scorer that is named; of a table, its column is the only one."""
    if options.score is None or not is_run_directory(path):
        return request
    return replace(request or ReportRequest(), scorer=options.score)


def _refuse_summaries(path: Path) -> None:
    """Raise `InvalidInput` for a summary, which holds results but none of their trials."""
    if not path.is_file() or path.suffix != ".json":
        return
    kind = _kind(path)
    if kind is not None:
        raise InvalidInput(
            f"{path} is a file of passband ({kind}) with results and no trials; a report needs the "
            "trials: give the run directory, the log or the table that it was made from."
        )


def _kind(path: Path) -> str | None:
    """Return what a file of passband's own says that it is; None for any other."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if b'"passband"' not in head:
        return None
    try:
        document: Any = json.loads(path.read_bytes())
    except ValueError:
        return None
    if not isinstance(document, dict) or not isinstance(document.get("passband"), str):
        return None
    version = document.get("version")
    return f"{document['passband']}, version {version}" if version else str(document["passband"])
