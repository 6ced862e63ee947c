r"""Filter completions into the answers that are scored, as lm-eval's `filter_list` does.

A filter is a function of its options that returns a step; a step takes a text and the reference
and returns a text, or None for no answer.

>>> step = make_step({"function": "regex", "regex_pattern": r"#### (-?[0-9.,]+)"})
>>> step.apply("so #### 1,234", Reference(("1234",)))
Extracted(answer='1,234', rule='regex')
>>> step.apply("no idea", Reference(("1234",)))
Extracted(answer='[invalid]', rule='fallback')
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from passband.errors import InvalidInput, WrongType
from passband.registry import Registry
from passband.score.builtin.text import check_regexes
from passband.score.extract.answer import DEFAULT_RULES, check_rules, extract, without_reasoning
from passband.score.extract.code_block import Which, check_block, find_code_block
from passband.score.extract.rules import Extracted
from passband.score.patterns import compile_pattern
from passband.score.registry import check_options, source_of
from passband.score.scorer import Options, Reference

INVALID = "[invalid]"  # what lm-eval writes where a filter finds nothing

# These look at all trials of a problem at once, so they are not steps; a task reads them.
TAKE_FIRST = "take_first"
TAKE_FIRST_K = "take_first_k"
MAJORITY_VOTE = "majority_vote"
CROSS_TRIAL_FILTERS = (TAKE_FIRST, TAKE_FIRST_K, MAJORITY_VOTE)

Apply = Callable[[str, Reference], "Extracted | str | None"]
F = TypeVar("F", bound=Callable[..., Any])

filters: Registry[Callable[..., Apply]] = Registry("filter")


@dataclass(frozen=True)
class FilterStep:
    """One step with its options set."""

    run: Apply
    slow: bool
    identity: Options  # function, options and, for a user's filter, its source
    spec: Options | None = None  # what `make_step` makes it of; None: a task's own code

    def apply(self, text: str, reference: Reference) -> Extracted:
        """Return the answer in a text, and the rule that found it."""
        answer = self.run(text, reference)
        if isinstance(answer, Extracted):
            return answer
        if answer is None or isinstance(answer, str):
            return Extracted(answer, None)
        raise WrongType(
            f"filter {self.identity['function']!r} must return a text or None; got {answer!r}."
        )


def apply_steps(steps: Sequence[FilterStep], text: str | None, reference: Reference) -> Extracted:
    """Apply steps until there is no answer left; the rule is the last one that a step names."""
    rule = None
    for step in steps:
        if text is None:
            break
        text, named = step.apply(text, reference)
        rule = named or rule
    return Extracted(text, rule)


def make_step(spec: Options | str) -> FilterStep:
    """Return the step for an entry of a filter list: a name, or a mapping with `function`."""
    options = {"function": spec} if isinstance(spec, str) else dict(spec)
    name = options.pop("function", None)
    if not isinstance(name, str):
        raise InvalidInput(f"a filter needs a function, as in 'function: regex'; got {spec!r}.")
    if name in CROSS_TRIAL_FILTERS:
        raise InvalidInput(f"{name} looks at all trials of a problem, so it cannot filter one.")
    build = filters.get(name)
    check_options(f"filter {name!r}", build, options)
    identity: dict[str, Any] = {"function": name, "options": options}
    if source := source_of(build):
        identity["source"] = source
    entry = {"function": name, **options}
    return FilterStep(build(**options), _is_slow(options), identity, entry)


def _is_slow(options: Options) -> bool:
    sources = list(options.get("regexes_to_ignore") or ())
    if "regex_pattern" in options:
        sources.append(options["regex_pattern"])
    return any(compile_pattern(source).slow for source in sources)


def register_filter(name: str) -> Callable[[F], F]:
    """Register a filter, as a decorator: options in, step out.

    >>> @register_filter("last_line")
    ... def last_line(marker=""):
    ...     def step(text, reference):
    ...         return text.strip().splitlines()[-1].removeprefix(marker) if text.strip() else None
    ...     return step
    >>> make_step({"function": "last_line", "marker": "> "}).apply("a\\n> b", Reference(())).answer
    'b'
    >>> filters.remove("last_line")
    """

    def add(build: F) -> F:
        filters.add(name, build)
        return build

    return add


# -- passband's own ------------------------------------------------------------------------


@register_filter("extract")
def _extract(rules: Sequence[str] = DEFAULT_RULES, strip_reasoning: bool = True) -> Apply:
    """The final answer: a box, or what follows a marker such as "Answer:"."""
    checked = check_rules(rules)
    return lambda text, reference: extract(
        text,
        checked,
        strip_reasoning=strip_reasoning,
        targets=reference.targets,
        choices=reference.choices,
    )


@register_filter("code_block")
def _code_block(
    which: Which = "last", language: str | None = None, strip_reasoning: bool = True
) -> Apply:
    """The code of the first or last fenced block, of one language or any."""
    check_block(which, language)

    def step(text: str, _: Reference) -> Extracted | None:
        answer = without_reasoning(text) if strip_reasoning else text
        if answer is None:
            return Extracted(None, "reasoning-unclosed")
        return find_code_block(answer, which, language)

    return step


@register_filter("strip_reasoning")
def _strip_reasoning() -> Apply:
    """The text after the reasoning."""

    def step(text: str, _: Reference) -> Extracted:
        answer = without_reasoning(text)
        return Extracted(answer, "reasoning-unclosed" if answer is None else None)

    return step


# -- lm-eval's -----------------------------------------------------------------------------

_GSM8K = r"#### (\-?[0-9\.\,]+)"  # the default pattern of lm-eval


@register_filter("regex")
def _regex(regex_pattern: str = _GSM8K, group_select: int = 0, fallback: str = INVALID) -> Apply:
    """One match of a pattern, or the fallback.

    Of several groups the first that is not empty counts. If there is no match of that number, for
    which lm-eval raises an error, the answer is the fallback as well.
    """
    pattern, group_select = compile_pattern(regex_pattern), _index(group_select)

    def step(text: str, _: Reference) -> Extracted:
        match = _pick(pattern.findall(text), group_select)
        return Extracted(fallback, "fallback") if match is None else Extracted(match, "regex")

    return step


def _index(group_select: object) -> int:
    if not isinstance(group_select, int):
        raise InvalidInput(f"group_select must be a whole number; got {group_select!r}.")
    return group_select


def _pick(matches: list[Any], group_select: int) -> str | None:
    try:
        match = matches[group_select]
    except IndexError:
        return None
    if not isinstance(match, str):
        match = next((group for group in match if group), None)
    return None if match is None else match.strip()


@register_filter("multi_choice_regex")
def _multi_choice_regex(
    regex_pattern: str = _GSM8K,
    group_select: int = 0,
    fallback: str = INVALID,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    regexes_to_ignore: Sequence[str] | None = None,
) -> Apply:
    """The pattern; else the text of a choice as "(A)"; else a letter after a colon as "(A)"."""
    pattern, group_select = compile_pattern(regex_pattern), _index(group_select)
    check_regexes(regexes_to_ignore)

    def plain(text: str) -> str:
        for source in regexes_to_ignore or ():
            text = compile_pattern(source).remove(text)
        text = text.lower() if ignore_case else text
        return _without_punctuation(text) if ignore_punctuation else text

    def step(text: str, reference: Reference) -> Extracted:
        if match := _pick(pattern.findall(text), group_select):
            return Extracted(match, "regex")
        texts = [plain(choice.strip()) for choice in reference.choices]
        letters = {words: f"({chr(65 + i)})" for i, words in enumerate(texts)}
        by_text = compile_pattern("|".join(map(re.escape, texts))).findall(plain(text))
        if match := _pick(by_text, group_select):
            return Extracted(letters.get(match, match), "choice-text")
        names = "|".join(chr(65 + i) for i in range(len(texts)))
        if match := _pick(re.findall(rf":[\s]*({names})", text), group_select):
            return Extracted(f"({match})", "choice-letter")
        return Extracted(fallback, "fallback")

    return step


def _without_punctuation(text: str) -> str:
    return "".join(c for c in text if not unicodedata.category(c).startswith("P"))


@register_filter("remove_whitespace")
def _remove_whitespace() -> Apply:
    """The text without white space in front."""
    return lambda text, _: text.lstrip()  # in front only, as in lm-eval


@register_filter("lowercase")
def _lowercase() -> Apply:
    """The text in lower case."""
    return lambda text, _: text.lower()


@register_filter("uppercase")
def _uppercase() -> Apply:
    """The text in upper case."""
    return lambda text, _: text.upper()


@register_filter("map")
def _map(mapping_dict: Options | None = None, default_value: object = None) -> Apply:
    """The value of a text in a mapping, or the default."""
    if not isinstance(mapping_dict or {}, Mapping):
        raise InvalidInput(f"mapping_dict must be a mapping; got {mapping_dict!r}.")
    mapping = dict(mapping_dict or {})

    def step(text: str, _: Reference) -> str | None:
        value = mapping.get(text, default_value)
        return None if value is None else str(value)

    return step
