"""The built-in model: right logits, and the same bytes in any company."""

import asyncio
import csv
import hashlib
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from passband.errors import InvalidInput
from passband.generate.provider import Completion, Message, Provider, Rejected, Request, Sampling
from passband.generate.tiny import Tiny
from passband.generate.tiny.model import Model, load_model, steady
from passband.generate.tiny.sampler import choose, sample, uniforms
from passband.generate.tiny.vocabulary import CONTEXT, VOCABULARY, Draw, decode, encode
from passband.types import Floats, Ints

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TASK = ROOT / "src/passband/tasks/builtin"

# SHA-256 of what the shipped weights give. Training anew changes them; nothing else should.
LOGITS = "bd75d80143ed5059d560d3b48e8c3cbe4f3e3d06e106da39e0f3793f4310819d"
TEXTS = "9eed86c251e4318daf0054a8dc395550254be1d70c34f8b7f809ae01c9f49cd7"


@lru_cache(maxsize=1)
def problems() -> list[dict[str, str]]:
    with (TASK / "arithmetic.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def draws(trials: int, length: int | None = None) -> list[Draw]:
    """Return draws of all problems, or of those whose prompts have a length."""
    prompts = [f"{problem['question']}=" for problem in problems()]
    return [
        Draw(prompt, seed, 1.0, 1.0, 24)
        for prompt in prompts
        for seed in range(trials)
        if length in (None, len(prompt))
    ]


def some_tokens(rows: int) -> Ints:
    return np.random.default_rng(5).integers(len(VOCABULARY), size=(rows, CONTEXT))


# --- the forward pass ------------------------------------------------------------------------


def plain_logits(model: Model, tokens: Sequence[int]) -> Floats:
    """Return the logits after every token of one text: no cache, no tiles, no batch."""
    x = np.array([model.tokens[token] + model.positions[at] for at, token in enumerate(tokens)])
    for qkv, out, up, down in zip(model.qkv, model.out, model.up, model.down, strict=True):
        x = x + plain_attention(np.einsum("td,de->te", plain_norm(x), qkv)) @ out
        inner = np.einsum("td,de->te", plain_norm(x), up)
        x = x + np.einsum("te,ed->td", np.where(inner > 0, inner, 0), down)
    return np.einsum("td,dv->tv", plain_norm(x), model.head)


def plain_norm(x: Floats) -> Floats:
    return np.array([row / np.sqrt(sum(row**2) / len(row) + 1e-5) for row in x])


def plain_attention(qkv: Floats) -> Floats:
    queries, keys, values = np.split(qkv, 3, axis=1)
    mixed = np.zeros_like(queries)
    for head in range(4):
        part = slice(16 * head, 16 * head + 16)
        for at, query in enumerate(queries):
            scores = np.array([query[part] @ key[part] / 4 for key in keys[: at + 1]])
            weights = np.exp(scores) / np.exp(scores).sum()
            mixed[at, part] = sum(w * v[part] for w, v in zip(weights, values, strict=False))
    return mixed


def test_weights_are_small() -> None:
    model = load_model()
    assert sum(array.size for array in vars(model).values()) == 151_424
    assert (ROOT / "src/passband/generate/tiny/weights.npz").stat().st_size < 400_000


def test_logits_are_those_of_a_plain_forward_pass() -> None:
    model, tokens = load_model(), some_tokens(5)
    expected = np.array([plain_logits(model, row) for row in tokens.tolist()])
    cache = model.cache(len(tokens))
    found = [model.read(tokens[:, :7], cache)]
    found += [model.read(tokens[:, at : at + 1], cache) for at in range(7, 20)]
    found += [model.read(tokens[:, 20:], cache)]  # several tokens behind others
    np.testing.assert_allclose(np.stack(found[:-1], 1), expected[:, 6:20], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[-1], expected[:, -1], rtol=0, atol=1e-9)


def read_in_batches(tokens: Ints, batch: int) -> Floats:
    """Return the logits at the end of a prompt of 6, and after each of 10 tokens more."""
    model, parts = load_model(), []
    for start in range(0, len(tokens), batch):
        rows = tokens[start : start + batch]
        cache = model.cache(len(rows))
        logits = [model.read(rows[:, :6], cache)]
        logits += [model.read(rows[:, at : at + 1], cache) for at in range(6, 16)]
        parts.append(np.stack(logits, axis=1))
    return np.concatenate(parts)


@pytest.mark.parametrize("batch", [1, 7, 37])
def test_logits_do_not_depend_on_the_batch(batch: int) -> None:
    tokens = some_tokens(512)
    steps = steady(read_in_batches(tokens, 512))
    assert (steady(read_in_batches(tokens[: 40 * batch], batch)) == steps[: 40 * batch]).all()


def test_a_cache_gives_its_rows_away() -> None:
    model, tokens = load_model(), some_tokens(4)
    cache = model.cache(4)
    model.read(tokens[:, :5], cache)
    taken = cache.take(np.array([2, 0, 2]))
    model.read(tokens[:, 5:6], cache)  # what comes later is not shared
    found = model.read(tokens[[2, 0, 2], 6:7], taken)
    again = model.cache(3)
    model.read(tokens[[2, 0, 2], :5], again)
    assert (model.read(tokens[[2, 0, 2], 6:7], again) == found).all()


def test_logits_have_a_fingerprint() -> None:
    """Rounded logits are the same on every processor, as far as could be tried."""
    model, digest = load_model(), hashlib.sha256()
    for problem in problems():
        tokens = np.array([encode(f"{problem['question']}=")])
        digest.update(steady(model.read(tokens, model.cache(1))).astype("<f8").tobytes())
    assert digest.hexdigest() == LOGITS


# --- sampling --------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 7, 37, 512])
def test_texts_do_not_depend_on_the_batch(batch: int) -> None:
    model, wanted = load_model(), draws(16, length=6)
    together = sample(model, wanted)
    count = min(len(wanted), 60 * batch)
    parts = [sample(model, wanted[at : at + batch]) for at in range(0, count, batch)]
    texts = [text for part in parts for text in part]
    assert texts == together[: len(texts)]


def test_texts_do_not_depend_on_the_order() -> None:
    wanted = draws(4, length=7)
    assert sample(load_model(), wanted[::-1]) == sample(load_model(), wanted)[::-1]


def test_texts_do_not_depend_on_settings_beside_them() -> None:
    prompts = ["23*14=", "17+55=", "99-8*7="[:6]]
    mixed = [
        Draw(prompt, seed, temperature, top_p, length)
        for prompt in prompts
        for seed in range(3)
        for temperature, top_p, length in [(0.0, 1.0, 24), (1.0, 1.0, 3), (1.4, 0.8, 24)]
    ]
    model = load_model()
    assert sample(model, mixed) == [sample(model, [draw])[0] for draw in mixed]


def test_uniforms_are_the_hash_of_seed_and_prompt() -> None:
    stream = hashlib.shake_256(b"7|2*3=").digest(16)
    by_hand = [(int.from_bytes(stream[at : at + 8], "big") >> 11) / 2**53 for at in (0, 8)]
    assert uniforms(7, "2*3=", 2).tolist() == by_hand
    assert uniforms(8, "2*3=", 2).tolist() != by_hand
    assert uniforms(7, "3*2=", 2).tolist() != by_hand


def drawn(probability: Sequence[float], luck: float, temperature: float, top_p: float) -> int:
    logits = np.log([probability])
    return int(choose(logits, np.array([luck]), np.array([temperature]), np.array([top_p]))[0])


@pytest.mark.parametrize(
    ("luck", "top_p", "token"),
    [
        (0.0, 1.0, 0),
        (0.19, 1.0, 0),
        (0.21, 1.0, 1),
        (0.69, 1.0, 1),
        (0.71, 1.0, 2),
        (1 - 2**-53, 1.0, 2),
        # 0.8 is reached by the second and the third token: 5/8 and 3/8 of what is left
        (0.0, 0.8, 1),
        (0.62, 0.8, 1),
        (0.63, 0.8, 2),
        # just above, the first is needed too
        (0.19, 0.81, 0),
        # 0.5 is reached by the second alone, and so is anything below
        (0.0, 0.5, 1),
        (0.99, 0.5, 1),
        (0.99, 1e-12, 1),
    ],
)
def test_top_p_by_hand(luck: float, top_p: float, token: int) -> None:
    assert drawn([0.2, 0.5, 0.3], luck, 1.0, top_p) == token


@pytest.mark.parametrize(
    ("temperature", "border"),
    [(1.0, 0.8), (0.5, 0.64 / 0.68), (2.0, 2 / 3), (1e-12, 1.0)],  # odds 4:1, 16:1, 2:1, none
)
def test_temperature_by_hand(temperature: float, border: float) -> None:
    assert drawn([0.8, 0.2], border - 1e-6, temperature, 1.0) == 0
    assert drawn([0.8, 0.2], border, temperature, 1.0) == (border < 1)


def test_temperature_zero_takes_the_first_of_the_likeliest() -> None:
    assert {drawn([0.2, 0.4, 0.4], luck, 0.0, 1.0) for luck in (0.0, 0.5, 0.99)} == {1}


@pytest.mark.parametrize("top_p", [1.0, 0.7])
def test_tokens_come_as_often_as_they_should(top_p: float) -> None:
    """Over an even grid of uniform numbers, shares are probabilities."""
    logits = np.random.default_rng(2).normal(size=15) * 2
    grid = (np.arange(4000) + 0.5) / 4000
    ones = np.ones(len(grid))
    tokens = choose(np.tile(logits, (len(grid), 1)), grid, 0.7 * ones, top_p * ones)
    expected = np.exp(logits / 0.7) / np.exp(logits / 0.7).sum()
    if top_p < 1:
        ranked = sorted(expected, reverse=True)
        count = next(n for n in range(1, 16) if sum(ranked[:n]) >= top_p)
        expected[expected < ranked[count - 1]] = 0
        expected /= expected.sum()
    np.testing.assert_allclose(np.bincount(tokens, minlength=15) / len(grid), expected, atol=3e-4)


def test_decode_stops_at_the_end() -> None:
    assert decode(encode("12=\n34\n")) == "12=\n"
    assert decode(encode("12=3")) == "12=3"


# --- the provider ----------------------------------------------------------------------------


def request(prompt: str, seeds: Sequence[int | None] = (0,), **sampling: Any) -> Request:
    return Request((Message("user", prompt),), Sampling(**sampling), tuple(seeds))


def generate(*requests: Request) -> list[list[Completion]]:
    async def ask() -> list[list[Completion]]:
        tiny = Tiny()
        try:
            return await asyncio.gather(*map(tiny.generate, requests))
        finally:
            await tiny.close()

    return asyncio.run(ask())


def texts(prompt: str, seeds: Sequence[int | None] = (0,), **sampling: Any) -> list[str]:
    return [str(completion.text) for completion in generate(request(prompt, seeds, **sampling))[0]]


def test_it_is_a_provider() -> None:
    tiny: Provider = Tiny()
    assert tiny.batch == 64
    asyncio.run(tiny.close())


def test_a_completion_says_what_it_is() -> None:
    assert generate(request("3*8=", [5], temperature=0.0)) == [
        [Completion("24", "stop", prompt_tokens=4, completion_tokens=2, seed=5)]
    ]


def test_only_the_last_message_of_the_user_is_read() -> None:
    said = [("system", "Be brief."), ("user", "1+1="), ("assistant", "2"), ("user", "3*8=\n")]
    messages = tuple(Message(role, content) for role, content in said)  # type: ignore[arg-type]
    [[completion]] = generate(Request(messages, Sampling(temperature=0.0)))
    assert completion.text == "24"


def test_temperature_zero_is_the_same_for_any_seed() -> None:
    assert len(set(texts("62-5*3=", [*range(20), None], temperature=0.0))) == 1


def test_higher_temperature_gives_more_kinds_of_text() -> None:
    kinds = [len(set(texts("62-5*3=", range(64), temperature=t))) for t in (0.2, 0.6, 1.0, 1.6)]
    assert kinds == sorted(set(kinds))


def test_same_seed_same_text() -> None:
    seeds = [3, 1, 3, 2, 1]
    found = texts("47*68=", seeds)
    assert found[0] == found[2]
    assert found[1] == found[4]
    assert len(set(texts("47*68=", range(50)))) > 10


def test_an_unknown_seed_is_drawn_and_told() -> None:
    [completions] = generate(request("47*68=", [None] * 8))
    seeds = [completion.seed for completion in completions]
    assert len(set(seeds)) == 8
    assert texts("47*68=", seeds) == [completion.text for completion in completions]


def test_who_asks_beside_changes_nothing() -> None:
    asked = [
        request(f"{problem['question']}=", range(3), temperature=temperature)
        for problem in problems()[:60]
        for temperature in (0.7, 1.0)
    ]
    assert generate(*asked) == [generate(one)[0] for one in asked]


def test_many_requests_are_sampled_together(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    provider = sys.modules["passband.generate.tiny.provider"]

    def counted(draws: Sequence[Draw]) -> list[str]:
        assert len({len(draw.prompt) for draw in draws}) == 1
        sizes.append(len(draws))
        return sample(load_model(), draws)

    monkeypatch.setattr(provider, "_sample", counted)
    generate(*[request(prompt, range(40)) for prompt in ["3*8=", "13*8="] * 20])
    assert sizes == [480, 480, 320, 320]


def test_length_is_capped() -> None:
    [[completion]] = generate(request("823*47=", [0], max_tokens=3))
    assert (completion.finish, completion.completion_tokens) == ("length", 3)
    assert texts("823*47=", [0])[0].startswith(str(completion.text))


def test_the_context_caps_the_length_too() -> None:
    [[completion]] = generate(request("9" * 31, [0], max_tokens=100))
    assert completion.completion_tokens in (0, 1)  # 0 if the text ended at once


def test_an_answer_of_just_the_length_has_not_ended() -> None:
    [[short], [enough]] = generate(
        request("3*8=", temperature=0.0, max_tokens=2),
        request("3*8=", temperature=0.0, max_tokens=3),
    )
    assert (short.text, short.finish) == ("24", "length")
    assert (enough.text, enough.finish) == ("24", "stop")


def test_stop_strings_cut() -> None:
    whole = next(text for text in texts("723*9=", range(20)) if "=" in text and "+" in text)
    seed = texts("723*9=", range(20)).index(whole)
    [[completion]] = generate(request("723*9=", [seed], stop=("=", "+", "\n")))
    assert completion.text == whole[: min(whole.index("="), whole.index("+"))]
    assert completion.finish == "stop"
    assert completion.completion_tokens == len(completion.text)


@pytest.mark.parametrize(
    ("prompt", "says"),
    [
        ("What is 3*8?", "'W'.* digits and \\+ - \\* ="),
        ("3 *8=", "' '"),
        ("3*8=\n3*9=", r"'\\n'"),
        ("\n", "empty"),
        ("1" * 32, "32 characters.* at most 31"),
    ],
)
def test_prompts_it_cannot_read_are_rejected(prompt: str, says: str) -> None:
    with pytest.raises(Rejected, match=says):
        generate(request(prompt))


def test_no_message_of_the_user_is_rejected() -> None:
    with pytest.raises(Rejected, match="empty"):
        generate(Request((Message("system", "3*8="),), Sampling()))


@pytest.mark.parametrize(
    "sampling",
    [
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"temperature": float("inf")},
        {"top_p": 0.0},
        {"top_p": 1.1},
        {"max_tokens": 0},
        {"stop": ("=", "")},
        {"extra": {"top_k": 5}},
    ],
)
def test_settings_without_meaning_are_refused(sampling: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(sampling)).replace("extra", "top_k")):
        generate(request("3*8=", **sampling))


def test_no_seed_no_completion() -> None:
    assert generate(request("3*8=", [])) == [[]]


def test_one_provider_serves_one_loop_after_another() -> None:
    tiny = Tiny()
    first, second = (asyncio.run(tiny.generate(request("3*8=", [1]))) for _ in range(2))
    assert first == second
    asyncio.run(tiny.close())


def test_closing_ends_the_wait() -> None:
    async def ask() -> list[Any]:
        tiny = Tiny()
        waiting = [asyncio.create_task(tiny.generate(request(p))) for p in ("3*8=", "13*8=")]
        await asyncio.sleep(0)
        await tiny.close()
        return list(await asyncio.gather(*waiting, return_exceptions=True))

    assert all(isinstance(found, asyncio.CancelledError) for found in asyncio.run(ask()))


def test_who_gives_up_is_left_out() -> None:
    async def ask() -> list[Completion]:
        tiny = Tiny()
        impatient = asyncio.create_task(tiny.generate(request("13*8=")))
        patient = asyncio.create_task(tiny.generate(request("3*8=", temperature=0.0)))
        await asyncio.sleep(0)
        impatient.cancel()
        completions = await patient
        await tiny.close()
        return completions

    assert asyncio.run(ask())[0].text == "24"


def test_a_fault_in_sampling_reaches_who_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(draws: Sequence[Draw]) -> list[str]:
        raise MemoryError(len(draws))

    monkeypatch.setattr(sys.modules["passband.generate.tiny.provider"], "_sample", broken)
    with pytest.raises(MemoryError):
        generate(request("3*8=", [1, 2]))


def test_importing_it_does_not_import_numpy() -> None:
    code = "import sys, passband.generate.tiny as t; t.Tiny(); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# --- the task --------------------------------------------------------------------------------


def test_problems_are_distinct_and_answers_right() -> None:
    assert len({problem["question"] for problem in problems()}) == 200
    assert len({problem["id"] for problem in problems()}) == 200
    assert set(Counter(problem["level"] for problem in problems()).values()) == {20}
    for problem in problems():
        assert problem["id"].startswith(f"{problem['level']}-")
        assert str(eval(problem["question"])) == problem["answer"]


def test_problems_are_those_that_training_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "training"))
    script = runpy.run_path(str(ROOT / "training/write_arithmetic.py"))
    assert list(script["rows"]()) == problems()


def test_the_task_names_its_data() -> None:
    task = yaml.safe_load((TASK / "arithmetic.yaml").read_text(encoding="utf-8"))
    data = TASK / task["dataset_kwargs"]["data_files"][task["test_split"]]
    assert data.is_file()
    assert {task["problem_id"], task["doc_to_target"], "question"} <= set(problems()[0])


def test_samples_have_a_fingerprint_and_the_ability_that_is_documented() -> None:
    asked = [request(f"{problem['question']}=", range(4)) for problem in problems()]
    written = [[str(completion.text) for completion in reply] for reply in generate(*asked)]
    right = [
        text.rpartition("=")[2] == problem["answer"]
        for problem, reply in zip(problems(), written, strict=True)
        for text in reply
    ]
    assert 0.37 < np.mean(right) < 0.46
    everything = "\n".join(text for reply in written for text in reply)
    assert hashlib.sha256(everything.encode()).hexdigest() == TEXTS
