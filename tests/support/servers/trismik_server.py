"""A small server of the Trismik protocol on loopback, written apart from passband's own.

Every data set has items of rising difficulty; the right choice is always "B", and the right text
"42". Ability is the mean of a Rasch posterior on a grid. A `fault` answers, or breaks, some
requests instead of the server: it is given the request and its number, and returns None to let it
pass.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from aiohttp import web

NODES = np.linspace(-4, 4, 81)
Fault = Callable[[web.Request, int], "web.StreamResponse | None"]


def posterior(difficulties: Sequence[float], scores: Sequence[float]) -> tuple[float, float]:
    log = -(NODES**2) / 2
    for b, score in zip(difficulties, scores, strict=True):
        log = log - np.log1p(np.exp(-(NODES - b) if score else (NODES - b)))
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    mean = float(weights @ NODES)
    return mean, float(np.sqrt(weights @ (NODES - mean) ** 2))


class Run:
    def __init__(self, number: int, dataset: str, split: str, seed: int, items: int) -> None:
        self.id, self.dataset, self.split = f"run-{number}", dataset, split
        b = np.linspace(-2, 2, items)
        self.difficulty = {f"{split}_{place}": float(b[place]) for place in range(items)}
        order = np.random.default_rng(seed).permutation(items)
        self.order = [f"{split}_{place}" for place in order]
        self.answers: list[tuple[str, str, bool]] = []
        self.keys: dict[str, dict[str, Any]] = {}
        self.path: list[tuple[float, float]] = []

    @property
    def state(self) -> dict[str, Any]:
        for end in range(len(self.path) + 1, len(self.answers) + 1):
            known = self.answers[:end]
            difficulties = [self.difficulty[key] for key, *_ in known]
            self.path.append(posterior(difficulties, [right for *_, right in known]))
        return {
            "responses": [key for key, *_ in self.answers],
            "thetas": [theta for theta, _ in self.path],
            "std_error_history": [se for _, se in self.path],
            "kl_info_history": [],
            "effective_difficulties": [self.difficulty[key] for key, *_ in self.answers],
        }

    def item(self, key: str) -> dict[str, Any]:
        made: dict[str, Any] = {"id": key, "question": f"What is asked by {key}?"}
        if not self.dataset.startswith("open"):
            made["choices"] = [{"id": i, "value": f"option {i}"} for i in "ABCD"]
        return made

    def reply(self) -> dict[str, Any]:
        left = self.order[len(self.answers) :]
        return {
            "runInfo": {"id": self.id},
            "state": self.state,
            "nextItem": self.item(left[0]) if left else None,
            "completed": not left,
        }


class TrismikServer:
    """Runs in a thread of its own; use it in a with statement."""

    def __init__(
        self,
        datasets: Mapping[str, Sequence[str]] | None = None,
        *,
        fault: Fault | None = None,
        items: int = 6,
        key: str = "a-key-of-the-test",
        echoes: bool = True,
    ) -> None:
        self.datasets = dict(datasets or {"my_dataset:adaptive": ["validation", "test"]})
        self.fault, self.items, self.key, self.echoes = fault, items, key, echoes
        self.runs: dict[str, Run] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def bodies(self) -> list[Any]:
        """What runs were started with."""
        return [body for _, path, body in self.requests if path.endswith("/runs/start")]

    def __enter__(self) -> TrismikServer:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._main())
        self._loop.close()

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw) if raw else None
        self.requests.append((request.method, request.path, body))
        if self.fault is not None:
            answer = self.fault(request, len(self.requests))
            if asyncio.iscoroutine(answer):
                answer = await answer
            if answer is not None:
                return answer
        if request.headers.get("x-api-key") != self.key:
            return refused(401, "Unauthorized", f"The key {request.headers['x-api-key']} is wrong")
        path = request.path.removeprefix("/adaptive-testing")
        return self._routed(request, path.removeprefix("/adaptive-testing"), body)

    def _routed(self, request: web.Request, path: str, body: Any) -> web.StreamResponse:
        parts = path.strip("/").split("/")
        if path == "/datasets":
            return web.json_response({"data": [self._info(name) for name in self.datasets]})
        if path == "/datasets/get-dataset":
            name = body["datasetId"]
            if name not in self.datasets:
                return refused(404, "Not Found", f"no data set {name}")
            return web.json_response(self._info(name))
        if path == "/runs/start":
            seed = body.get("seed", 0)
            run = Run(len(self.runs), body["datasetId"], body["split"], seed, self.items)
            self.runs[run.id] = run
            return self._json(run.reply(), 201)
        if parts[0] == "runs" and parts[-1] == "continue":
            return self._continued(self.runs[parts[1]], request, body)
        if parts[:2] == ["runs", "adaptive"]:
            return web.json_response(self._summary(self.runs[parts[2]]))
        if parts[-1] == "replay":
            return web.json_response(self._replay(self.runs[parts[1]], body))
        if path == "/runs/classic":
            done = {"id": "classic-1", "projectId": body["projectId"]}
            return web.json_response({**done, "responseCount": len(body["items"])}, status=201)
        if path == "/admin/api-keys/me":
            user = {"id": "u", "email": "a@b.org", "firstname": "A", "lastname": "B"}
            team = {"id": "t", "name": "T", "role": "owner"}
            return web.json_response({"user": user, "teams": [team]})
        if path == "/admin/public/projects":
            return web.json_response({"id": "p1", "name": body["name"]}, status=201)
        return refused(404, "Not Found", path)

    def _json(self, body: Any, status: int = 200) -> web.Response:
        headers = {"Idempotency-Key": "known"} if self.echoes else {}
        return web.json_response(body, status=status, headers=headers)

    def _info(self, name: str) -> dict[str, Any]:
        splits = list(self.datasets[name])
        return {"id": name, "name": name, "isAdaptive": True, "splits": splits, "datacard": {}}

    def _continued(self, run: Run, request: web.Request, body: Any) -> web.StreamResponse:
        key = request.headers.get("Idempotency-Key", "")
        if self.echoes and key in run.keys:
            return self._json(run.keys[key])
        item = run.order[len(run.answers)]
        value = body.get("itemChoiceId", body.get("textResponse"))
        run.answers.append((item, value, value in ("B", "42")))
        run.keys[key] = run.reply()
        return self._json(run.keys[key])

    def _summary(self, run: Run) -> dict[str, Any]:
        return {
            "id": run.id,
            "datasetId": run.dataset,
            "state": run.state,
            "dataset": [run.item(key) for key in run.order],
            "responses": [
                {"datasetItemId": key, "value": value, "correct": right}
                for key, value, right in run.answers
            ],
            "metadata": {},
        }

    def _replay(self, run: Run, body: Any) -> dict[str, Any]:
        again = Run(99, run.dataset, run.split, 0, self.items)
        for one in body["responses"]:
            again.answers.append((one["itemId"], "", one.get("itemChoiceId") == "B"))
        return {**self._summary(again), "replayOfRun": run.id}


def refused(status: int, title: str, detail: str, **headers: str) -> web.Response:
    body = {"title": title, "detail": detail, "status": status}
    return web.json_response(body, status=status, headers=headers)
