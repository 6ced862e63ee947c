"""Write notebook.ipynb: what estimates, curves and comparisons look like in a notebook.

The cells are below. They are run here, one after the other, and what the last line of each gives
is kept as a notebook keeps it: as HTML and as text. Nothing but passband is needed, and the same
cells give the same file.
"""

import ast
import json
import os
import sys
from pathlib import Path
from typing import Any

CELLS = [
    """# passband in a notebook

Estimates, comparisons, summaries and curves are shown as tables and charts, light or dark as the
notebook is. Their text is what `print` gives.""",
    """>import passband

passband.summarize("trials.csv")""",
    """Every interval names its target. The outer bar is for problems like these, the inner one for
these very problems, the model sampled again.""",
    """>outcomes = passband.Outcomes.from_file("trials.csv")
passband.estimate(outcomes, "pass@4")""",
    """>passband.estimate(outcomes, "pass@4", over="trials")""",
    """The whole curve, with a band that holds for every k at once:""",
    """>passband.band(outcomes, "pass@*")""",
    """What would more data bring?""",
    """>passband.split_variance(outcomes, "pass@1")""",
    """Two models on the same 40 problems; their counts are made up.""",
    """>other = passband.Outcomes.from_counts([9, 1, 14, 16, 3, 8, 12, 16, 2, 7] * 4, 16)
first = passband.Outcomes.from_counts([6, 0, 14, 15, 3, 5, 9, 16, 0, 6] * 4, 16)
passband.compare(first, other, "pass@1", margin=0.05)""",
    """>third = passband.Outcomes.from_counts([6, 1, 13, 15, 4, 5, 8, 16, 1, 6] * 4, 16)
passband.compare_all({"first": first, "other": other, "third": third}, "pass@1")""",
]  # fmt: skip


def notebook(cells: list[str]) -> dict[str, Any]:
    """Run the cells, those that begin with ">", and return them with what they show."""
    names: dict[str, Any] = {}
    made: list[dict[str, Any]] = []
    for position, text in enumerate(cells, 1):
        cell = {"id": f"cell-{position}", "metadata": {}}
        if text.startswith(">"):
            count = sum(one["cell_type"] == "code" for one in made) + 1
            outputs = run(text[1:], names, count)
            cell |= {"cell_type": "code", "execution_count": count, "outputs": outputs}
        else:
            cell |= {"cell_type": "markdown"}
        made.append({**cell, "source": text.removeprefix(">").splitlines(keepends=True)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def run(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run the lines of a cell, and return what the last of them gives."""
    *body, last = ast.parse(source).body
    exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
    if not isinstance(last, ast.Expr):
        exec(compile(ast.Module([last], []), "<cell>", "exec"), names)
        return []
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    shown = {"text/html": value._repr_html_().splitlines(keepends=True)}
    shown["text/plain"] = repr(value).splitlines(keepends=True)
    return [
        {"data": shown, "execution_count": count, "metadata": {}, "output_type": "execute_result"}
    ]


def main() -> None:
    """Write the notebook next to this file, or to the path given."""
    here = Path(__file__).resolve().parent
    path = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here / "notebook.ipynb"
    os.chdir(here)
    text = json.dumps(notebook(CELLS), indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
