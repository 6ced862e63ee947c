"""The command: `key=value` options in, three lines per dataset out.

    python -m passband.inspect_evals tasks=inspect_evals/aime2024 model_name=qwen3-8b \\
        base_url=http://localhost:8000/v1 num_choices=64 pass_at_k=1

Standard output has the metrics and nothing else; progress, warnings and what was left out go to
standard error.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from passband.cli.app import reported_errors
from passband.errors import ExitCode, InvalidInput, describe
from passband.inspect_evals.arguments import parse_arguments
from passband.inspect_evals.checks import level_of
from passband.inspect_evals.inspect_evaluators import InspectEvaluator, InspectEvaluatorBuilder
from passband.inspect_evals.target import model_of
from passband.report import make_display, printable


@dataclass(frozen=True, kw_only=True)
class Config(InspectEvaluatorBuilder):
    """The options of the command."""

    tasks: str  #: PACKAGE/TASK, FILE.py@TASK or MODULE:FUNCTION; several separated by commas
    model_path: str | None = None  #: tinker://... , or the name that the server knows the model by


def main(words: Sequence[str] | None = None) -> None:
    """Run the command; exit with 2 if an option is wrong."""
    words = sys.argv[1:] if words is None else words
    with reported_errors(), _interrupted():
        if not words or words[0] in ("-h", "--help", "help"):
            print(_help())
            return
        config = parse_arguments(Config, words)
        evaluator = config()  # refuses options before anything is asked
        handler = logging.StreamHandler()
        handler.setFormatter(PrintableLines("%(message)s"))
        logging.basicConfig(level=level_of(config.log_level), handlers=[handler])
        with redirect_stdout(sys.stderr):  # tasks may print, and so may what they import
            metrics = _evaluated(config, evaluator)
        for line in _lines(metrics):
            print(printable(line))
        if evaluator.failures:  # which have been logged
            sys.exit(ExitCode.FAILED)


class PrintableLines(logging.Formatter):
    """Writes a record with what a terminal would obey escaped: models and tasks wrote the text."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(printable, super().format(record).split("\n")))


@contextmanager
def _interrupted() -> Iterator[None]:
    """Exit as a command does that Ctrl-C has ended."""
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)


def _evaluated(config: Config, evaluator: InspectEvaluator) -> dict[str, float]:
    if config.renderer_name is not None and not _is_tinker(config):
        print(
            f"note: renderer_name={config.renderer_name} is only for tinker; here the server's "
            "chat template renders the prompts.",
            file=sys.stderr,
        )
    if _is_tinker(config):
        return asyncio.run(evaluator(_sampling_client(config)))
    model = model_of(config, config.model_path)
    with _directory(config) as directory, make_display(as_json=False, quiet=False) as display:
        return evaluator.evaluate(model, directory, display)


def _is_tinker(config: Config) -> bool:
    return (config.model_path or "").startswith("tinker://")


def _sampling_client(config: Config) -> Any:
    """Return the client that samples from weights that tinker keeps."""
    try:
        import tinker
    except ImportError:
        raise InvalidInput(
            f"model_path={config.model_path} needs the package tinker; for a model on an "
            "OpenAI-compatible server give base_url and model_name."
        ) from None
    try:
        client = tinker.ServiceClient().create_sampling_client(model_path=config.model_path)
        return client.result() if hasattr(client, "result") else client  # a future since tinker 0.2
    except Exception as error:  # a missing key, an unknown path
        raise InvalidInput(f"model_path={config.model_path}: {describe(error, 300)}") from error


@contextmanager
def _directory(config: Config) -> Iterator[Path]:
    if config.out is not None:
        yield Path(config.out)
        return
    with tempfile.TemporaryDirectory(prefix="passband-") as directory:
        yield Path(directory)


def _lines(metrics: dict[str, float]) -> list[str]:
    """Return a line per metric; standard errors have more digits."""
    return [
        f"{name}: {value:.6f}" if name.endswith("stderr") else f"{name}: {value:.4f}"
        for name, value in metrics.items()
    ]


def _help() -> str:
    options = [
        f"  {field.name}={'...' if field.name == 'tasks' else field.default}"
        for field in fields(Config)
    ]
    return "\n".join(
        ["python -m passband.inspect_evals key=value ...", "", "options and defaults:", *options]
    )


if __name__ == "__main__":
    main()
