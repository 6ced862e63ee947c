"""Make docs/python.md and docs/python-eval.md from the docstrings of the public names.

The pages are plain Markdown, so that they read on GitHub as well as on the site. Examples are
Python sessions that run as printed: a name is written as a reader has it who imports `passband`.
"""

import ast
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any, get_args

import passband
from passband.adaptive.design import Design
from passband.generate.provider import Completion, Provider, Request, Sampling
from passband.generate.registry import Connection
from passband.generate.subject import Subject
from passband.registry import Registry
from passband.score.scorer import Reference, Score, ScoredTrial
from passband.stats.checks import Over
from passband.stats.data.outcomes import Policy
from passband.stats.decision.comparison import Test
from passband.stats.interval.registry import Interval
from passband.stats.judged import Judged
from passband.summary.gate.policy import GatePolicy
from passband.tasks.task import Task

__all__ = ["GROUPS", "pages"]

#: Title, what the section is about, and the names in it. Every public name is in one section.
GROUPS = (
    (
        "Metrics and intervals",
        "Values of metrics, their intervals, curves over k, and where uncertainty comes from.",
        "estimate Estimate Certificate measure measure_all Measurement curve Curve band Band "
        "bounds combine Stratified extrapolate Extrapolation split_variance VarianceSplit",
    ),
    (
        "Comparisons, rankings and plans",
        "Which of two models is better, which of many, and how much has to be asked to know.",
        "compare Comparison compare_all Ranking rank_models Abilities plan plan_width "
        "plan_difference Plan detectable Detectable",
    ),
    (
        "Trials and summaries",
        "Trials from arrays, tables, logs and run directories, and their summaries.",
        "Outcomes Scale read Groups Log Trials summarize Summary metrics_summary metrics_summaries "
        "MetricsSummary",
    ),
    (
        "Run from Python",
        "Ask models from a script or a notebook.",
        "simple_evaluate evaluate evaluate_async load_task",
    ),
    (
        "Register your own",
        "Each is a decorator; what it registers works by name, in Python and on the command line. "
        "[Extend](extend.md) has an example of each.",
        "register_metric register_method register_scorer register_filter "
        "register_repeat_aggregation register_provider register_reader",
    ),
    (
        "Errors and warnings",
        "Every error says what was wrong, what was got and what to do.",
        "PassbandError InvalidInput NotEnoughData PassbandWarning",
    ),
)
#: What whoever extends passband makes or is given; imported from their own modules.
EXTENDING = (
    Provider, Subject, Connection, Request, Sampling, Completion, Task, Reference, Score,
    ScoredTrial, Interval, Judged, Design, GatePolicy,
)  # fmt: skip
EVAL = (
    "passband.eval",
    "Metrics as functions of a matrix of outcomes, under the names of "
    "[scorio](from-others.md#scorio). Functions that end in `_ci` return posterior mean, standard "
    "deviation, and a credible interval over trials.",
)
MADE = "<!-- Made from docstrings by tools/write_pages.py: change those, then run make pages. -->"
ABOUT = """\
What `import passband` offers. All of it is typed. Where a signature says `Outcomes`, an array, a
list of lists, a data frame, a run directory, a log or a file of trials will do as well.

"""
WIDTH = 88
OWN = ("self", "cls")
PROMPTS = r"(>>> .*(?:\n\.\.\. ?.*)*)((?:\n(?!>>> ).*)*)"


def pages() -> dict[str, str]:
    """Return the text of every page by its name in docs/."""
    listed = {name for *_, names in GROUPS for name in names.split()}
    missing = set(passband.__all__) - {"__version__", "eval"} - listed
    if missing:
        raise ValueError(f"in no section: {sorted(missing)}; add them to GROUPS in {__file__}")
    functions = importlib.import_module("passband.eval")
    parts = [f"# {EVAL[0]}", MADE, EVAL[1], "```python\nfrom passband import eval\n```"]
    for name in functions.__all__:
        parts += _entry(f"{EVAL[0]}.{name}", getattr(functions, name), "##")
    return {"python.md": _python(), "python-eval.md": "\n\n".join(parts) + "\n"}


# -- pages -----------------------------------------------------------------------------------


def _python() -> str:
    parts = ["# Python", MADE, ABOUT + _choices(), "```python\nimport passband\n```"]
    sections: list[str] = []
    for title, about, names in GROUPS:
        members = [(name, getattr(passband, name)) for name in names.split()]
        parts.append(f"**[{title}](#{anchor(title)})**: {', '.join(_links(members))}.")
        sections += [f"## {title}", about]
        for name, value in members:
            sections += _entry(f"passband.{name}", value, "###")
    extending = [(value.__name__, value) for value in EXTENDING]
    parts.append(f"**[For extensions](#for-extensions)**: {', '.join(_links(extending))}.")
    parts.append(f"**[passband.eval](python-eval.md)**: {EVAL[1]}")
    sections += [
        "## For extensions",
        "What [extensions](extend.md) are given and return. Import them from the modules named.",
    ]
    for value in EXTENDING:
        sections += _entry(f"{value.__module__}.{value.__name__}", value, "###")
    return "\n\n".join([*parts, *sections]) + "\n"


def _links(members: list[tuple[str, Any]]) -> list[str]:
    return [f"[`{name}`](#{anchor(_heading(name, value))})" for name, value in members]


def _choices() -> str:
    """Return what the names of choices in signatures stand for."""
    named = {"Over": Over, "Policy": Policy, "Test": Test}
    texts = [f"`{name}` is {_listed(get_args(choice))}" for name, choice in named.items()]
    return "; ".join(texts) + "."


def _listed(words: tuple[str, ...]) -> str:
    *others, last = (f'`"{word}"`' for word in words)
    return f"{', '.join(others)} or {last}"


def _entry(name: str, value: Any, heading: str, own: type | None = None) -> Iterator[str]:
    """Yield heading, signature and text of a name, then those of its methods."""
    short = name if own else name.rpartition(".")[2]
    yield f"{heading} {_heading(short, value)}"
    yield f"```python no-test\n{_signature(name, value)}\n```"
    module = sys.modules[(own or inspect.unwrap(value)).__module__]
    yield markdown(inspect.getdoc(value) or "", module)
    if inspect.isclass(value):
        for member, function in _methods(value):
            yield from _entry(f"{short}.{member}", function, f"{heading}#", value)


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
    if getattr(value, "_is_protocol", False):
        return f"class {name}(Protocol)"
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


# -- examples --------------------------------------------------------------------------------


def example_as_printed(text: str, module: ModuleType) -> str:
    """Return an example as it runs where only `passband` (or `eval`) has been imported.

    A public name gets its package in front, and what else the module has is imported. What takes
    the example out of a registry again, for other tests, is left out.

    >>> from passband.stats.interval import estimate
    >>> from passband.stats.interval import estimate
    >>> example_as_printed(">>> estimate([[1]], 'avg').value\\n1.0", estimate)
    ">>> passband.estimate([[1]], 'avg').value\\n1.0"
    """
    public = _public(module)
    assigned: set[str] = set()
    imports: dict[str, None] = {}
    shown: list[str] = []
    for source, output in re.findall(PROMPTS, text):
        code = "\n".join(line[4:] for line in source.split("\n"))
        tree = ast.parse(code)
        if _is_cleaning(tree, module) or _is_import_of_public_names(tree):
            continue
        names = _free_names(tree, assigned)
        others = {node.id for node in names if node.id not in public} & {*vars(module)}
        imports |= {_import_of(name, module): None for name in sorted(others)}
        assigned |= _assigned(tree)
        first, *rest = _with_packages(code, names, public).split("\n")
        shown.append("\n".join([f">>> {first}", *(f"... {line}".rstrip() for line in rest)]))
        shown[-1] += output
    return "\n".join([*(f">>> {line}" for line in imports), *shown])


def _public(module: ModuleType) -> dict[str, str]:
    """Return the package of every public name, as an example has to write it."""
    is_eval = module.__name__.startswith("passband.eval")
    functions = importlib.import_module("passband.eval").__all__ if is_eval else ()
    return dict.fromkeys(passband.__all__, "passband") | dict.fromkeys(functions, "eval")


def _is_cleaning(tree: ast.Module, module: ModuleType) -> bool:
    match tree.body:
        case [ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "remove")))]:
            return isinstance(vars(module).get(name), Registry)
    return False


def _is_import_of_public_names(tree: ast.Module) -> bool:
    return all(
        (isinstance(part, ast.ImportFrom) and part.module == "passband")
        or (isinstance(part, ast.Import) and [each.name for each in part.names] == ["passband"])
        for part in tree.body
    )


def _free_names(tree: ast.Module, assigned: set[str]) -> list[ast.Name]:
    own = assigned | _assigned(tree)
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own
    ]


def _assigned(tree: ast.Module) -> set[str]:
    """Return the names that code binds, the parameters of its functions among them."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, kinds)}
    aliases = [node for node in ast.walk(tree) if isinstance(node, ast.alias)]
    return bound | {alias.asname or alias.name for alias in aliases}


def _with_packages(code: str, names: list[ast.Name], packages: dict[str, str]) -> str:
    lines = code.split("\n")
    for node in sorted(names, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        if node.id in packages:
            line, at = lines[node.lineno - 1], node.col_offset
            lines[node.lineno - 1] = f"{line[:at]}{packages[node.id]}.{line[at:]}"
    return "\n".join(lines)


def _import_of(name: str, module: ModuleType) -> str:
    value = vars(module)[name]
    if inspect.ismodule(value):
        return f"import {value.__name__}" + (f" as {name}" if value.__name__ != name else "")
    return f"from {getattr(value, '__module__', module.__name__)} import {name}"


# -- text ------------------------------------------------------------------------------------


def anchor(heading: str) -> str:
    """Return the anchor of a heading that is a name, the same on GitHub and on the site."""
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))


def markdown(docstring: str, module: ModuleType) -> str:
    """Return a docstring as Markdown: fences around examples and formulas, links to pages.

    >>> markdown("See docs/run.md.\\n\\n>>> 1 + 1\\n2", passband)
    'See [docs/run.md](run.md).\\n\\n```python\\n>>> 1 + 1\\n2\\n```'
    """
    return "\n\n".join(_paragraph(part, module) for part in _paragraphs(docstring))


def _paragraphs(docstring: str) -> Iterator[str]:
    """Yield the paragraphs; an example goes on over empty lines until text follows."""
    example: list[str] = []
    for part in re.split(r"\n[ \t]*\n", docstring.strip("\n")):
        if part.lstrip().startswith(">>> "):
            example.append(textwrap.dedent(part))
            continue
        if example:
            yield "\n".join(example)
            example = []
        yield part
    if example:
        yield "\n".join(example)


def _paragraph(text: str, module: ModuleType) -> str:
    if text.startswith(">>> "):
        return f"```python\n{example_as_printed(text, module)}\n```"
    if text.startswith(".. math::"):
        formula = textwrap.dedent(text.removeprefix(".. math::").strip())
        return "```math\n" + "\n".join(line.strip() for line in formula.splitlines()) + "\n```"
    text = re.sub(r":math:`([^`]*)`", r"`\1`", text)
    return re.sub(r"(?<![\w`/.])docs/([\w/-]+\.md)", r"[docs/\1](\1)", text)
