"""Write the file of metrics summaries: one run as it is, several by name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from passband.errors import InvalidInput
from passband.summary.eva.document import MetricsSummary
from passband.trials import atomic_file

NAME = "metrics_summary.json"
KIND, VERSION = "metrics_summaries", 1


def document_of(summaries: Sequence[MetricsSummary]) -> str:
    """Return the JSON of one run, or of several under their names."""
    if len(summaries) == 1:
        return summaries[0].to_json()
    runs: dict[str, MetricsSummary] = {}
    for summary in summaries:
        if runs.setdefault(summary.run, summary) is not summary:
            raise InvalidInput(
                f"two runs are named {summary.run!r}; summarize them one by one, or choose with "
                "--task and --model."
            )
    document = {
        "passband": KIND,
        "version": VERSION,
        "runs": {name: summary.as_json() for name, summary in runs.items()},
    }
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode() + "\n"


def target_of(
    output: Path, summaries: Sequence[MetricsSummary], sources: Sequence[Path] = ()
) -> Path:
    """Return the file to write: a folder gets a metrics_summary.json of its only run.

    A file that the summary was made from, or that belongs to a run, is not written over.
    """
    if not output.is_dir():
        if _is_own(output, sources):
            raise InvalidInput(
                f"{output} is part of what is summarized, and would be lost; choose another name."
            )
        return output
    if len(summaries) > 1:
        raise InvalidInput(
            f"{output} is a folder, and there are {len(summaries)} runs; name the one file that "
            f"is to hold all of them, such as -o {output / NAME}."
        )
    return output / NAME


def _is_own(output: Path, sources: Sequence[Path]) -> bool:
    """Return whether a file is a source, or lies in one and is not an earlier summary."""
    if not output.is_file():
        return False
    path = output.resolve()
    origins = [source.resolve() for source in sources]
    if path in origins:
        return True
    is_inside = any(origin in path.parents for origin in origins)
    return is_inside and path.name != NAME and not _is_summary(path)


def _is_summary(path: Path) -> bool:
    with path.open("rb") as file:
        return b'"passband": "metrics_summar' in file.read(100)


def write_document(text: str, path: Path) -> None:
    """Write a file; it appears whole or not at all, and nothing beside it is touched."""
    data = text.encode()
    with atomic_file(path) if path.is_file() or not path.exists() else path.open("wb") as file:
        file.write(data)
