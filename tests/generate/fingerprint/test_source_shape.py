"""Source as a text that does not depend on how it is written."""

import ast

from passband.generate.fingerprint.digest import parsed, shape, text_digest


def test_the_shape_is_that_of_the_code_and_not_of_its_form() -> None:
    assert shape(parsed("f(  1 )\n# called\n")) == shape(parsed(b"f(1)"))
    assert shape(parsed("f(1)")) != shape(parsed("f(1.0)"))


def test_empty_parts_of_texts_with_values_do_not_count() -> None:
    one, two = (ast.JoinedStr([ast.Constant(text)]) for text in ("", "a"))
    assert shape(one) == "JoinedStr()"
    assert "'a'" in shape(two)


def test_digests_name_their_kind_and_take_any_text() -> None:
    assert text_digest("\ud800").startswith("sha256:")
    assert text_digest("a") != text_digest("b")
