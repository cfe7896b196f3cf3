"""Work in blocks: how far it is, what comes of it, and that it goes on where it was left."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from dpcore.core import Blocks, cancellable, checkpoint, finish, scaled


def counting(done: list[int], blocks: int) -> Generator[float, None, str]:
    for block in range(blocks):
        done.append(block)
        yield (block + 1) / blocks
    return f"{blocks} blocks"


def test_the_result_is_there_after_the_last_block_and_not_before() -> None:
    blocks = Blocks(counting([], 4))
    assert next(iter(blocks)) == 0.25
    with pytest.raises(AttributeError):
        _ = blocks.result
    assert list(blocks) == [0.5, 0.75, 1.0] and blocks.result == "4 blocks"
    assert list(blocks) == [] and blocks.result == "4 blocks", "a look at the end does not lose it"


def test_work_that_was_left_goes_on_where_it_was() -> None:
    done: list[int] = []
    blocks = Blocks(counting(done, 3))
    for _ in blocks:
        break
    assert done == [0]
    assert list(blocks) == [2 / 3, 1.0] and done == [0, 1, 2]


@pytest.mark.parametrize("blocks", [0, 1, 5])
def test_finish_gives_what_comes_of_it(blocks: int) -> None:
    done: list[int] = []
    assert finish(counting(done, blocks)) == f"{blocks} blocks" and done == list(range(blocks))


def test_a_part_tells_its_share_of_the_whole() -> None:
    parts = Blocks(scaled(counting([], 2), 1, 4))
    assert list(parts) == [0.375, 0.5] and parts.result == "2 blocks"


def test_a_block_may_be_stopped_within() -> None:
    def long_step() -> Generator[float, None, str]:
        yield 0.5
        checkpoint()
        return "result"

    def leave() -> None:
        raise KeyboardInterrupt

    blocks = Blocks(long_step())
    with cancellable(leave, every=0):
        assert next(iter(blocks)) == 0.5
        with pytest.raises(KeyboardInterrupt):
            next(iter(blocks))
    assert finish(long_step()) == "result", "the caller has left"


def test_an_error_comes_through() -> None:
    def fails() -> Generator[float, None, None]:
        yield 0.5
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        finish(scaled(fails(), 0, 1))
