"""Banks from results."""

from dataclasses import replace

import numpy as np
import pytest

from passband.adaptive.bank import Bank
from passband.adaptive.calibration import calibrate_bank
from passband.adaptive.respondents import Respondent, Tally
from passband.errors import InvalidInput, NotEnoughData, UnknownName
from support.samples.banks import bank

TRUTH = bank(20)
RECORDS = {
    item.key: {
        "messages": [["user", item.question]],
        "targets": list(item.targets),
        "choices": [],
        "doc": {"level": item.content, "fold": "ab"[place % 2]},
    }
    for place, item in enumerate(TRUTH.items)
}


def respondents(n: int, seed: int = 0, asked: int = 20, **changes: object) -> list[Respondent]:
    """Models of normal abilities; each was asked its share of the items, each item twice."""
    random = np.random.default_rng(seed)
    made = []
    for number in range(n):
        chances = TRUTH.parameters.expected(float(random.normal()))
        places = random.permutation(20)[:asked]
        tallies = {
            TRUTH.items[p].key: Tally(float(random.binomial(2, chances[p])), 2) for p in places
        }
        made.append(Respondent(f"m{number}", "sums", tallies, RECORDS, **changes))  # type: ignore[arg-type]
    return made


def paired(found: Bank, name: str) -> tuple[np.ndarray, np.ndarray]:
    places = [TRUTH.position[item.key] for item in found.items]
    return getattr(found.parameters, name), getattr(TRUTH.parameters, name)[places]


def test_the_parameters_come_back_also_with_missing_answers() -> None:
    for asked in (20, 12):
        made = calibrate_bank(respondents(400, asked=asked), "new")
        assert len(made.bank.items) == 20
        assert np.corrcoef(*paired(made.bank, "b"))[0, 1] > 0.98
        assert np.corrcoef(*paired(made.bank, "a"))[0, 1] > 0.6
        assert made.bank.provenance["respondents"] == 400
        assert made.bank.items[0].question.endswith("=")
        assert {"se_a", "se_b", "trials"} <= set(made.bank.items[0].quality)


def test_an_anchor_keeps_its_scale() -> None:
    known = Bank("old", TRUTH.items[:10], TRUTH.parameters.take(range(10)))  # type: ignore[arg-type]
    several = respondents(300, seed=1)
    made = calibrate_bank(several, "new", anchor=known)
    places = {item.key: place for place, item in enumerate(made.bank.items)}
    for place, item in enumerate(known.items):
        assert made.bank.parameters.b[places[item.key]] == pytest.approx(known.parameters.b[place])
    assert made.bank.provenance["anchor"]["hash"] == known.hash
    ours, theirs = paired(made.bank, "b")
    assert np.abs(ours - theirs).max() < 1.0
    with pytest.raises(NotEnoughData, match="shares 0 items"):
        calibrate_bank(
            several, "new", anchor=Bank("x", bank(50).items[30:32], TRUTH.parameters.take([0, 1]))
        )
    with pytest.raises(InvalidInput, match="of the model 2pl, not 1pl"):
        calibrate_bank(several, "new", model="1pl", anchor=known)
    other = tuple(replace(item, targets=("7",)) for item in known.items)
    with pytest.raises(InvalidInput, match="'i000' of bank 'old' has other targets"):
        calibrate_bank(several, "new", anchor=Bank("old", other, known.parameters))


def test_splits_come_from_a_column_or_from_shares() -> None:
    several = respondents(60)
    made = calibrate_bank(several, "new", split_by="fold", content="level")
    assert set(made.bank.splits) == {"a", "b"}
    assert made.bank.items[0].content == "easy"
    shares = [calibrate_bank(several, "new", split_by="train=3,test=1").bank for _ in range(2)]
    assert shares[0].hash == shares[1].hash
    counts = [item.split for item in shares[0].items]
    assert counts.count("train") > counts.count("test") > 0
    assert calibrate_bank(several, "new").bank.splits == ("test",)
    with pytest.raises(UnknownName, match=r"no 'levle'. Did you mean 'level'"):
        calibrate_bank(several, "new", split_by="levle")
    with pytest.raises(InvalidInput, match="above 0"):
        calibrate_bank(several, "new", split_by="train=0,test=1")
    with pytest.raises(InvalidInput, match="train=2,test=1"):
        calibrate_bank(several, "new", split_by="train=,test=1")
    with pytest.raises(InvalidInput, match="each split must have one share"):
        calibrate_bank(several, "new", split_by="a=1,a=2")
    for name in ("*", "a:b", ""):
        with pytest.raises(InvalidInput, match="a split must not be"):
            calibrate_bank(several, "new", split_by=f"{name}=1000,test=1")


def test_scorer_and_sampling_are_kept_where_all_share_them() -> None:
    scorer = {"name": "exact_match", "bounds": [0.0, 1.0]}
    hot = respondents(30, scorer=scorer, sampling={"temperature": 1.0, "max_tokens": 24})
    cold = respondents(30, 1, scorer=scorer, sampling={"temperature": 0.0, "max_tokens": 24})
    made = calibrate_bank(hot + cold, "new").bank
    assert made.scorer == {"name": "exact_match"}
    assert made.sampling == {"max_tokens": 24}
    assert calibrate_bank([*hot, *respondents(30, 2)], "new").bank.scorer == {}


def test_choices_get_letters() -> None:
    records = {
        key: {**record, "choices": ["left", "right"], "targets": ["right"]}
        for key, record in RECORDS.items()
    }
    several = [Respondent(r.name, r.task, r.tallies, records) for r in respondents(40)]
    item = calibrate_bank(several, "new").bank.items[0]
    assert item.choices == (("A", "left"), ("B", "right"))
    assert item.targets == ("B",)
    assert item.messages == (("user", item.question),)


def test_too_few_respondents_are_refused() -> None:
    with pytest.raises(NotEnoughData, match=r"2 respondents are too few, 3 the least"):
        calibrate_bank(respondents(2), "new")


def test_problems_that_differ_or_cannot_be_asked_are_refused() -> None:
    several = respondents(20)
    other = {**RECORDS, "i000": {**RECORDS["i000"], "targets": ["7"]}}
    mixed = [*several, Respondent("z", "sums", several[0].tallies, other)]
    with pytest.raises(InvalidInput, match="'i000' of z has other targets"):
        calibrate_bank(mixed, "new")
    bare = {key: {**record, "messages": []} for key, record in RECORDS.items()}
    without = [Respondent(r.name, r.task, r.tallies, bare) for r in several]
    with pytest.raises(InvalidInput, match="has no prompt"):
        calibrate_bank(without, "new")
