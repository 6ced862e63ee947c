"""The endpoints of the protocol: which path does what, and the status of its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

from passband.adaptive.server import uploads
from passband.adaptive.server.body import read_fields, to_json
from passband.adaptive.server.service import Service

Json = dict[str, Any]
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
        return _reply(await uploads.add_project(service, fields), 201)

    async def add_classic(request: web.Request) -> web.Response:
        fields = await read_fields(request, _LARGE)
        return _reply(await uploads.add_classic(service, fields))

    def reading(kind: str) -> Endpoint:
        async def endpoint(request: web.Request) -> web.Response:
            return _reply(uploads.stored(service, kind, request.match_info["id"]))

        return endpoint

    async def me(request: web.Request) -> web.Response:
        return _reply(uploads.me())

    async def projects(request: web.Request) -> web.Response:
        return _reply(uploads.stored_projects(service))

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
