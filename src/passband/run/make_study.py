"""Making a study: the runs of several models from options, or from a study file and options."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.generate.providers import is_local
from passband.run.addresses import assign_addresses
from passband.run.directory import default_directory, shard_directory
from passband.run.request import RunRequest, make_request
from passband.run.study import Study, refuse_twice
from passband.run.study_file import StudyFile, StudyModel
from passband.run.study_keys import ADJUSTMENTS
from passband.tasks.adjust import Adjustments
from passband.trials.reader import is_run_directory

__all__ = ["study_of_file", "study_of_models"]

_OF_THE_STUDY = ("out", "metrics", "level", "policy")  # settings that are not of one run
_OF_SERVERS = ("headers", "stream")


def study_of_models(
    tasks: Sequence[str],
    models: Sequence[str],
    urls: Sequence[str] = (),
    *,
    out: Path | None = None,
    **options: Any,
) -> Study:
    """Return the study of several models with the same options, which are those of `make_request`.

    With `out`, each model has a directory in it.
    """
    refuse_twice(models)
    if options.get("name") is not None:
        raise InvalidInput(
            f"--name is for one model; there are {len(models)}. A study file (docs/run.md) has a "
            "name for each."
        )
    addresses = assign_addresses(models, urls)
    parent = _parent(out)
    return Study(
        [
            make_request(
                tasks,
                model,
                out=_directory(model, None, parent, options),
                **{**_options_of(model, models, options), "base_url": _plain(addresses[model])},
            )
            for model in models
        ]
    )


def study_of_file(
    file: StudyFile,
    models: Sequence[str] = (),
    *,
    given: Collection[str] = (),
    out: Path | None = None,
    **options: Any,
) -> Study:
    """Return the study that a file describes, or the part of it with these models.

    `options` are those of `make_request`; the ones that are `given` win over the file.
    """
    parent = _parent(out or file.settings.get("out"))
    chosen = file.chosen(list(models))
    names = [model.model for model in chosen]
    return Study(
        [
            _request(file, model, parent, given, _options_of(model.model, names, options))
            for model in chosen
        ]
    )


def _request(
    file: StudyFile,
    model: StudyModel,
    parent: Path,
    given: Collection[str],
    options: Mapping[str, Any],
) -> RunRequest:
    settings = {
        name: value
        for name, value in {**file.settings, **model.settings}.items()
        if name not in given and name not in _OF_THE_STUDY
    }
    fields = [one["gen"] for one in (file.settings, model.settings) if "gen" in one]
    adjustments = _adjusted(options.get("adjustments") or Adjustments(), settings, fields)
    own = {name: value for name, value in settings.items() if name not in ADJUSTMENTS}
    directory = _directory(model.model, model.settings.get("name"), parent, options)
    if model.price is not None:
        own["prices"] = None  # which might lack it
    request = make_request(
        file.tasks,
        model.model,
        out=directory,
        **{**options, **own, "adjustments": adjustments},
    )
    return request if model.price is None else replace(request, price=model.price)


def _options_of(model: str, models: Sequence[str], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of a model; those for servers are left out where only others are."""
    if is_local(model) and not all(map(is_local, models)):
        return {name: value for name, value in options.items() if name not in _OF_SERVERS}
    return options


def _adjusted(
    command: Adjustments, settings: Mapping[str, Any], fields: Sequence[Mapping[str, Any]]
) -> Adjustments:
    """Return the adjustments of a command with those of a file, where the command has none."""
    own = {name: settings[name] for name in ADJUSTMENTS if name in settings and name != "gen"}
    gen = {name: value for part in (*fields, command.gen) for name, value in part.items()}
    return replace(command, **own, gen=gen)


def _directory(model: str, name: str | None, parent: Path, options: Mapping[str, Any]) -> Path:
    directory = default_directory(model, name, parent)
    shard = options.get("shard")
    return directory if shard is None else shard_directory(directory, shard)


def _parent(out: Path | None) -> Path:
    """Return the folder of the models' directories."""
    if out is not None and is_run_directory(out):
        raise InvalidInput(
            f"{out} is a run directory, and several models get a directory each; give the folder "
            "that is to hold them with --out."
        )
    return Path("runs") if out is None else out


def _plain(urls: Sequence[str]) -> str | Sequence[str] | None:
    return urls if len(urls) > 1 else next(iter(urls), None)
