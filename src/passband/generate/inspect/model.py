"""The model that a task of Inspect is asked of, as an Inspect model."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

from passband.errors import InvalidInput
from passband.generate.inspect.installed import message_of
from passband.generate.provider import Provider
from passband.generate.registry import Connection, make_provider, providers
from passband.generate.servers.http import address_of
from passband.generate.subject import Model

T = TypeVar("T")


@dataclass
class InspectModel:
    """A model of Inspect, the name that it was given, and how it is reached."""

    name: str
    model: Any  # an inspect_ai.model.Model
    address: str | None
    provider: Provider | None = None  # of passband, where that is asked
    is_ours: bool = True  # whether it has to be closed by us
    is_closed: bool = False
    users: int = 0  # subjects that will close it; tasks of one file share it

    @property
    def path(self) -> str:
        """Who sends the requests."""
        return "inspect" if self.provider is None else "passband"

    async def close(self) -> None:
        """Release connections."""
        self.users -= 1
        if self.is_ours and self.users <= 0 and not self.is_closed:
            self.is_closed = True
            await self.model.api.aclose()


def resolve_model(model: Model, connection: Connection) -> InspectModel:
    """Return a model by name or value.

    `provider/name` is a model of Inspect; the names that passband knows elsewhere, functions and
    providers are asked by passband's own clients, which cost less.
    """
    if isinstance(model, str):
        if is_known_to_inspect(model):
            return _of_inspect(model, connection)
        return _of_passband(model, make_provider(model, connection), connection)
    if is_model_of_inspect(model):
        return InspectModel(str(model), model, _address(str(model), model), is_ours=False)
    from passband.generate.subject import ProviderSubject, make_subject

    subject = make_subject(model, connection)
    if not isinstance(subject, ProviderSubject):
        raise InvalidInput(
            f"{subject.name} answers problems, not prompts: a task of Inspect needs a model."
        )
    return _of_passband(subject.name, subject.provider, connection)


def with_active_model(model: InspectModel | None, function: Callable[[], T]) -> T:
    """Call a function that may ask Inspect for the model that is evaluated; None: for any."""
    from inspect_ai.model import GenerateConfig, get_model
    from inspect_ai.model._model import init_active_model, init_model_roles

    def call() -> T:
        init_active_model(get_model("none") if model is None else model.model, GenerateConfig())
        init_model_roles({})
        return function()

    return copy_context().run(call)


def is_model_of_inspect(model: object) -> bool:
    """Return whether an object is an Inspect model, without importing Inspect to find out."""
    return hasattr(model, "api") and hasattr(model, "generate")


def is_known_to_inspect(name: str) -> bool:
    """Return whether a name is that of one of Inspect's providers and a model."""
    from inspect_ai._util.registry import registry_find, registry_unqualified_name

    kind, slash, _ = name.partition("/")
    if not slash or name.partition(":")[0] in providers:
        return False
    return bool(
        registry_find(
            lambda info: info.type == "modelapi" and registry_unqualified_name(info) == kind
        )
    )


def _of_inspect(name: str, connection: Connection) -> InspectModel:
    from inspect_ai.model import get_model

    urls = connection.base_urls
    if len(urls) > 1:
        raise InvalidInput(
            f"--model {name} is asked by Inspect's own client, which takes one address; got "
            f"{len(urls)} with --base-url. openai:NAME shares requests between several."
        )
    try:
        model = get_model(name, base_url=urls[0] if urls else None, memoize=False)
    except Exception as error:  # a missing key, a missing package, a wrong setting
        raise InvalidInput(f"--model {name}: {message_of(error)}") from error
    return InspectModel(name, model, _address(name, model))


def _address(name: str, model: Any) -> str:
    """Return the address of a model of Inspect; without one, the provider's own is asked."""
    url = getattr(model.api, "base_url", None)
    return address_of(url) if url else f"{name.partition('/')[0]}: default address"


def _of_passband(name: str, provider: Provider, connection: Connection) -> InspectModel:
    from inspect_ai.model import GenerateConfig
    from inspect_ai.model import Model as ModelOfInspect

    from passband.generate.inspect.provider_api import make_api

    api = make_api(name, provider, connection)
    model = ModelOfInspect(api, GenerateConfig())
    return InspectModel(name, model, provider.address, provider)
