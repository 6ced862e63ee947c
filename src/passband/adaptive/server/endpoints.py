"""The endpoints of the protocol: which path does what, and the status of its answer.

Besides tests there are uploads that clients read again: projects and classic evaluations.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from passband.adaptive.server.body import Fields, read_fields, to_json, unknown
from passband.adaptive.server.service import Service
from passband.adaptive.server.state import Document
from passband.generate import JsonObject

ACCOUNT = "local"  # all keys of a server are of one account
_USER = {
    "id": ACCOUNT,
    "email": "local@localhost",
    "firstname": "Local",
    "lastname": "User",
    "accountId": ACCOUNT,
}
_CLASSIC_ITEM = ("datasetItemId", "modelInput", "modelOutput", "goldOutput", "metrics")
Json = JsonObject


def _account() -> Json:
    """Return whose key it is; every key is of the one account."""
    team = {"id": ACCOUNT, "name": "Local", "role": "Owner", "accountId": ACCOUNT}
    return {"user": {**_USER, "createdAt": None}, "teams": [team]}


async def _add_project(service: Service, fields: Fields) -> Json:
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


async def _add_classic(service: Service, fields: Fields) -> Json:
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


def _stored(service: Service, kind: str, id: str) -> Json:
    """Return a project or a classic evaluation as it is stored."""
    found = service.state.documents(kind, id)
    if not found:
        raise unknown(f"There is no {kind} {id!r:.100}.")
    body: Json = json.loads(found[0].body)
    return body


def _stored_projects(service: Service) -> Json:
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


Endpoint = Callable[[web.Request], Awaitable[web.StreamResponse]]
_PREFIX = "/adaptive-testing"
_TOKEN = "Idempotency-Key"
_SMALL, _LARGE = 1 << 20, 16 << 20  # bytes in a body


def endpoints(service: Service) -> Mapping[tuple[str, str], Endpoint]:
    """Return the endpoints by method and path.

    Every path is also there with `/adaptive-testing` before it, which is part of the address that
    clients have by default. Replays come without it, or with one.
    """
    table = {**_test_endpoints(service), **_account_endpoints(service)}
    doubled = {(method, _PREFIX + path): endpoint for (method, path), endpoint in table.items()}
    return {**table, **doubled}


def _test_endpoints(service: Service) -> dict[tuple[str, str], Endpoint]:
    async def list_datasets(request: web.Request) -> web.Response:
        return _reply({"data": [dataset.entry() for dataset in service.catalogue]})

    async def get_dataset(request: web.Request) -> web.Response:
        name = (await read_fields(request, _SMALL)).text("datasetId")
        return _reply(service.catalogue.dataset(name).info())

    async def start(request: web.Request) -> web.Response:
        reply = _reply(await service.start(await read_fields(request, _SMALL)), 201)
        reply.headers[_TOKEN] = request.headers.get(_TOKEN, "accepted")  # says that it is heeded
        return reply

    async def answer(request: web.Request) -> web.Response:
        fields, token = await read_fields(request, _SMALL), request.headers.get(_TOKEN)
        reply = _reply(await service.answer(request.match_info["id"], fields, token))
        if token is not None:
            reply.headers[_TOKEN] = token
        return reply

    async def summary(request: web.Request) -> web.Response:
        return _reply(await service.summary(request.match_info["id"]))

    async def replay(request: web.Request) -> web.Response:
        fields = await read_fields(request, _LARGE)
        return _reply(await service.replay(request.match_info["id"], fields))

    return {
        ("GET", f"{_PREFIX}/datasets"): list_datasets,
        ("POST", f"{_PREFIX}/datasets/get-dataset"): get_dataset,
        ("POST", f"{_PREFIX}/runs/start"): start,
        ("POST", f"{_PREFIX}/runs/{{id}}/continue"): answer,
        ("GET", f"{_PREFIX}/runs/adaptive/{{id}}"): summary,
        ("POST", "/runs/{id}/replay"): replay,
        ("POST", f"{_PREFIX}/runs/{{id}}/replay"): replay,
    }


def _account_endpoints(service: Service) -> dict[tuple[str, str], Endpoint]:
    async def add_project(request: web.Request) -> web.Response:
        fields = await read_fields(request, _SMALL)
        return _reply(await _add_project(service, fields), 201)

    async def add_classic(request: web.Request) -> web.Response:
        fields = await read_fields(request, _LARGE)
        return _reply(await _add_classic(service, fields))

    def reading(kind: str) -> Endpoint:
        async def endpoint(request: web.Request) -> web.Response:
            return _reply(_stored(service, kind, request.match_info["id"]))

        return endpoint

    async def me(request: web.Request) -> web.Response:
        return _reply(_account())

    async def projects(request: web.Request) -> web.Response:
        return _reply(_stored_projects(service))

    return {
        ("GET", "/admin/api-keys/me"): me,
        ("GET", "/admin/public/projects"): projects,
        ("GET", "/admin/public/projects/{id}"): reading("project"),
        ("POST", "/admin/public/projects"): add_project,
        ("POST", f"{_PREFIX}/runs/classic"): add_classic,
        ("GET", f"{_PREFIX}/runs/classic/{{id}}"): reading("classic"),
    }


def _reply(value: Json | str, status: int = 200) -> web.Response:
    """Return a reply of JSON, which may be written already."""
    text = value if isinstance(value, str) else to_json(value)
    return web.Response(body=text.encode(), status=status, content_type="application/json")
