import pytest

from passband.errors import InvalidInput
from passband.tasks.prompt.template import Template

ROW = {"question": "What?", "choices": ["x", "y"], "n": 3, "nested": {"items": [1, 2]}}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Q: {{ question }}\nA:", "Q: What?\nA:"),
        ("{{question}}\n", "What?\n"),  # the last newline stays
        ("{{ n + 1 }} {{ n * 2 }} {{ 2 ** n }} {{ n % 2 }}", "4 6 8 1"),
        ("{{ choices | join(', ') }}", "x, y"),
        ("{% for c in choices %}{{ 'AB'[loop.index0] }}. {{ c }}\n{% endfor %}", "A. x\nB. y\n"),
        ("{{ question | regex_replace('[aeiou]', '_') }}", "Wh_t?"),
        ("{{ question | regex_replace(pattern='a', repl='b', count=1) }}", "Whbt?"),
        ("{{ 'a' ~ n ~ choices[0] }}", "a3x"),
        ("{{ nested['items'][1] }}", "2"),
        ("{{ choices.index('y') }}", "1"),
        ("{{ question.replace('?', '!').upper() }}", "WHAT!"),
        ("{{ '%s-%d' % (question, n) }} {{ '{:>3}'.format(n) }}", "What?-3   3"),
        ("{% if n > 2 %}many{% else %}few{% endif %}", "many"),
        ("{% macro twice(t) %}{{ t }}{{ t }}{% endmacro %}{{ twice('ab') }}", "abab"),
        ("{% set ns = namespace(k=0) %}{% for c in choices %}{% set ns.k = ns.k + 1 %}"
         "{% endfor %}{{ ns.k }}", "2"),
        ("{{ [1, 2] + [3] }}", "[1, 2, 3]"),
        ("<b>{{ '<' }}</b>", "<b><</b>"),  # prompts are not HTML
    ],
)  # fmt: skip
def test_renders(source, text):
    assert Template(source).render(ROW) == text


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ cycler.__init__.__globals__ }}", "unsafe"),
        ("{{ self.__init__ }}", "unsafe"),
        ("{{ choices.append('z') }}", "unsafe"),
        ("{{ lipsum() }}", "no column 'lipsum'"),
        ("{{ 'x' * (10 ** 10) }}", "longer than"),
        ("{{ 'x' * 10 ** 10 }}", "longer than"),
        ("{{ 10 ** 10 * [0] }}", "longer than"),
        ("{{ 9 ** 99999999 }}", "power"),
        ("{% for i in range(10 ** 9) %}x{% endfor %}", "Range too big"),
        (
            "{% set r = range(90000) %}{% for i in r %}{% for j in r %}{% endfor %}{% endfor %}",
            "loops",
        ),
        (
            "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}"
            "{{ f(60) }}",
            "loops",
        ),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "deep"),
        (
            "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}"
            "{% endfor %}",
            "longer than",
        ),
        (
            "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}"
            "{% endfor %}",
            "longer than",
        ),
        ("{% for i in range(200) %}{{ 'x' * 10000 }}{% endfor %}", "longer than"),
        ("{{ 'x' | center(10000000000) }}", "beyond"),
        ("{{ 'x'.ljust(10 ** 9) }}", "beyond"),
        ("{{ '{:>1000000000}'.format(1) }}", "wide"),
        ("{{ '{:>{}}'.format(1, 1000000000) }}", "wide|beyond"),
        ("{{ '%1000000000d' % 1 }}", "wide"),
        ("{{ '%1000000000d' | format(1) }}", "wide"),
        ("{{ ('x' * 900000).replace('x', 'y' * 900000) }}", "very long"),
        ("{{ ('x' * 900000) | list | join('y' * 900000) }}", "very long"),
        ("{{ [1] | tojson(indent=100000000) }}", "beyond"),
        ("{{ question | regex_replace('(', '') }}", "regular expression"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ question + 1 }}", "failed"),
        ("{{ question.nothing }}", "no attribute 'nothing'"),
        ("{{ nested.nothing.more }}", "no attribute 'nothing'"),
    ],
)
def test_refuses(source, told):
    with pytest.raises(InvalidInput, match=told):
        Template(source).render(ROW)


@pytest.mark.parametrize("source", ["{{ question", "{% for %}", "{{ a | nofilter }}", "{% x %}"])
def test_syntax_is_checked_when_it_is_made(source):
    with pytest.raises(InvalidInput, match="the template cannot be read"):
        Template(source)


def test_the_line_of_a_long_template_is_told():
    with pytest.raises(InvalidInput, match="line 3 of the template"):
        Template("a\nb\n{{ c\n")


def test_a_misspelt_column_gets_the_nearest():
    with pytest.raises(InvalidInput, match=r"no column 'qestion'\. Did you mean 'question'\?"):
        Template("{{ qestion }}").render(ROW)
    with pytest.raises(InvalidInput, match="The columns are question, choices, n, nested"):
        Template("{{ zzz }}").render(ROW)


def test_a_regular_expression_that_never_ends_is_ended(monkeypatch):
    monkeypatch.setattr("passband.score.patterns.REGEX_SECONDS", 0.2)
    with pytest.raises(InvalidInput, match="failed"):
        Template("{{ ('a' * 60 ~ '!') | regex_replace('(a+)+$', 'b') }}").render(ROW)


@pytest.mark.slow
def test_rounds_are_counted_anew_for_every_problem():
    template = Template("{% for i in range(60000) %}{% endfor %}{{ question }}")
    assert [template.render(ROW) for _ in range(3)] == ["What?"] * 3


def test_a_row_may_have_columns_of_any_name():
    row = {"self": "s", "range": "r", "context": "c", "two words": "w"}
    assert Template("{{ range }}{{ context }}").render(row) == "rc"
