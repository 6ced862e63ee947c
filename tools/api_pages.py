"""Make docs/api/ from the docstrings of the public names.

The pages are plain Markdown, so that they read on GitHub as well as on the site. Examples are
Python sessions, which the tests run where they are written, in the docstrings.
"""

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any, get_args

import passband
from passband.stats.checks import Over
from passband.stats.data.outcomes import Policy
from passband.stats.decision.comparison import Test

__all__ = ["GROUPS", "pages"]

#: File, title, what the page is about, and the names on it. Every public name is on one page.
GROUPS = (
    (
        "estimates",
        "Metrics and intervals",
        "Values of metrics, their intervals, curves over k, and where uncertainty comes from.",
        "estimate Estimate Certificate measure measure_all Measurement curve Curve band Band "
        "bounds combine Stratified extrapolate Extrapolation split_variance VarianceSplit",
    ),
    (
        "decisions",
        "Comparisons, rankings and plans",
        "Which of two models is better, which of many, and how much has to be asked to know.",
        "compare Comparison compare_all Ranking rank_models Abilities plan plan_width "
        "plan_difference Plan detectable Detectable",
    ),
    (
        "trials",
        "Trials and summaries",
        "Getting trials in, from arrays, tables, logs and run directories, and summing them up.",
        "Outcomes Scale read Groups Log Trials summarize Summary metrics_summary metrics_summaries "
        "MetricsSummary",
    ),
    (
        "running",
        "Running from Python",
        "Asking models from a script or a notebook.",
        "simple_evaluate evaluate evaluate_async load_task",
    ),
    (
        "registering",
        "Registering your own",
        "Each is a decorator; what it registers works by name, in Python and on the command line. "
        "Worked examples of all of them are in [extending](../extending.md).",
        "register_metric register_method register_scorer register_filter "
        "register_repeat_aggregation register_provider register_reader",
    ),
    (
        "errors",
        "Errors and warnings",
        "Every error says what was wrong, what was got and what to do.",
        "PassbandError InvalidInput NotEnoughData PassbandWarning",
    ),
)
EVAL = (
    "eval",
    "passband.eval",
    "Metrics as functions of a matrix of outcomes, under the names of "
    "[scorio](../from/scorio.md). Functions that end in `_ci` return posterior mean, standard "
    "deviation, and a credible interval over trials.",
)
MADE = "<!-- Made from docstrings by tools/write_pages.py: change those, then run make pages. -->"
ABOUT = """\
What `import passband` offers. All of it is typed. Where a signature says `Outcomes`, an array, a
list of lists, a data frame, a run directory, a log or a file of trials will do as well.

"""
WIDTH = 88
OWN = ("self", "cls")


def pages() -> dict[str, str]:
    """Return the text of every page by its name in docs/api/."""
    listed = {name for *_, names in GROUPS for name in names.split()}
    missing = set(passband.__all__) - {"__version__"} - listed
    if missing:
        raise ValueError(f"on no page: {sorted(missing)}; add them to GROUPS in {__file__}")
    made = {
        f"{file}.md": _page(title, about, _members(passband, names.split()))
        for file, title, about, names in GROUPS
    }
    functions = importlib.import_module("passband.eval")
    made["eval.md"] = _page(EVAL[1], EVAL[2], _members(functions, functions.__all__))
    return {"README.md": _index()} | made


def _members(module: ModuleType, names: list[str]) -> list[tuple[str, Any]]:
    return [(f"{module.__name__}.{name}", getattr(module, name)) for name in names]


# -- pages -----------------------------------------------------------------------------------


def _index() -> str:
    parts = ["# Python API", MADE, ABOUT + _choices()]
    for file, title, about, names in GROUPS:
        rows = [
            f"| [`{name}`]({file}.md#{anchor(_heading(name, value))}) | {_first_line(value)} |"
            for name, value in ((name, getattr(passband, name)) for name in names.split())
        ]
        parts += [f"## {title}", about, "| name | what it does |\n|:--|:--|\n" + "\n".join(rows)]
    parts += [f"## {EVAL[1]}", f"{EVAL[2]} All are on [one page]({EVAL[0]}.md)."]
    return "\n\n".join(parts) + "\n"


def _choices() -> str:
    """Return what the names of choices in signatures stand for."""
    named = {"Over": Over, "Policy": Policy, "Test": Test}
    texts = [f"`{name}` is {_listed(get_args(choice))}" for name, choice in named.items()]
    return "; ".join(texts) + "."


def _listed(words: tuple[str, ...]) -> str:
    *others, last = (f'`"{word}"`' for word in words)
    return f"{', '.join(others)} or {last}"


def _page(title: str, about: str, members: list[tuple[str, Any]]) -> str:
    parts = [f"# {title}", MADE, about]
    for name, value in members:
        parts += _entry(name, value, "##")
    return "\n\n".join(parts) + "\n"


def _entry(name: str, value: Any, heading: str) -> Iterator[str]:
    """Yield heading, signature and text of a name, then those of its methods."""
    short = name.removeprefix("passband.").removeprefix("eval.")
    yield f"{heading} {_heading(short, value)}"
    yield f"```python no-test\n{_signature(name, value)}\n```"
    yield markdown(inspect.getdoc(value) or "")
    if inspect.isclass(value):
        for member, function in _methods(value):
            yield from _entry(f"{short}.{member}", function, "###")


def _heading(name: str, value: Any) -> str:
    """Return a heading, and so an anchor, that keeps `estimate` and the class `Estimate` apart."""
    return f"class {name}" if inspect.isclass(value) else name


def _methods(owner: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties that a class itself defines, with a docstring."""
    for name, value in vars(owner).items():
        function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        is_method = inspect.isfunction(function) or isinstance(function, property)
        if is_method and not name.startswith("_") and inspect.getdoc(function):
            yield name, function


# -- signatures ------------------------------------------------------------------------------


def _signature(name: str, value: Any) -> str:
    """Return how a name is called, an argument per line where one line is too long."""
    if isinstance(value, property):
        return f"{name}: {_annotation(value.fget.__annotations__.get('return', ''))}"
    try:
        signature = inspect.signature(value)
    except ValueError:
        return name
    parameters = [each for each in signature.parameters.values() if each.name not in OWN]
    arguments = _with_separators([_argument(each) for each in parameters], parameters)
    returned = "" if inspect.isclass(value) else _annotation(signature.return_annotation)
    end = f") -> {returned}" if returned else ")"
    line = f"{name}({', '.join(arguments)}{end}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {each},\n" for each in arguments) + end


def _with_separators(arguments: list[str], parameters: list[inspect.Parameter]) -> list[str]:
    for index, kind in enumerate(each.kind for each in parameters):
        if kind is inspect.Parameter.VAR_POSITIONAL:
            break
        if kind is inspect.Parameter.KEYWORD_ONLY:
            return [*arguments[:index], "*", *arguments[index:]]
    return arguments


def _argument(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    annotation = _annotation(parameter.annotation)
    text = f"{stars}{parameter.name}" + (f": {annotation}" if annotation else "")
    if parameter.default is inspect.Parameter.empty:
        return text
    default = "..." if "<" in repr(parameter.default) else repr(parameter.default)
    return f"{text} = {default}" if annotation else f"{text}={default}"


def _annotation(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


# -- text ------------------------------------------------------------------------------------


def anchor(heading: str) -> str:
    """Return the anchor of a heading that is a name, the same on GitHub and on the site."""
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))


def _first_line(value: Any) -> str:
    line = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    return line.replace("|", r"\|")


def markdown(docstring: str) -> str:
    """Return a docstring as Markdown: fences around examples and formulas, links to pages.

    >>> markdown("See docs/run.md.\\n\\n>>> 1 + 1\\n2")
    'See [docs/run.md](../run.md).\\n\\n```pycon\\n>>> 1 + 1\\n2\\n```'
    """
    return "\n\n".join(_paragraph(part) for part in _paragraphs(docstring))


def _paragraphs(docstring: str) -> Iterator[str]:
    """Yield the paragraphs; an example goes on over empty lines until text follows."""
    example: list[str] = []
    for part in re.split(r"\n[ \t]*\n", docstring.strip("\n")):
        if part.lstrip().startswith(">>> "):
            example.append(textwrap.dedent(part))
            continue
        if example:
            yield "\n\n".join(example)
            example = []
        yield part
    if example:
        yield "\n\n".join(example)


def _paragraph(text: str) -> str:
    if text.startswith(">>> "):
        return f"```pycon\n{text}\n```"
    if text.startswith(".. math::"):
        formula = textwrap.dedent(text.removeprefix(".. math::").strip())
        return "```math\n" + "\n".join(line.strip() for line in formula.splitlines()) + "\n```"
    text = re.sub(r":math:`([^`]*)`", r"`\1`", text)
    return re.sub(r"(?<![\w`/.])docs/([\w/-]+\.md)", r"[docs/\1](../\1)", text)
