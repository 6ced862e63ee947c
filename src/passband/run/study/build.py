"""Making a study: the runs of several models from options, or from a study file and options.

Several models at several addresses are matched by the list of models of each server.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, nearest
from passband.generate import address_of, is_local, providers
from passband.run.request import RunRequest, default_directory, make_request, shard_directory
from passband.run.study.file import ADJUSTMENTS, StudyFile, StudyModel
from passband.run.study.study import Study, refuse_twice
from passband.tasks import Overrides
from passband.trials import is_run_directory

Served = Callable[[str], Sequence[str] | None]
_SERVERS = ("openai", "openai-completions")
_ADVICE = (
    "Several models at several addresses are told apart by these lists; a study file "
    "(docs/run.md) gives each model its base_url."
)


def assign_addresses(
    models: Sequence[str], urls: Sequence[str], served: Served | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the addresses of each model.

    One address serves all models, and one model is at all addresses. Several models at several
    addresses are matched by the list of models of each server.

    >>> lists = {"http://one/v1": ("small",), "http://two/v1": ("small", "large")}
    >>> assign_addresses(["openai:small", "large", "tiny"], [*lists], lists.get)
    {'openai:small': ('http://one/v1', 'http://two/v1'), 'large': ('http://two/v1',), 'tiny': ()}
    """
    remote = [model for model in models if not is_local(model)]
    if urls:
        _refuse_families(remote)
    if len(remote) < 2 or len(urls) < 2:
        return {model: tuple(urls) if model in remote else () for model in models}
    if _family(remote[0]) not in _SERVERS:
        raise InvalidInput(
            f"--model {remote[0]}: which of several addresses is its own cannot be told. {_ADVICE}"
        )
    lists = {url: _list(url, served) for url in urls}
    found = {
        model: tuple(url for url in urls if _server_name(model) in lists[url]) for model in remote
    }
    for model, places in found.items():
        if not places:
            known = [name for names in lists.values() for name in names]
            raise InvalidInput(
                f"--model {model}: no address serves it.{nearest(_server_name(model), known)} "
                f"{_listing(lists)}"
            )
    for url in urls:
        if not any(url in places for places in found.values()):
            raise InvalidInput(
                f"--base-url {address_of(url)} serves none of the models that are asked. "
                f"{_listing(lists)}"
            )
    return {model: found.get(model, ()) for model in models}


def _server_name(model: str) -> str:
    """Return what a server calls a model.

    >>> _server_name("openai:org/small"), _server_name("org/small")
    ('org/small', 'org/small')
    """
    kind, _, rest = model.partition(":")
    return rest if kind in _SERVERS else model


def _family(model: str) -> str:
    """Return the provider of a model; the two protocols of OpenAI's servers are one."""
    kind = model.partition(":")[0]
    return kind if kind in providers and kind not in _SERVERS else _SERVERS[0]


def _refuse_families(models: Sequence[str]) -> None:
    """Refuse an address for models of different providers: the key of one would go to another."""
    first: dict[str, str] = {_family(model): model for model in models}
    if len(first) > 1:
        one, other, *_ = first.values()
        raise InvalidInput(
            f"--base-url: {one} and {other} are asked in different ways, and with different keys. "
            "A study file (docs/run.md) gives each model its base_url."
        )


def _list(url: str, served: Served | None) -> Sequence[str]:
    from passband.generate import served_models

    names = (served or served_models)(url)
    if names is None:
        raise InvalidInput(
            f"--base-url {address_of(url)} gives no list of its models (GET /models). {_ADVICE}"
        )
    return names


def _listing(lists: Mapping[str, Sequence[str]]) -> str:
    return " ".join(f"{address_of(url)} has {', '.join(names)}." for url, names in lists.items())


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
    """Return the study of several models with the same options of `make_request`.

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

    `options` are arguments of `make_request`; those named in `given` win over the file.
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
    adjustments = _adjusted(options.get("adjustments") or Overrides(), settings, fields)
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
    command: Overrides, settings: Mapping[str, Any], fields: Sequence[Mapping[str, Any]]
) -> Overrides:
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
