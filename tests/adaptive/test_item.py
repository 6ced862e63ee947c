"""Items as problems."""

from passband.adaptive.item import BankItem, Option

CHOICES = (Option("x", "Elbe"), Option("y", "Po"))


def test_choices_are_shown_under_letters_and_the_target_is_one() -> None:
    problem = BankItem("k", "test", "The longer one?", ("x",), CHOICES).problem({"irt": {"a": 1.0}})
    assert problem.messages[0].content.splitlines()[1:3] == ["A. Elbe", "B. Po"]
    assert problem.reference.targets == ("A",)
    assert problem.reference.choices == ("Elbe", "Po")
    assert problem.reference.doc == {"irt": {"a": 1.0}}


def test_messages_take_the_place_of_the_question() -> None:
    turns = (("system", "Be brief."), ("user", "Elbe or Po?"))
    problem = BankItem("k", "test", "?", ("x",), CHOICES, messages=turns).problem({})
    assert [(m.role, m.content) for m in problem.messages] == list(turns)
    assert problem.reference.targets == ("A",)


def test_letters_go_on_after_z() -> None:
    item = BankItem("k", "test", "?", ("28",), tuple(Option(str(n), "t") for n in range(30)))
    assert (item.letter("0"), item.letter("26"), item.letter("28")) == ("A", "AA", "AC")
    assert item.letter("99") is None
