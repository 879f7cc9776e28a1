# SPDX-License-Identifier: Apache-2.0
"""The tables in golden/vectors: reading, and checking the hand-derived rows against exact arithmetic."""
import math
from pathlib import Path

from derive import exact

VECTORS = Path(__file__).resolve().parent.parent / "vectors"


def rows(name):
    """Rows of a table as lists of stripped columns; '#' lines are comments."""
    for line in (VECTORS / name).read_text().splitlines():
        if line and not line.startswith("#"):
            yield [column.strip() for column in line.split("|")]


class Block:
    """A row of blocks.txt."""

    def __init__(self, kind, name, exponent, items, derivation):
        words = kind.split()
        self.kind, self.fp32_only = words[0], "fp32" in words
        self.name, self.exponent, self.derivation = name, int(exponent), derivation
        pairs = [item.split("=") for item in items.split()]
        self.values = [exact.parse(value) for value, _ in pairs]
        self.codes = [int(code, 16) for _, code in pairs]

    def padded(self, length):
        """Values and codes, filled up with +0."""
        fill = length - len(self.values)
        assert fill >= 0, self.name
        return self.values + [0.0] * fill, self.codes + [0] * fill


def blocks(kind):
    return [block for block in (Block(*row) for row in rows("blocks.txt")) if block.kind == kind]


def block(kind, name):
    return next(b for b in blocks(kind) if b.name == name)


def check():
    """Asserts that every hand-derived row of formats.txt and blocks.txt agrees with exact arithmetic."""
    nan = {"e4m3fn": 0x7F, "e4m3fnuz": 0x80, "e2m1": 7}
    grids = {"e4m3fn": exact.E4M3FN, "e4m3fnuz": exact.E4M3FNUZ, "e2m1": exact.E2M1}
    for format_name, name, value, code, _ in rows("formats.txt"):
        x, code = exact.parse(value), int(code, 16)
        if format_name == "bf16":
            expected = exact.bf16_bits(x)
        elif format_name == "ue8m0":
            expected = 0xFF if math.isnan(x) else exact.smallest_exponent(x, 1) + 127
        else:
            expected = exact.encode(grids[format_name], x, nan[format_name])
        assert code == expected, f"formats.txt: {format_name} {name}: {code:X}, exact arithmetic gives {expected:X}"
    for kind_name, kind in exact.KINDS.items():
        for row in blocks(kind_name):
            values = [exact.bf16_value(exact.bf16_bits(v)) for v in row.values]
            assert row.fp32_only == any(v != w for v, w in zip(values, row.values)), f"blocks.txt: {row.name}: fp32?"
            exponent = kind.exponent(values)
            assert row.exponent == exponent, f"blocks.txt: {kind_name} {row.name}: e = {exponent}"
            codes = kind.codes(values, exponent)
            assert row.codes == codes, f"blocks.txt: {kind_name} {row.name}: {[hex(c) for c in codes]}"
