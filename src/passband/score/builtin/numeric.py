"""Score numeric answers: `numeric`."""

from __future__ import annotations

from fractions import Fraction

from passband.errors import InvalidInput
from passband.score.extract.parse_number import equal_numbers, read_number
from passband.score.extract.stated_number import stated_number
from passband.score.registry import register_scorer


def _check(relative: object = 0, absolute: object = 0) -> bool:
    for name, tolerance in (("relative", relative), ("absolute", absolute)):
        try:
            good = Fraction(str(tolerance)) >= 0
        except ValueError:
            good = False
        if not good:
            raise InvalidInput(f"{name} must be a number of at least 0; got {tolerance!r}.")
    return False


@register_scorer("numeric", bounds=(0.0, 1.0), check=_check)
def numeric(answer: str, target: str, *, relative: float = 0, absolute: float = 0) -> bool:
    r"""Return whether two numbers are equal, exactly or within a tolerance of the target.

    Reads thousands commas, decimals, fractions, mixed numbers, e-notation, percent and currency
    signs, LaTeX or not, and the number that a text states at its start ("12 apples"). An answer
    that states no number, or more than one, is wrong; such a target is an error.

    >>> numeric("$1,234.00", "1234"), numeric(r"\frac{1}{2}", "0.5"), numeric("1/3", "0.333")
    (True, True, False)
    >>> numeric("1/3", "0.333", absolute=0.001), numeric("50%", "0.5")
    (True, True)
    >>> numeric("12 apples", "12"), numeric("12 or 13", "12")
    (True, False)
    """
    expected = read_number(target)
    if expected is None:
        raise InvalidInput(f"the target {target[:60]!r} is not a number.")
    number = read_number(answer) or read_number(stated_number(answer).number or "")
    if number is None:
        return False
    if not (relative or absolute):
        return equal_numbers(number, expected)
    # By way of text, so that 0.001 is a thousandth and not the nearest binary fraction.
    return equal_numbers(
        number, expected, relative=Fraction(str(relative)), absolute=Fraction(str(absolute))
    )
