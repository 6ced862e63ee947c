"""Choose the engine of an Inspect task: Inspect itself, or passband where results are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from passband.errors import InvalidInput
from passband.generate.inspect.guard import KeptAnswers
from passband.generate.inspect.light import LightSubject
from passband.generate.inspect.model import is_known_to_inspect, is_model_of_inspect
from passband.generate.inspect.only_generates import reasons_against
from passband.generate.inspect.source import InspectTask
from passband.generate.inspect.subject import InspectSubject
from passband.generate.registry import Connection
from passband.generate.subject import (
    Model,
    ProviderSubject,
    Subject,
    SubjectFactory,
    adapted,
    make_subject,
)

Engine = Literal["auto", "inspect", "light"]


@dataclass(frozen=True)
class EngineChoice:
    """The engine of a task, and what keeps it from the light one."""

    engine: Literal["inspect", "light"]
    reasons: tuple[str, ...] = ()


def choose_engine(source: InspectTask, model: Model, engine: Engine = "auto") -> EngineChoice:
    """Return the engine that a task is asked by."""
    if engine == "inspect":
        return EngineChoice("inspect", ("--engine inspect",))
    reasons = (*_of_model(model), *reasons_against(source.task))
    if not reasons:
        return EngineChoice("light")
    if engine == "light":
        raise InvalidInput(f"--engine light cannot run {source.name}: {'; '.join(reasons)}.")
    return EngineChoice("inspect", reasons)


def subject_factory(source: InspectTask, engine: Engine = "auto") -> SubjectFactory:
    """Return the way in which a task of Inspect is asked."""

    def make(model: Model, connection: Connection) -> Subject:
        choice = choose_engine(source, model, engine)

        def by_inspect(replay: KeptAnswers | None = None) -> InspectSubject:
            subject = InspectSubject(source, model, connection, reasons=choice.reasons)
            if replay is not None and subject.provider is not None:
                replay.before(subject.provider)
            return subject

        if choice.engine == "inspect":
            return by_inspect()
        asked = cast("ProviderSubject", make_subject(model, connection))
        return LightSubject(source, asked, by_inspect)

    return make


def _of_model(model: Model) -> list[str]:
    """Return why passband's own clients cannot ask a model."""
    if isinstance(model, str):
        return ["its model is one of Inspect's providers"] if is_known_to_inspect(model) else []
    if is_model_of_inspect(model):
        return ["its model is one of Inspect"]
    is_subject = isinstance(adapted(model), Subject)
    return ["its model answers problems, not prompts"] if is_subject else []
