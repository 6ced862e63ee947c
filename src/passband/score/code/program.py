r"""Find the program in a chat answer, and name the rule that found it.

Reasoning is dropped, then the rules are tried in order:

block       the last fenced block of Python that compiles and defines what is asked for, after
            earlier blocks that only define things
body        such a block as the body of the prompt's function, as it is or indented
block-cut   the longest beginning of the last block that compiles, where it was cut off
module      the whole text, where nothing is fenced
completion  the text as the continuation of the prompt, as it is, indented, or cut
prose       the code between sentences
broken      the last block, or a text like code, that does not compile: a program all the same

>>> find_program_here("Here:\n```python\ndef f(x):\n    return x\n```", "", "f")
Extracted(answer='def f(x):\n    return x\n', rule='block')
>>> find_program_here("    return x", "def f(x):\n", "f")
Extracted(answer='def f(x):\n    return x', rule='completion')
>>> find_program_here("I cannot help with that.", "", "f")
Extracted(answer=None, rule=None)
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from passband.score.code.source import (
    LONGEST,
    PythonSource,
    SourceFault,
    longest_prefix,
    read_source,
)
from passband.score.extract.answer import without_reasoning
from passband.score.extract.code_block import FencedBlock, fenced_blocks
from passband.score.extract.rules import Extracted
from passband.score.workers.worker_pool import WorkerBroken, WorkerFailed, WorkerTimeout, pool

SOLUTION = "Solution"  # the class that prompts in the style of LeetCode begin
_SECONDS = 10.0  # to read one answer
_STARTS = 20  # places in a text where code may begin that are tried
_CODE = re.compile(r"(?:(?:async )?def |class |import |from \w|@\w)")
_LANGUAGES = ("python", "")
Rule = Callable[["_Answer"], Extracted | None]


def find_program(text: str, prompt: str = "", entry_point: str | None = None) -> Extracted:
    """Return the program in an answer; the compiler works in a process that can be killed.

    An answer on which the compiler dies or hangs is handed on as a program: the sandbox will say
    that it does not compile.
    """
    try:
        program, rule = pool.call("program", [text, prompt, entry_point], seconds=_SECONDS)
    except WorkerBroken:  # no answer could be read: none may be scored 0 for it
        raise
    except (WorkerFailed, WorkerTimeout):
        return Extracted(text, "unread")
    return Extracted(program, rule)


def find_program_here(text: str, prompt: str = "", entry_point: str | None = None) -> Extracted:
    """Return the program in an answer, in this process.

    `prompt` is the beginning of a function that the model was to complete, or the class of a
    starter code; `entry_point` is the name that has to be defined, None for a program that reads
    standard input.
    """
    stripped = without_reasoning(text)
    if stripped is None:
        return Extracted(None, "reasoning-unclosed")
    if len(stripped) > LONGEST:
        return Extracted(None, "too-long")
    answer = _Answer(stripped, prompt, entry_point)
    for rule in _FENCED if answer.blocks else _PLAIN:
        if (extracted := rule(answer)) is not None:
            return extracted
    return Extracted(None, None)


def header_of(prompt: str, name: str) -> str:
    """Return the imports and helpers of a prompt, above the function that it begins.

    A prompt that begins no such function, such as one in words, has none.

    >>> header_of("import math\\n\\n@cache\\ndef f(x):\\n", "f")
    'import math\\n\\n'
    """
    begins = re.compile(rf"(?:(?:async )?def|class) {re.escape(name)}\b")
    lines = prompt.splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if begins.match(line)]
    end = starts[-1] if starts else 0
    while end and lines[end - 1].startswith("@"):
        end -= 1
    return "".join(lines[:end])


@dataclass(frozen=True)
class _Answer:
    """An answer without its reasoning, with the prompt and the entry point of its problem."""

    text: str
    prompt: str
    entry_point: str | None

    @cached_property
    def blocks(self) -> list[FencedBlock]:
        """The blocks that are tagged as Python or not tagged at all."""
        return [block for block in fenced_blocks(self.text) if block.language in _LANGUAGES]

    @cached_property
    def is_class(self) -> bool:
        """Whether the prompt begins the class Solution."""
        return bool(re.search(rf"^class {SOLUTION}\b", self.prompt, re.MULTILINE))

    @property
    def wanted(self) -> str | None:
        """The name that the program has to define at its top level."""
        return SOLUTION if self.is_class and self.entry_point else self.entry_point

    @cached_property
    def header(self) -> str:
        """The imports and helpers of the prompt."""
        return "" if self.wanted is None else header_of(self.prompt, self.wanted)

    def is_program(self, source: PythonSource | SourceFault) -> bool:
        """Return whether a source compiles and defines the entry point."""
        if not isinstance(source, PythonSource) or not source.tree.body:
            return False
        return self.wanted is None or source.defines(self.wanted)

    def extracted(self, program: str, rule: str, before: Sequence[str] = ()) -> Extracted:
        """Return a program below the prompt's header and earlier blocks, if that compiles."""
        header = "" if self.header.strip() in program else self.header  # the prompt, repeated
        for parts in ((header, *before, program), (header, program)):
            whole = "".join(map(_ended, parts[:-1])) + parts[-1]
            if isinstance(read_source(whole), PythonSource):
                return Extracted(whole, rule)
        return Extracted(program, rule)

    def continued(self, body: str, rule: str) -> Extracted | None:
        """Return the prompt with a body behind it, if that compiles."""
        if not self.prompt or self.wanted is None or not body.strip():
            return None
        for glue in ("", "\n"):
            if self.is_program(read_source(whole := self.prompt + glue + body)):
                return Extracted(whole, rule)
        return None


# -- fenced answers ------------------------------------------------------------------------


def _block(answer: _Answer) -> Extracted | None:
    sources = [read_source(block.code) for block in answer.blocks]
    chosen = [index for index, source in enumerate(sources) if answer.is_program(source)]
    if answer.wanted is None:
        chosen = _whole_programs(answer.blocks, sources, chosen)
    if not chosen:
        return None
    last = chosen[-1]
    before = [
        source.text
        for source in sources[:last]
        if isinstance(source, PythonSource) and source.is_definitions
    ]
    return answer.extracted(answer.blocks[last].code, "block", before)


def _whole_programs(
    blocks: Sequence[FencedBlock], sources: Sequence[PythonSource | SourceFault], chosen: list[int]
) -> list[int]:
    """Return the blocks that look like a program for standard input.

    An untagged block may be the sample input, and `3` is valid Python: tagged blocks go first, and
    among them the ones that read input.
    """
    tagged = [index for index in chosen if blocks[index].language] or chosen
    reading = [index for index in tagged if _reads_input(sources[index])]
    return reading or tagged


def _reads_input(source: PythonSource | SourceFault) -> bool:
    return isinstance(source, PythonSource) and source.reads_input


def _body(answer: _Answer) -> Extracted | None:
    for block in reversed(answer.blocks):
        if block.code[:1].isspace() and (whole := answer.continued(block.code, "body")):
            return whole
        if isinstance(read_source(block.code), SourceFault):  # as with `return` at the top level
            for body in _indented(block.code):
                if (whole := answer.continued(body, "body-indented")) is not None:
                    return whole
    return None


def _block_cut(answer: _Answer) -> Extracted | None:
    last = answer.blocks[-1]
    prefix = None if last.is_closed else longest_prefix(last.code)
    if prefix is None or not answer.is_program(prefix):
        return None
    return answer.extracted(prefix.text, "block-cut")


def _completion_before_fence(answer: _Answer) -> Extracted | None:
    """Continue the prompt with the text before the first fence, if it is indented."""
    lines = answer.text.splitlines(keepends=True)[: answer.blocks[0].start]
    body = "".join(lines)
    return answer.continued(body, "completion") if body[:1].isspace() else None


def _broken_block(answer: _Answer) -> Extracted | None:
    blocks = [block for block in answer.blocks if block.code.strip()]
    tagged = [block for block in blocks if block.language] or blocks
    return Extracted(tagged[-1].code, "broken") if tagged else None


# -- answers without fences ----------------------------------------------------------------


def _module(answer: _Answer) -> Extracted | None:
    if not answer.is_program(read_source(answer.text)):
        return None
    if answer.wanted is None and not _CODE.search(answer.text) and "(" not in answer.text:
        return None  # "Sorry" compiles
    return answer.extracted(answer.text, "module")


def _completion(answer: _Answer) -> Extracted | None:
    return answer.continued(answer.text, "completion") if answer.text[:1].isspace() else None


def _prose(answer: _Answer) -> Extracted | None:
    lines = answer.text.splitlines(keepends=True)
    starts = [index for index, line in enumerate(lines) if _CODE.match(line)]
    end = 0
    for start in starts[:_STARTS]:
        if start < end:
            continue
        prefix = longest_prefix("".join(lines[start:]))
        if prefix is not None and answer.is_program(prefix):
            return answer.extracted(prefix.text, "prose")
        end = start if prefix is None else start + prefix.text.count("\n")
    return None


def _completion_indented(answer: _Answer) -> Extracted | None:
    if not re.search(r"^\s*(?:return|yield)\b", answer.text, re.MULTILINE):
        return None  # a sentence of one word would be a body
    for body in _indented(answer.text):
        if (whole := answer.continued(body, "completion-indented")) is not None:
            return whole
    return None


def _completion_cut(answer: _Answer) -> Extracted | None:
    """Continue the prompt with as much of an indented text as compiles."""
    if not (answer.prompt and answer.wanted and answer.text[:1].isspace()):
        return None
    fewest = len(answer.prompt.splitlines()) + 1
    prefix = longest_prefix(_ended(answer.prompt) + answer.text.lstrip("\n"), fewest)
    if prefix is None or not answer.is_program(prefix):
        return None
    return Extracted(prefix.text, "completion-cut")


def _broken_text(answer: _Answer) -> Extracted | None:
    """Return a text that begins like code, or continues the prompt, and does not compile."""
    if _CODE.match(answer.text.lstrip()):
        return Extracted(answer.text, "broken")
    if answer.prompt and answer.text[:1].isspace() and answer.text.strip():
        return Extracted(answer.prompt + answer.text, "broken")
    return None


_FENCED: tuple[Rule, ...] = (
    _block, _body, _block_cut, _completion_before_fence, _broken_block,
)  # fmt: skip
_PLAIN: tuple[Rule, ...] = (
    _module, _completion, _prose, _completion_indented, _completion_cut, _broken_text,
)  # fmt: skip


def _indented(body: str) -> Iterator[str]:
    """Yield a body indented as a whole, and with its first line alone indented.

    Servers strip the blanks in front of an answer, and with them the indentation of one line.
    """
    yield textwrap.indent(body, "    ")
    yield "    " + body.lstrip()


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
