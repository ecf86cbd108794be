"""Inputs as large as an object may be that the API server takes, grown from a target's seeds: tools/fuzz writes them into
build/fuzz, so that none of them is kept in the repository.

A seed that is JSON grows in one place at a time: an object gets made-up keys, a list its first element again and again, a
text more letters, and any value can be nested deeper than any user needs. Other seeds are repeated, or their longest word
is made longer.
"""
import itertools
import json
import re

# The maximum of one etcd request.
LARGEST = 1_500_000
DEEPEST = 100_000
# At most this many inputs per seed, spread over the places where it can grow.
MOST_OF_A_SEED = 12


def _places(value, path=()):
    """Paths to all values, the containers before what is in them."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from _places(value[index], (*path, index))


def _at(value, path):
    for step in path:
        value = value[step]
    return value


def _with(value, path, new):
    """A copy in which `new` stands at the path."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy


def _wide(value, room):
    """The value itself with more in it, about `room` bytes; None where it has nothing to grow by."""
    if isinstance(value, dict):
        each = next(iter(value.values()), "1")
        size = len(json.dumps(each)) + 16
        return {**value, **{f"x.io/r{i}": each for i in range(max(1, room // size))}}
    if isinstance(value, list) and value:
        return value + [value[0]] * max(1, room // (len(json.dumps(value[0])) + 2))
    if isinstance(value, str):
        return value + "x" * room
    return None


def _grown_json(seed, size):
    value = json.loads(seed)
    room = size - len(seed) - 64
    marker = "@here@"
    for path in _places(value):
        wide = _wide(_at(value, path), room)
        if wide is not None:
            yield json.dumps(_with(value, path, wide), separators=(",", ":")).encode()
        # json.dumps would recurse to the same depth.
        text = json.dumps(_with(value, path, marker), separators=(",", ":"))
        for opens, closes in (("[", "]"), ('{"a":', "}")):
            depth = min(DEEPEST, room // (len(opens) + len(closes)))
            yield text.replace(json.dumps(marker), opens * depth + "0" + closes * depth, 1).encode()


def _grown_text(seed, size):
    yield (seed + b"\n") * max(1, size // (len(seed) + 1))
    yield (seed + b",") * max(1, size // (len(seed) + 1))
    longest = max(re.findall(rb"\w+", seed), key=len, default=b"x")
    yield seed.replace(longest, longest * max(1, (size - len(seed)) // len(longest)), 1)
    for opens in (b"[", b"{", b"- ", b"("):
        yield seed + b"\n" + opens * min(DEEPEST, (size - len(seed) - 1) // len(opens))


def grow(seed, size=LARGEST):
    """Large inputs of one seed, none of them longer than `size` by more than a little."""
    try:
        grown = list(_grown_json(seed, size))
    except (ValueError, RecursionError):
        grown = list(_grown_text(seed, size))
    step = max(1, -(-len(grown) // MOST_OF_A_SEED))
    return list(itertools.islice((each[:size] for each in grown), 0, None, step))
