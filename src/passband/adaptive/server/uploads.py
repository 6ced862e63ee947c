"""What clients upload and read again: projects and classic evaluations; and who they are."""

from __future__ import annotations

import json
from typing import Any

from passband.adaptive.server.body import Fields, to_json
from passband.adaptive.server.refusal import unknown
from passband.adaptive.server.service import Service
from passband.adaptive.server.state import Document

ACCOUNT = "local"  # all keys of a server are of one account
_USER = {
    "id": ACCOUNT,
    "email": "local@localhost",
    "firstname": "Local",
    "lastname": "User",
    "accountId": ACCOUNT,
}
_CLASSIC_ITEM = ("datasetItemId", "modelInput", "modelOutput", "goldOutput", "metrics")
Json = dict[str, Any]


def me() -> Json:
    """Return whose key it is; every key is of the one account."""
    team = {"id": ACCOUNT, "name": "Local", "role": "Owner", "accountId": ACCOUNT}
    return {"user": {**_USER, "createdAt": None}, "teams": [team]}


async def add_project(service: Service, fields: Fields) -> Json:
    """Store a project."""
    id, now = service.new_id(), service.now()
    project: Json = {
        "id": id,
        "name": fields.text("name"),
        "description": fields.optional_text("description"),
        "teamId": fields.optional_text("teamId"),
        "accountId": ACCOUNT,
        "createdAt": now,
        "updatedAt": now,
    }
    await service.state.add_document(Document(id, "project", now, to_json(project)))
    return project


async def add_classic(service: Service, fields: Fields) -> Json:
    """Store a classic evaluation with its items and metrics; the reply is without them."""
    items, metrics = _items(fields), _metrics(fields)
    now, experiment = service.now(), fields.text("experimentName")
    run: Json = {
        "id": service.new_id(),
        "accountId": ACCOUNT,
        "projectId": fields.text("projectId"),
        "experimentId": experiment,
        "experimentName": experiment,
        "datasetId": fields.text("datasetId"),
        "userId": ACCOUNT,
        "type": "Classic",
        "modelName": fields.text("modelName"),
        "hyperparameters": fields.mapping("hyperparameters"),
        "createdAt": now,
        "user": _USER,
        "responseCount": len(items),
    }
    body = to_json({**run, "items": items, "metrics": metrics})
    await service.state.add_document(Document(run["id"], "classic", now, body))
    return run


def stored(service: Service, kind: str, id: str) -> Json:
    """Return a project or a classic evaluation as it is stored."""
    found = service.state.documents(kind, id)
    if not found:
        raise unknown(f"There is no {kind} {id!r:.100}.")
    body: Json = json.loads(found[0].body)
    return body


def stored_projects(service: Service) -> Json:
    """Return the projects, the latest first."""
    return {"data": [json.loads(document.body) for document in service.state.documents("project")]}


def _items(fields: Fields) -> list[Json]:
    items = []
    for entry in fields.objects("items"):
        entry.text("datasetItemId")
        entry.mapping("metrics")
        items.append({name: entry.value(name) for name in _CLASSIC_ITEM})
    return items


def _metrics(fields: Fields) -> list[Json]:
    metrics = []
    for entry in fields.objects("metrics"):
        metric = {"metricId": entry.text("metricId"), "valueType": entry.text("valueType")}
        metrics.append({**metric, "value": entry.value("value")})
    return metrics
