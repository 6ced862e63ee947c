"""Which templates are rendered in this process, and which rows."""

import pytest

from passband.tasks.prompt import template
from passband.tasks.prompt.template import Template, fits


@pytest.mark.parametrize(
    "source",
    [
        "Question: {{question}}\nAnswer:",
        "{{question.strip()}}\nA. {{choices[0]}}\nB. {{choices[1]}}\nAnswer:",
        "{{ choices.text | join(', ') }}",
        "{{[choice1, choice2]}}",
        "{{ ['A', 'B', 'C', 'D'][answer] }}",
        "{{ 'ABCD'[answer] if answer is number else answer }}",
        "{% for c in choices %}{{ 'ABCD'[loop.index0] }}. {{ c }}"
        "{% if not loop.last %}\n{% endif %}{% endfor %}",
        "{% if hint is defined and hint != '' %}Hint: {{ hint }}{% else %}none{% endif %}",
        "{{ a ~ ' ' ~ b }} {{ a[:20] }} {{ a + b }} {{ n - 1 }}",
        "{{ choices.index(answer) }}",
        "{{ level | default(grade) }}",
        "{{ question | replace('\n', ' ') | trim }}",
        "{{ answer.split('####')[-1].strip() }}",
        "{{ (level | default(0)) | int }}",
        "{{ choices | list | join(', ') | replace('\n', ' ') | replace('a', 'b') }}",
        "plain text",
    ],
)
def test_ordinary_templates_are_simple(source: str) -> None:
    assert Template(source).is_simple


@pytest.mark.parametrize(
    "source",
    [
        "{{ ('%*d' % (10**9, 1)) }}",
        "{{ 'a' * n }}",
        "{{ '{0:99999}'.format(1) }}",
        "{{ (5).to_bytes(2000000000, 'big') }}",
        "{% set y %}{{ x }}{{ x }}{% endset %}",
        "{% set x = [x, x] %}{{ x }}",
        "{% macro m(x) %}{{ x }}{% endmacro %}{{ m(1) }}",
        "{% for a in b %}{% for c in b %}x{% endfor %}{% endfor %}",
        "{% for a in range(100000) %}x{% endfor %}",
        "{% for a in b %}{{ c | lower }}{% endfor %}",
        "{% for a in b recursive %}{{ loop(a) }}{% endfor %}",
        "{{ [[a, a], [a, a]] }}",
        "{{ [" + "a, " * 65 + "] }}",
        "{{ a | center(1000000) }}",
        "{{ a | tojson(indent=1000) }}",
        "{{ a | map(attribute='format') | list }}",
        "{{ a | attr('format') }}",
        "{{ a | regex_replace('(a+)+$', '') }}",
        "{{ a.replace('x', '" + "y" * 65 + "') }}",
        "{{ a.replace('x', a) }}",
        "{{ a.ljust(1000000) }}",
        "{{ a.encode() }}",
        "{{ a.join(b) }}",
        "{{ a | join(b) }}",
        "{{ a(*b) }}",
        "{{ a | string | list | string | list }}",
        "{{ (a | list ~ '') | list | string }}",
        "{{ a.replace('x', 'xx') | replace('x', 'xx') | replace('x', 'xx') }}",
        "{{ namespace(x=1) }}",
        "{{ a }}" * 201,
    ],
)
def test_whatever_may_grow_is_not(source: str) -> None:
    assert not Template(source).is_simple


def test_a_row_fits_by_the_columns_that_are_read() -> None:
    row = {"a": "x" * 900, "b": ["y" * 50, {"c": "z" * 50}], "n": 5, "none": None, "d": b"bytes"}
    assert fits(row, ["a", "b", "n", "none", "missing"], 1010)
    assert not fits(row, ["a", "b"], 1000)
    assert not fits(row, ["d"], 1000)
    assert not fits({"a": [[0] * 600] * 2}, ["a"], 1000)
    assert template.LARGEST_LOOPED_ROW < template.LARGEST_ROW
