"""Look for texts that hold up a run: patterns over the longest texts that are searched at once.

Passband searches a text in its own process if the bound of `passband.score.pattern_cost` is below
fifteen milliseconds. This tries patterns, ordinary ones, known runaways and random ones, each over
texts made to be hard for it, as long as is still searched here, and prints the slowest.
Then it times the built-in extraction rules over texts of 100 KB and of 1 MB.

    python benchmarks/regexes.py [--random 2000] [--seed 0]
"""

from __future__ import annotations

import argparse
import random
import re
import time
import warnings
from collections.abc import Callable, Iterator

from passband.errors import InvalidInput
from passband.score.builtin.choice import read_choice
from passband.score.builtin.math import normalise
from passband.score.extract.answer import RULES, extract
from passband.score.extract.parse_number import read_number
from passband.score.patterns import MOST_NANOSECONDS, Pattern

PATTERNS = [
    r"#### (\-?[0-9\.\,]+)", r"(-?[$0-9.,]{2,})|(-?[0-9]+)", r"answer is \(?([A-J])\)?",
    r"(?<=the answer is )(.*)(?=.)", r"(?s).*#### ", r"\d{1,3}(?:,\d{3})*", r"(?i)yes|no",
    r"answer is (.*?)\.", r"\\boxed\{(.*)\}", r"(\([A-Z]\))", r".*answer is \(?([A-J])\)?",
    r"(a+)+$", r"(a|a)*b", r"(a?){30}b", r"(.*)*x", r"((a|b)*)*c", r"(a|aa)+$", r"(a*)*b",
    r"(?:(?:a*)b?)*c", r"(a*)\1b", r"(.+?)\1\1\1x", r"(a)?(?(1)b|c)", r"a*a*b", r"a*a*a*b",
    r"(?=.*b)a", r"(?=(a+))a*b", r"a{4000}b", "[ab]" * 300 + "c", r"a{1000}b", r"(a)*x",
    r"(?:a|b|ab)*x", r"\w*\W", r"(?i)a*b", r"(?:[^x]|y)*z", r"(?<!a)a*b", r".*.*=.*",
    r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(\w+\s?)*$", r"(?m)^\s+|\s+$", r"<[^>]*>", r"(x+x+)+y",
    r"[\U00010000-\U00010002\U00010100\U00010200\U00010300\U00010400]*x", r"a?" * 20 + "a" * 20,
]  # fmt: skip
PIECES = ["a", "b", ".", "[ab]", "\\w", "\\d", "x", "ab", "#", "\\s", "[^a]", "$", "^", "\\b"]
REPEATS = ["*", "+", "?", "*?", "+?", "{2,5}", "{3}", "{1,40}", "{0,3}?"]
UNITS = ["a", "b", "ab", "aab", "x", "#", " ", "1", "1,", "answer is ", "\\boxed{", "(", "é"]
RULE_UNITS = [
    *UNITS, "\\boxed", "\\boxed{}", "\\boxed{ ", "{", "}", "Answer:", "Answer: **", "**", "#### ",
    ".", ". ", "! ", "$", "1.", "1/", "1e", "9e9", "-", "\\frac{1", "\\frac{1}{", "1,111,",
    "<think>", "</think>", "<|channel|>", "\\text{", "`", "\\(", "1,11", "\n",
    "answer is **", "\\boxed .",
]  # fmt: skip

Search = tuple[float, str, str, str]  # seconds, the pattern, what the text repeats, the text

AGAIN = 5
LONGEST = 200_000  # characters; longer ones are not searched between two requests
FURTHER = {
    "all": extract, "choice": read_choice, "math's quick look": normalise, "number": read_number,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", type=int, default=2000, help="random patterns to try")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    generator = random.Random(options.seed)
    sources = [*PATTERNS, *(random_pattern(generator) for _ in range(options.random))]
    slowest = sorted((worst for source in sources if (worst := worst_of(source))), reverse=True)
    print(f"{len(slowest):,} patterns; slowest in this process, the least of {AGAIN} times each")
    print(f"(bound {MOST_NANOSECONDS / 1e6:g} ms)")
    # A machine that does other things makes any of them slow once.
    for seconds, source, unit, text in sorted(map(again, slowest[:40]), reverse=True)[:8]:
        print(
            f"  {seconds * 1e3:6.1f} ms  {source[:50]!r} over {len(text):,} characters of {unit!r}"
        )
    print("extraction rules: slowest text of 100 KB, slowest of 1 MB")
    for name, rule in [*RULES.items(), *FURTHER.items()]:
        print(f"  {name}: {rule_seconds(rule, 10**5):.3f} s, {rule_seconds(rule, 10**6):.2f} s")


def random_pattern(generator: random.Random, depth: int = 2) -> str:
    """Return a sequence of pieces, groups, alternatives and repetitions."""
    parts = []
    for _ in range(generator.randint(1, 4)):
        part = generator.choice(PIECES)
        if depth and generator.random() < 0.4:
            inner = [random_pattern(generator, depth - 1) for _ in range(generator.randint(1, 2))]
            part = generator.choice(["(", "(?:", "(?=", "(?!", "(?:"]) + "|".join(inner) + ")"
        if part not in ("$", "^", "\\b") and generator.random() < 0.5:
            part = (f"(?:{part})" if len(part) > 1 and part[0] not in "([\\" else part) + (
                generator.choice(REPEATS)
            )
        parts.append(part)
    return "".join(parts)


def worst_of(source: str) -> Search | None:
    """Return the slowest search of a pattern over texts of the largest length."""
    try:
        pattern = Pattern(source)
    except InvalidInput:
        return None
    compiled = re.compile(source)
    found = []
    for unit in UNITS:
        length = longest(pattern, unit)
        for text in hard_texts(unit, length):
            found.append((seconds_of(compiled.findall, text), source, unit, text))
    return max(found)


def again(search: Search) -> Search:
    """Return a search with the least of the seconds that it takes."""
    _, source, unit, text = search
    compiled = re.compile(source)
    return min(seconds_of(compiled.findall, text) for _ in range(AGAIN)), source, unit, text


def longest(pattern: Pattern, unit: str) -> int:
    """Return the largest power of two, or `inline_up_to`, of characters that is searched here."""
    length = min(pattern.inline_up_to, LONGEST)
    while length < LONGEST and pattern._is_quick((unit * length * 2)[: length * 2 or 1]):
        length = length * 2 or 1
    return length


def hard_texts(unit: str, length: int) -> Iterator[str]:
    text = (unit * (length // len(unit) + 1))[:length]
    yield text
    yield text[:-1] + "!"
    yield ("b" + text)[:length]


def rule_seconds(rule: Callable[[str], object], length: int) -> float:
    return max(seconds_of(rule, t) for unit in RULE_UNITS for t in hard_texts(unit, length))


def seconds_of(function: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    function(text)
    return time.process_time() - began


if __name__ == "__main__":
    main()
