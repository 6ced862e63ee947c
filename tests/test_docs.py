"""The documentation is run: every example in README.md, CONTRIBUTING.md and docs/ must be true.

What is done with a fenced block depends on the words after its opening fence:

``python``
    executed; with ``>>>`` prompts it is run as a doctest, so that the output is compared too.
``console``
    every line that starts with ``$ `` is run in a shell, and the lines below it are compared
    with what it prints to standard output. A line ``...`` stands for any lines, or none. A
    command may go on over several lines, each but the last ending in a backslash.
``console fails``
    the same for commands that must end in an error; standard error is compared as well.

A word ``file=NAME`` makes a block of any language a file: it is written to NAME, at the end if
there is such a file, and not run. The word ``no-test`` after the language leaves a block out; other
languages (``sh``, ``text``) are never run. The blocks of one page share variables and a temporary
working directory that holds a copy of examples/. Running one block first runs those above it.
"""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.runs.commands import Done, forked

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`]*)$")
RUN = ("python", "console")
SHELL = re.compile(r"[|&;<>$`*?\[\]{}~#\\]|^\w+=")  # a command with such signs needs a shell
TIMEOUT = 120  # seconds for one command


@dataclass(frozen=True)
class Block:
    """A fenced block: where its first line stands, the words after the fence, and its text."""

    line: int
    words: tuple[str, ...]
    text: str

    @property
    def language(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def file(self) -> str | None:
        names = (word.removeprefix("file=") for word in self.words if word.startswith("file="))
        return next(names, None)

    @property
    def is_run(self) -> bool:
        return (self.language in RUN or self.file is not None) and "no-test" not in self.words


def fenced_blocks(markdown: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page; a fence inside a longer fence is text."""
    lines = enumerate(markdown.splitlines(), start=1)
    for number, line in lines:
        opening = FENCE.match(line)
        if opening is None:
            continue
        body: list[str] = []
        for _, inner in lines:
            closing = FENCE.match(inner)
            if closing and not closing["info"].strip() and closing["ticks"] >= opening["ticks"]:
                break
            body.append(inner)
        else:
            raise ValueError(f"the block opened in line {number} is never closed")
        text = textwrap.dedent("\n".join(body)) + "\n"
        yield Block(number + 1, tuple(opening["info"].split()), text)


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a console block with the lines expected after it."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            if lines[at].strip():
                raise ValueError(f"output without a command above it: {lines[at]!r}")
            at += 1
            continue
        command = lines[at][2:]
        at += 1
        while command.endswith("\\") and at < len(lines):
            command += "\n" + lines[at].removeprefix("> ")
            at += 1
        start = at
        while at < len(lines) and not lines[at].startswith("$ "):
            at += 1
        yield command, lines[start:at]


def tidy(lines: list[str]) -> list[str]:
    """Drop white space at the end of every line, and empty lines at the end."""
    return "\n".join(line.rstrip() for line in lines).rstrip().splitlines()


def agrees(expected: list[str], actual: list[str]) -> bool:
    """Say whether lines are as expected, where ``...`` stands for any lines or none."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + r"\n" for line in expected
    )
    return re.fullmatch(pattern, "".join(line + "\n" for line in actual)) is not None


class Page:
    """One file of documentation, run from the top as far as is asked for."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.blocks = [block for block in fenced_blocks(path.read_text("utf-8")) if block.is_run]
        self.failures: list[BaseException | None] = []
        if (ROOT / "examples").is_dir():
            shutil.copytree(ROOT / "examples", folder / "examples")

    def check(self, index: int) -> None:
        """Run all blocks up to this one that have not been run yet; raise if this one failed."""
        while len(self.failures) <= index:
            try:
                self.run(self.blocks[len(self.failures)])
            except (Exception, SystemExit, pytest.fail.Exception) as failure:
                self.failures.append(failure)
            else:
                self.failures.append(None)
        if (failure := self.failures[index]) is not None:
            raise failure

    def run(self, block: Block) -> None:
        if block.file is not None:
            with (self.folder / block.file).open("a", encoding="utf-8") as file:
                file.write(block.text)
        elif block.language == "console":
            self.run_console(block)
        elif re.search(r"^\s*>>> ", block.text, flags=re.MULTILINE):
            self.run_prompts(block)
        else:
            # Empty lines in front make the line numbers of a traceback those of the page.
            source = "\n" * (block.line - 1) + block.text
            exec(compile(source, str(self.path), "exec", dont_inherit=True), self.names)

    def run_prompts(self, block: Block) -> None:
        examples = doctest.DocTestParser().get_doctest(
            block.text, self.names, self.path.name, str(self.path), block.line - 1
        )
        report: list[str] = []
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
        runner.run(examples, out=report.append, clear_globs=False)
        self.names.update(examples.globs)
        if report:
            pytest.fail("".join(report), pytrace=False)

    def run_console(self, block: Block) -> None:
        fails = "fails" in block.words
        for command, expected in commands(block.text):
            if re.match(r"make\b", command):
                pytest.fail(f"{command!r} belongs in a block marked sh", pytrace=False)
            done = self.run_command(command)
            actual = tidy((done.out + done.err if fails else done.out).splitlines())
            if (done.code != 0) is not fails:
                pytest.fail(
                    f"$ {command}\nended with exit status {done.code}:\n{done.out}{done.err}",
                    pytrace=False,
                )
            if not agrees(tidy(expected), actual):
                told = [f"$ {command}", "should print", *tidy(expected), "but prints", *actual]
                pytest.fail("\n".join(told), pytrace=False)

    def run_command(self, command: str) -> Done:
        """Run a command in a shell, or without one where it is `passband` and plain words."""
        if command.startswith("passband ") and not SHELL.search(command):
            return forked(shlex.split(command)[1:], self.folder, environment(), TIMEOUT)
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT,
        )
        return Done(done.returncode, done.stdout, done.stderr)


def environment() -> dict[str, str]:
    """Return the variables for a command: plain output, 80 columns, this Python's commands."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("FORCE_COLOR", "CLICOLOR_FORCE", "PYTHONPATH")
        and not name.startswith(("PYTEST_", "TYPER_", "_TYPER_"))
    }
    commands_of_python = Path(sys.executable).parent
    return kept | {
        "PATH": f"{commands_of_python}{os.pathsep}{kept.get('PATH', os.defpath)}",
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONUTF8": "1",
    }


def parameters() -> Iterator[Any]:
    for path in PAGES:
        blocks = [block for block in fenced_blocks(path.read_text("utf-8")) if block.is_run]
        for index, block in enumerate(blocks):
            name = path.relative_to(ROOT).as_posix()
            # The id tells conftest.py which blocks belong to one page.
            yield pytest.param(path, index, id=f"{name}:{block.line}:{block.language}")


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    return {path: Page(path, tmp_path_factory.mktemp("page")) for path in PAGES}


@pytest.mark.process
@pytest.mark.parametrize(("path", "index"), list(parameters()))
def test_block(
    path: Path, index: int, pages: dict[Path, Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = pages[path]
    monkeypatch.chdir(page.folder)
    page.check(index)


def test_fences_are_found() -> None:
    page = (
        "a\n```python\nx = 1\n```\n\n````md\n```python\ny\n```\n````\n"
        "  ```console no-test\n  z\n  ```\n"
    )
    assert list(fenced_blocks(page)) == [
        Block(3, ("python",), "x = 1\n"),
        Block(7, ("md",), "```python\ny\n```\n"),
        Block(12, ("console", "no-test"), "z\n"),
    ]
    assert [block.is_run for block in fenced_blocks(page)] == [True, False, False]


def test_unclosed_fence_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2"):
        list(fenced_blocks("a\n```python\nx = 1\n"))


def test_commands_are_taken_apart() -> None:
    block = "$ one\nout\n\n$ two \\\n>   more\n$ three\n"
    assert list(commands(block)) == [("one", ["out", ""]), ("two \\\n  more", []), ("three", [])]


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a"], ["a", "b"], False),
        (["a", "...", "d"], ["a", "b", "c", "d"], True),
        (["a", "...", "d"], ["a", "d"], True),
        (["a", "..."], ["b"], False),
        (["..."], [], True),
        ([], ["a"], False),
        (["a.c"], ["abc"], False),
    ],
)
def test_dots_stand_for_any_lines(expected: list[str], actual: list[str], same: bool) -> None:
    assert agrees(expected, actual) is same


@pytest.mark.parametrize(
    ("block", "passes"),
    [
        ("```python\nx = 2\nassert x == 2\n```", True),
        ("```python\nassert False\n```", False),
        ("```python\n>>> 1 + 1\n2\n```", True),
        ("```python\n>>> 1 + 1\n3\n```", False),
        ("```console\n$ echo one && echo two\none\ntwo\n```", True),
        ("```console\n$ echo one\ntwo\n```", False),
        ("```console\n$ exit 3\n```", False),
        ("```console fails\n$ echo no >&2; exit 3\nno\n```", True),
        ("```console fails\n$ true\n```", False),
        ("```console\n$ make demo\n...\n```", False),
        ("```yaml file=a.yaml\nx: 1\n```", True),
    ],
)
def test_a_wrong_example_is_noticed(tmp_path: Path, block: str, passes: bool) -> None:
    path = tmp_path / "page.md"
    path.write_text(block, "utf-8")
    page = Page(path, tmp_path)
    if passes:
        page.check(0)
    else:
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            page.check(0)


def test_blocks_share_names_and_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "page.md"
    blocks = [
        "```python\nx = 1\n```",
        "```python\n>>> y = x + 1\n>>> y\n2\n```",
        "```python\nfrom pathlib import Path\nPath('y').write_text(str(y))\n```",
        "```console\n$ cat y\n2\n```",
    ]
    path.write_text("\n\n".join(blocks), "utf-8")
    page = Page(path, tmp_path)
    page.check(3)
    assert page.failures == [None] * 4


def test_blocks_of_a_file_are_written_one_after_another(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    blocks = [
        "```python file=module_of_a_page.py\nx = 1\n```",
        "```python file=module_of_a_page.py\ny = x + 1\n```",
        f"```console\n$ {sys.executable} -c 'import module_of_a_page as m; print(m.y)'\n2\n```",
    ]
    path.write_text("\n\n".join(blocks), "utf-8")
    page = Page(path, tmp_path)
    page.check(2)
    assert page.failures == [None] * 3
