"""The run directory of 0.1.0 that tests read: how it was made, and what it was made of.

    python tests/support/runs/first_release.py FOLDER

runs the task below with the command itself against a server in this process, and writes
`trials.sqlite.xz`. The one in `tests/trials/release_0_1_0` was written by 0.1.0 and is never
written again: it is the promise that later versions read it. Answers depend on prompt and seed.
"""

from __future__ import annotations

import lzma
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from support.runs.commands import run
from support.servers.fault_server import Exchange, FaultServer, behaviour, completion, texts_for

STORED = Path(__file__).parents[2] / "trials" / "release_0_1_0" / "trials.sqlite.xz"
TASK = """
task: sums
dataset_path: json
dataset_kwargs: {data_files: problems.jsonl}
doc_to_text: "What is {{a}} + {{b}}?"
doc_to_target: "{{a + b}}"
repeats: 4
generation_kwargs: {temperature: 1.0, max_gen_toks: 64}
metric_list: [{metric: exact_match}]
filter_list:
  - {name: last, filter: [{function: regex, regex_pattern: '(-?\\d+)', group_select: -1}]}
"""
PROBLEMS = "".join(f'{{"a": {17 + at}, "b": {25 + at}}}\n' for at in range(5))


@behaviour
async def counted(exchange: Exchange) -> None:
    """A reply whose tokens are counted in every way that a row keeps."""
    reply = completion(exchange.request, texts_for(exchange.request))
    reply["usage"] = {
        "prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49,
        "prompt_tokens_details": {"cached_tokens": 32},
        "completion_tokens_details": {"reasoning_tokens": 6},
    }  # fmt: skip
    await exchange.reply(200, reply)


def write_task(folder: Path) -> None:
    """Write the task and its problems."""
    (folder / "sums.yaml").write_text(TASK)
    (folder / "problems.jsonl").write_text(PROBLEMS)


def command(url: str, *options: object) -> tuple[object, ...]:
    """Return the words that ask the task."""
    model = ("--model", "openai:stored", "--base-url", url, "--price", "0.1,0.7")
    return ("run", "sums.yaml", *model, "--batch", 1, "--name", "release", "--out", "run", *options)


def main(folder: Path) -> None:
    """Make the directory in a temporary folder, and store its file."""
    folder = folder.resolve()
    with TemporaryDirectory() as work, FaultServer(counted) as server:
        os.chdir(work)
        write_task(Path())
        done = run(*command(server.url))
        assert done.code == 0, done.err
        data = Path("run/trials.sqlite").read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STORED.name).write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
