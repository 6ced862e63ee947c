"""The replies of the Trismik protocol. Fields that are not listed are ignored."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, FiniteFloat, ValidationError
from pydantic.alias_generators import to_camel

from passband.adaptive.remote.service import OtherProtocol
from passband.generate import JsonObject

R = TypeVar("R", bound=BaseModel)
_MOST = 3  # mistakes of a reply that are named


class Record(BaseModel):
    """A part of a reply, whose fields are in camelCase there."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, extra="ignore"
    )


class DatasetInfo(Record):
    """A data set of the server, and its splits."""

    id: str
    splits: tuple[str, ...]
    name: str = ""
    is_adaptive: bool = True
    datacard: JsonObject | None = None


class DatasetList(Record):
    """All data sets of the server."""

    data: tuple[DatasetInfo, ...]


class ItemChoice(Record):
    """One of the answers that an item offers."""

    id: str
    text: Annotated[str, Field(validation_alias=AliasChoices("value", "text"))]


class Item(Record):
    """The next item: choices to choose from, or a text to write."""

    id: str
    question: str
    choices: tuple[ItemChoice, ...] | None = None

    def as_input(self) -> JsonObject:
        """Return the item as an inference function gets it."""
        if self.choices is None:
            return {
                "id": self.id,
                "question": self.question,
                "reference": None,
                "response_text": None,
            }
        choices = [{"id": choice.id, "text": choice.text} for choice in self.choices]
        return {"id": self.id, "question": self.question, "choices": choices}


class State(BaseModel):
    """The path of a test: an entry for every answer."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    responses: tuple[str, ...] = ()
    thetas: tuple[FiniteFloat, ...] = ()
    std_error_history: tuple[FiniteFloat, ...] = ()
    kl_info_history: tuple[float | None, ...] = ()
    effective_difficulties: tuple[float | None, ...] = ()


class RunInfo(Record):
    """The name of a test run."""

    id: str


class RunReply(Record):
    """The state of a test after an answer, and the next item."""

    run_info: RunInfo
    state: State
    completed: bool
    next_item: Item | None = None


class ItemResponse(Record):
    """An answer as the server has graded it."""

    dataset_item_id: str
    value: Any = None
    correct: bool | None = None


class RunSummary(Record):
    """A test run: its items, answers and path."""

    id: str
    dataset_id: str
    state: State
    dataset: tuple[Item, ...] = ()
    responses: tuple[ItemResponse, ...] = ()
    metadata: JsonObject | None = None


class Replay(RunSummary):
    """The items of an earlier run, answered again."""

    replay_of_run: str
    completed_at: str | None = None
    created_at: str | None = None


class User(Record):
    """The owner of a key."""

    id: str
    email: str
    firstname: str | None = None
    lastname: str | None = None


class Team(Record):
    """A team that the owner of a key belongs to."""

    id: str
    name: str
    role: str | None = None


class Account(Record):
    """The owner of a key, and their teams."""

    user: User
    teams: tuple[Team, ...] = ()


class Project(Record):
    """A project that runs are filed under."""

    id: str
    name: str
    description: str | None = None


class ClassicEval(Record):
    """An evaluation of all items that was uploaded."""

    id: str
    project_id: str | None = None
    experiment_id: str | None = None
    dataset_id: str | None = None
    response_count: int | None = None


def read_record(kind: type[R], raw: bytes, where: str) -> R:
    """Return a reply as a record; raise `OtherProtocol`, naming the fields that do not fit."""
    try:
        return kind.model_validate_json(raw, strict=True)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        named = "; ".join(_fault(fault) for fault in faults[:_MOST])
        more = f" and {len(faults) - _MOST} more" if len(faults) > _MOST else ""
        raise OtherProtocol(
            f"{where} gave a reply that this version of the Trismik protocol does not allow: "
            f"{named}{more}. Check that TRISMIK_SERVICE_URL is the address of such a server."
        ) from None


def _fault(fault: Any) -> str:
    place = ".".join(map(str, fault["loc"]))
    message = str(fault["msg"])
    if fault["type"] == "json_invalid":
        return "it is not JSON"
    return f"{place} ({message[:1].lower()}{message[1:]})" if place else message
