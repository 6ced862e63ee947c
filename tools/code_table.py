"""List the codes of notes and findings, as they are in the code, for docs/files-and-codes.md."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from passband.stats.data.evidence import CODES

__all__ = ["PAGE", "notes_in", "page", "table"]

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "files-and-codes.md"
BEGIN = "<!-- Made from the code by tools/write_pages.py. -->\n"
END = "<!-- end -->"


def page() -> str:
    """Return the page with the table of today's codes."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n\n{END}{after}"


def table() -> str:
    """Return a row for each code, in order."""
    meanings = dict.fromkeys(CODES, "[finding](evidence.md#codes)")
    for path in sorted((ROOT / "src" / "passband").rglob("*.py")):
        for code, meaning in notes_in(path.read_text("utf-8")):
            meanings.setdefault(code, meaning)
    rows = [f"| `{code}` | {meaning} |" for code, meaning in sorted(meanings.items())]
    return "\n".join(["| code | its sentence, or its subject |", "|:--|:--|", *rows])


def notes_in(source: str) -> Iterator[tuple[str, str]]:
    """Yield the code and the meaning of every note that a module makes.

    >>> list(notes_in('ONE = Note("one-problem", "only one problem")'))
    [('one-problem', 'only one problem')]
    >>> list(notes_in('def few(n):\\n  "Return the note on few."\\n  return Note("few", f"{n}")'))
    [('few', 'few')]
    """
    if "Note(" in source:
        yield from _notes_below(ast.parse(source), "")


def _notes_below(node: ast.AST, about: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.FunctionDef):
        about = (ast.get_docstring(node) or "").partition("\n")[0]
    match node:
        case ast.Call(ast.Name("Note"), [ast.Constant(str(code)), ast.Constant(str(text)), *_]):
            yield code, _cell(text)
        case ast.Call(ast.Name("Note"), [ast.Constant(str(code)), _, *_]):
            yield code, _cell(re.sub(r"^(Return the note (on|that) |Note that )|\.$", "", about))
    for child in ast.iter_child_nodes(node):
        yield from _notes_below(child, about)


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;")
