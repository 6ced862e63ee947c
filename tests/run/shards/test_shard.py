"""A shard: which trials are its own, and its part of the limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.run.schedule.blocks import missing_blocks
from passband.run.shards.shard import MOST_SHARDS, Shard, Taken


def blocks_of(shard: Shard | None, problems: int, n: int, size: int) -> set[tuple[int, int, int]]:
    taken = Taken(problems, n, size, {}, {}, shard)
    blocks = missing_blocks(range(problems), n, taken, size)
    return {(block.problem, block.trials.start, block.trials.stop) for block in blocks}


def test_shards_by_hand() -> None:
    # 3 problems x 5 trials in blocks of 2: blocks 0, 1, 2 of problem p go to (p + block) mod 2.
    assert blocks_of(Shard(1, 2), 3, 5, 2) == {
        (0, 0, 2),
        (0, 4, 5),
        (1, 2, 4),
        (2, 0, 2),
        (2, 4, 5),
    }
    assert blocks_of(Shard(2, 2), 3, 5, 2) == {(0, 2, 4), (1, 0, 2), (1, 4, 5), (2, 2, 4)}


SIZES = {
    "problems": st.integers(1, 30),
    "n": st.integers(1, 40),
    "size": st.integers(1, 16),
    "of": st.integers(1, 12),
}


@given(**SIZES)
def test_every_block_belongs_to_one_shard(problems: int, n: int, size: int, of: int) -> None:
    shards = [blocks_of(Shard(index, of), problems, n, size) for index in range(1, of + 1)]
    assert sum(map(len, shards)) == len(set().union(*shards))
    assert set().union(*shards) == blocks_of(None, problems, n, size)


@given(**SIZES)
def test_a_mask_is_the_rule(problems: int, n: int, size: int, of: int) -> None:
    for problem in range(problems):
        for index in range(1, of + 1):
            own = [t for t in range(n) if (problem + t // size) % of == index - 1]
            assert Shard(index, of).mask(problem, n, size) == sum(1 << trial for trial in own)


@given(**SIZES, more=st.integers(0, 20))
def test_trials_stay_where_they_are_when_a_run_grows(
    problems: int, n: int, size: int, of: int, more: int
) -> None:
    for index in range(1, of + 1):
        shard = Shard(index, of)
        larger = shard.mask(problems - 1, n + more, size)
        assert larger & ((1 << n) - 1) == shard.mask(problems - 1, n, size)


@pytest.mark.parametrize(
    ("problems", "n", "size", "of"),
    [(200, 40, 1, 4), (200, 40, 1, 16), (200, 40, 16, 16), (5000, 200, 1, 16), (30, 64, 16, 7)],
)
def test_shards_are_balanced(problems: int, n: int, size: int, of: int) -> None:
    counts = [
        sum(Shard(index, of).mask(p, n, size).bit_count() for p in range(problems))
        for index in range(1, of + 1)
    ]
    assert sum(counts) == problems * n
    assert max(counts) <= 1.05 * problems * n / of + size


def test_taken_adds_what_is_recorded_here_and_elsewhere() -> None:
    taken = Taken(2, 4, 2, {0: 0b0001}, {0: 0b0010, 1: 0b1000}, None)
    assert [taken[0], taken[1]] == [0b0011, 0b1000]
    shard = Taken(2, 4, 2, {0: 0b0001}, {}, Shard(1, 2))
    assert [shard[0], shard[1]] == [0b1101, 0b0011]
    assert (list(shard), len(shard)) == ([0, 1], 2)


def test_parts_of_a_limit_add_up_to_it() -> None:
    assert sum(Shard(index, 7).part_of(64) for index in range(1, 8)) == 64
    assert [Shard(index, 3).part_of(2) for index in (1, 2, 3)] == [1, 1, 1]  # each needs one


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "INDEX/N"),
        ("a/b", "INDEX/N"),
        ("1/2/3", "INDEX/N"),
        ("-1/3", "INDEX/N"),
        ("0/3", "numbered 1 to 3; where a scheduler counts from 0, add 1"),
        ("4/3", "numbered 1 to 3"),
        ("1/0", "1 to"),
        (f"1/{MOST_SHARDS + 1}", "1 to"),
    ],
)
def test_what_is_no_shard_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Shard.parse(text)


def test_completions_of_shards_have_numbers_apart() -> None:
    assert Shard(1, 2).first_body == 1 << 40
    assert Shard(MOST_SHARDS, MOST_SHARDS).first_body + (1 << 40) < 1 << 63
