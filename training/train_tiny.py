"""Train the built-in model `tiny` and write its weights. Needs torch, which passband does not.

    python training/train_tiny.py [--seed 0] [--steps 5000] [--output weights.npz]

One thread, about seven minutes. The data are drawn fresh for every step, with the problems of
the built-in task left out. The same seed, machine and version of torch give the same file; on
another machine expect a model of the same ability, not the same bytes.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import torch
from levels import LEVELS, held_out, solution
from torch import Tensor, nn
from torch.nn import functional

VOCABULARY = "\n0123456789+-*="  # the first one ends a text and pads it
CONTEXT, LAYERS, HEADS, WIDTH, INNER = 32, 3, 4, 64, 256
BATCH, RATE, WARM_UP = 128, 3e-3, 100
OUTPUT = Path(__file__).parents[1] / "src/passband/generate/tiny/weights.npz"


class Net(nn.Module):
    """A decoder without biases; the matrices of one kind are stacked over the layers."""

    def __init__(self) -> None:
        super().__init__()
        calm = 1 / math.sqrt(2 * LAYERS)  # what is added to the stream 2 * LAYERS times
        self.tokens = normal(len(VOCABULARY), WIDTH, std=0.02)
        self.positions = normal(CONTEXT, WIDTH, std=0.02)
        self.qkv = normal(LAYERS, WIDTH, 3 * WIDTH, std=WIDTH**-0.5)
        self.out = normal(LAYERS, WIDTH, WIDTH, std=WIDTH**-0.5 * calm)
        self.up = normal(LAYERS, WIDTH, INNER, std=WIDTH**-0.5)
        self.down = normal(LAYERS, INNER, WIDTH, std=INNER**-0.5 * calm)
        self.head = normal(WIDTH, len(VOCABULARY), std=WIDTH**-0.5)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens[ids] + self.positions[: ids.shape[1]]
        for qkv, out, up, down in zip(self.qkv, self.out, self.up, self.down, strict=True):
            x = x + attend(norm(x) @ qkv) @ out
            x = x + functional.relu(norm(x) @ up) @ down
        return norm(x) @ self.head


def normal(*shape: int, std: float) -> nn.Parameter:
    return nn.Parameter(torch.randn(*shape) * std)


def norm(x: Tensor) -> Tensor:
    return functional.rms_norm(x, (WIDTH,), eps=1e-5)


def attend(qkv: Tensor) -> Tensor:
    batch, length, _ = qkv.shape
    q, k, v = qkv.view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
    mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return mixed.transpose(1, 2).reshape(batch, length, WIDTH)


def texts(random: Random) -> Iterator[tuple[str, str]]:
    """Yield prompts and what should follow, without the problems of the built-in task."""
    # There are only 64 products of two digits, so these are learned by heart.
    asked = {problem.question for level, problem in held_out() if level.name != "mul1"}
    weights = [level.weight for level in LEVELS]
    while True:
        problem = random.choices(LEVELS, weights)[0].draw(random)
        if problem.question not in asked:
            yield f"{problem.question}=", solution(problem, random) + "\n"


def batches(random: Random) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield token ids and what comes next; -100 where nothing is to be learned."""
    source = texts(random)
    while True:
        pairs = [next(source) for _ in range(BATCH)]
        longest = max(len(prompt + rest) for prompt, rest in pairs)
        ids = torch.zeros(BATCH, longest, dtype=torch.long)
        following = torch.full((BATCH, longest - 1), -100)
        for row, (prompt, rest) in enumerate(pairs):
            text = torch.tensor([VOCABULARY.index(character) for character in prompt + rest])
            ids[row, : len(text)] = text
            following[row, len(prompt) - 1 : len(text) - 1] = text[len(prompt) :]
        yield ids[:, :-1], following


def train(seed: int, steps: int) -> Net:
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters(), RATE, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / WARM_UP) * (1 - step / steps)
    )
    for step, (ids, following) in zip(range(1, steps + 1), batches(Random(seed)), strict=False):
        loss = functional.cross_entropy(net(ids).flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 250 == 0:
            print(
                f"step {step}  loss {loss.item():.3f}  {time.process_time():.0f} CPU-s", flush=True
            )
    return net


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    net = train(arguments.seed, arguments.steps)
    weights = {name: tensor.half().numpy() for name, tensor in net.state_dict().items()}
    np.savez_compressed(arguments.output, **weights)


if __name__ == "__main__":
    main()
