"""`tiny` as a provider: requests that wait are sampled together, which makes it fast.

Nothing here imports numpy. The first request does, in the thread that samples, and reads the
weights there too.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

from passband.errors import InvalidInput
from passband.generate.provider import (
    Completion,
    JsonMapping,
    Provider,
    Rejected,
    Request,
    Sampling,
)
from passband.generate.tiny.vocabulary import CONTEXT, END, VOCABULARY, Draw

SAMPLER = 1  # version; another one gives other completions for the same seeds
_LENGTH = 24  # characters of a completion, by default
_TOGETHER = 512  # rows sampled at once; more are not faster, and need more memory


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A request's draws, and the future that gets their texts."""

    draws: list[Draw]
    texts: asyncio.Future[list[str]]


class Tiny(Provider):
    """The built-in model: mental arithmetic, right about as often as not.

    It reads the last message of the user and continues it. Completions depend on seed, prompt
    and sampling alone, not on what is asked at the same time.
    """

    batch = 64

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tiny")
        self._waiting: list[_Waiting] = []
        self._worker: asyncio.Task[None] | None = None

    @cached_property
    def spec(self) -> JsonMapping:
        """The version of the sampler and a digest of the weights."""
        weights = resources.files(__package__).joinpath("weights.npz").read_bytes()
        digest = f"sha256:{hashlib.sha256(weights).hexdigest()[:16]}"
        return {"tiny": {"sampler": SAMPLER, "weights": digest}}

    async def generate(self, request: Request) -> list[Completion]:
        """Sample one completion for each seed; a seed of None is drawn at random."""
        _check(request.sampling)
        draws = _draws(_prompt(request), request)
        if not draws:
            return []
        texts = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(draws, texts))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        stop = request.sampling.stop
        return [_completion(*pair, stop) for pair in zip(draws, await texts, strict=True)]

    async def close(self) -> None:
        """Stop sampling and cancel the requests that wait."""
        for waiting in self._waiting:
            waiting.texts.cancel()
        if self._worker is not None:
            self._worker.cancel()
        self._thread.shutdown(wait=False)

    async def _work(self) -> None:
        """Sample until no request waits."""
        loop = asyncio.get_running_loop()
        while together := self._take():
            draws = [draw for waiting in together for draw in waiting.draws]
            try:
                texts = iter(await loop.run_in_executor(self._thread, _sample, draws))
            except asyncio.CancelledError:
                for waiting in together:
                    waiting.texts.cancel()
                raise
            except Exception as fault:
                for waiting in together:
                    if not waiting.texts.done():
                        waiting.texts.set_exception(fault)
                continue
            for waiting in together:
                own = [next(texts) for _ in waiting.draws]
                if not waiting.texts.done():  # it may have been cancelled meanwhile
                    waiting.texts.set_result(own)

    def _take(self) -> list[_Waiting]:
        """Remove and return the oldest waiting request and others with prompts of its length."""
        taken: list[_Waiting] = []
        left: list[_Waiting] = []
        rows = 0
        for waiting in self._waiting:
            if waiting.texts.done():  # cancelled
                continue
            first = taken[0] if taken else waiting
            alike = len(waiting.draws[0].prompt) == len(first.draws[0].prompt)
            if not taken or (alike and rows + len(waiting.draws) <= _TOGETHER):
                taken.append(waiting)
                rows += len(waiting.draws)
            else:
                left.append(waiting)
        self._waiting = left
        return taken


def _sample(draws: Sequence[Draw]) -> list[str]:
    from passband.generate.tiny.model import load_model
    from passband.generate.tiny.sampler import sample

    return sample(load_model(), draws)


def _check(sampling: Sampling) -> None:
    """Raise if a setting is invalid or not supported by `tiny`."""
    temperature, top_p, length = sampling.temperature, sampling.top_p, sampling.max_tokens
    if temperature is not None and not (math.isfinite(temperature) and temperature >= 0):
        raise InvalidInput(f"temperature must be a number from 0 up, not {temperature}")
    if top_p is not None and not 0 < top_p <= 1:
        raise InvalidInput(f"top_p must be above 0 and at most 1, not {top_p}")
    if length is not None and length < 1:
        raise InvalidInput(f"max_tokens must be at least 1, not {length}")
    if "" in sampling.stop:
        raise InvalidInput("a stop string must not be empty")
    if sampling.extra:
        known = "temperature, top_p, max_tokens and stop"
        raise InvalidInput(f"tiny takes {known}, not {next(iter(sampling.extra))!r}")


def _prompt(request: Request) -> str:
    """Return the last message of the user; raise `Rejected` if `tiny` cannot read it."""
    contents = [message.content for message in request.messages if message.role == "user"]
    prompt = contents[-1].rstrip("\n") if contents else ""
    if not prompt:
        raise Rejected("tiny was given an empty prompt; ask it something like '23*14='")
    known = VOCABULARY.replace(VOCABULARY[END], "")
    for character in prompt:
        if character not in known:
            raise Rejected(
                f"tiny cannot read {character!r}: it knows digits and + - * =, as in '23*14='"
            )
    if len(prompt) >= CONTEXT:
        raise Rejected(f"the prompt has {len(prompt)} characters; tiny reads at most {CONTEXT - 1}")
    return prompt


def _draws(prompt: str, request: Request) -> list[Draw]:
    """Return one draw for each seed, with the defaults filled in."""
    sampling = request.sampling
    temperature = 1.0 if sampling.temperature is None else sampling.temperature
    top_p = 1.0 if sampling.top_p is None else sampling.top_p
    length = min(sampling.max_tokens or _LENGTH, CONTEXT - len(prompt))
    seeds = [secrets.randbits(63) if seed is None else seed for seed in request.seeds]
    return [Draw(prompt, seed, temperature, top_p, length) for seed in seeds]


def _completion(draw: Draw, text: str, stop: Sequence[str]) -> Completion:
    """Return a text as a completion, cut before the first of the stop strings."""
    ends = [end for end in map(text.find, (VOCABULARY[END], *stop)) if end >= 0]
    kept = text[: min(ends, default=None)]
    return Completion(
        text=kept,
        finish="stop" if ends else "length",
        prompt_tokens=len(draw.prompt),
        completion_tokens=len(kept),
        seed=draw.seed,
    )
