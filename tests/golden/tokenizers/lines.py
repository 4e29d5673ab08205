"""The lines that tokenizers are compared on, as tests/text/tokenizer_lines.h makes them too."""

import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
MASK = 2**64 - 1
COUNT = 24000
FRAGMENTS = (HERE / "fragments.txt").read_bytes().split(b"\n")[:-1]
# First and last code point of blocks that lines take single ones from.
BLOCKS = [
    (0x00, 0x7F), (0x80, 0xFF), (0x100, 0x24F), (0x250, 0x36F), (0x370, 0x52F), (0x530, 0x6FF),
    (0x700, 0x8FF), (0x900, 0xDFF), (0xE00, 0x109F), (0x10A0, 0x139F), (0x1400, 0x1AFF),
    (0x1B00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x2BFF), (0x2C00, 0x2FFF), (0x3000, 0x33FF),
    (0x3400, 0x9FFF), (0xA000, 0xABFF), (0xAC00, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x107FF),
    (0x10800, 0x11FFF), (0x12000, 0x1BFFF), (0x1C000, 0x1EFFF), (0x1F000, 0x1FBFF),
    (0x20000, 0x323AF), (0xE0000, 0xE01FF), (0x10000, 0x10FFFF),
]
SPACES = [b" ", b"  ", b"\n", b"\t", b"\r\n", b"\n\n\n", b"    ", b" \n ", b"\xc2\xa0", b"\xe3\x80\x80"]


def mix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


class Dice:
    def __init__(self, stream):
        self.key = mix64(mix64(2017) ^ stream)
        self.count = 0

    def below(self, bound):
        bits = mix64(self.key ^ mix64(self.count))
        self.count += 1
        return int((bits >> 11) * 2.0**-53 * bound)


def encoded(value):
    """UTF-8 of a code point, and for surrogates what it would be."""
    if value < 0x80:
        return bytes([value])
    if value < 0x800:
        return bytes([0xC0 | value >> 6, 0x80 | value & 63])
    if value < 0x10000:
        return bytes([0xE0 | value >> 12, 0x80 | value >> 6 & 63, 0x80 | value & 63])
    return bytes([0xF0 | value >> 18, 0x80 | value >> 12 & 63, 0x80 | value >> 6 & 63, 0x80 | value & 63])


def code_point(dice):
    first, last = BLOCKS[dice.below(len(BLOCKS))]
    return encoded(first + dice.below(last - first + 1))


def part_of_fragment(dice):
    words = FRAGMENTS[dice.below(len(FRAGMENTS))].split(b" ")
    begin = dice.below(len(words))
    return b" ".join(words[begin : begin + 1 + dice.below(4)])


def item(dice):
    kind = dice.below(16)
    if kind < 6:
        return part_of_fragment(dice)
    if kind < 9:
        return SPACES[dice.below(len(SPACES))]
    if kind < 11:
        return code_point(dice)
    if kind == 11:
        return code_point(dice) * (1 + dice.below(6))
    if kind == 12:
        return bytes(dice.below(256) for _ in range(1 + dice.below(5)))
    if kind == 13:
        return bytes(0x21 + dice.below(94) for _ in range(1 + dice.below(8)))
    if kind == 14:
        return bytes(0x30 + dice.below(10) for _ in range(1 + dice.below(9)))
    return b"".join(code_point(dice) for _ in range(2 + dice.below(4)))


def line(number):
    dice = Dice(number)
    return b"".join(item(dice) for _ in range(1 + dice.below(7)))


def hash_of(data, state=0xCBF29CE484222325):
    for byte in data:
        state = ((state ^ byte) * 0x100000001B3) & MASK
    return state


def packed(ids):
    return struct.pack(f"<{len(ids)}i", *ids)
