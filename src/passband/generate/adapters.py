"""Objects that answer, but whose classes do not derive from `Provider` or `Subject`.

They are wrapped where they enter, and only here are their attributes looked for by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from passband.errors import WrongType
from passband.generate.provider import Backend, Completion, JsonMapping, Provider, Request, Sampling

if TYPE_CHECKING:
    from passband.generate.servers.models_endpoint import ServedModel

T = TypeVar("T")


class Adapted(Backend):
    """Wrap an object of the user's; what it does not define has the default of `Backend`."""

    def __init__(self, wrapped: Any) -> None:
        self.wrapped = wrapped
        self.name = str(self._attribute("name", ""))
        self.batch = self._attribute("batch", 1)
        self.address = self._attribute("address", None)
        self.one_seed = self._attribute("one_seed", False)

    def _attribute(self, name: str, default: T) -> T:
        return getattr(self.wrapped, name, default)

    @cached_property
    def spec(self) -> JsonMapping:
        """Return what answers depend on."""
        return self._attribute("spec", {})

    @property
    def config(self) -> JsonMapping:
        """Return settings of its requests; a `config` of another kind is ignored."""
        config: object = self._attribute("config", None)
        return config if isinstance(config, Mapping) else {}

    @property
    def notes(self) -> Sequence[str]:
        """Return what the user should know about its requests so far."""
        notes: object = self._attribute("notes", None)
        return notes if isinstance(notes, (list, tuple)) else ()

    def ignored(self, sampling: Sampling, *, seeds: bool) -> Sequence[str]:
        """Return sentences on settings that are known to have no effect."""
        return self._attribute("ignored", super().ignored)(sampling, seeds=seeds)

    async def reset(self) -> None:
        await self._attribute("reset", super().reset)()

    async def close(self) -> None:
        await self._attribute("close", super().close)()


class AdaptedProvider(Adapted, Provider):
    """An object with `generate` whose class does not derive from `Provider`."""

    async def generate(self, request: Request) -> Sequence[Completion]:
        completions: Sequence[Completion] = await self.wrapped.generate(request)
        return completions

    async def served(self) -> Sequence[ServedModel] | None:
        return await self._attribute("served", super().served)()


def adapted_provider(provider: Any) -> Provider:
    """Return a provider as one of `Provider`; raise `WrongType` if it cannot generate."""
    if isinstance(provider, Provider):
        return provider
    if not hasattr(provider, "generate"):
        raise WrongType(
            f"{type(provider).__name__} is no provider: it has no method `generate`. Derive it "
            "from passband.generate.Provider."
        )
    return AdaptedProvider(provider)
