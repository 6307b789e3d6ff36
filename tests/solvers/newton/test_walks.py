"""Walks side by side: one read answers all that are on their way."""

from lincent.solvers.newton.walks import answered


def counting(steps):
    """Asks so many times, and returns what it was told."""
    told = []
    for step in range(steps):
        answer = yield steps * 10 + step
        told += [answer]
    return told


def test_every_walk_gets_its_own_answers_until_it_ends():
    reads = []

    def read(points):
        reads.append(list(points))
        return [-point for point in points]

    found = answered([counting(1), counting(3), counting(2)], read)
    assert found == [[-10], [-30, -31, -32], [-20, -21]]
    assert reads == [[10, 30, 20], [31, 21], [32]]


def test_without_walks_nothing_is_read():
    assert answered([], lambda points: 1 / 0) == []
