# SPDX-License-Identifier: Apache-2.0
"""Number formats in exact arithmetic, written apart from the C++ reference: integers and fractions only."""
import math
import struct
from fractions import Fraction

NAN, INF = math.nan, math.inf


def parse(text):
    """A number of the tables: hexadecimal or decimal, inf, nan, with a sign."""
    return float(text) if text.lstrip("-") in ("nan", "inf") else float.fromhex(text) if "0x" in text else float(text)


def text(x):
    """The shortest hexadecimal form of a finite float."""
    mantissa, exponent = x.hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}p{exponent}"


def f32_bits(x):
    """Bits of a float that is an fp32 value; refuses one that is not."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    assert math.isnan(x) or value == x, f"{x.hex()} is not an fp32 value"
    return bits


def f32(x):
    """The fp32 value nearest to a float."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


class Grid:
    """Codes of a sign-magnitude format in ascending order of value: code c of the positive half has value `values[c]`."""

    def __init__(self, exponent_bits, mantissa_bits, bias, codes):
        self.values = []
        for code in range(codes):
            field, mantissa = code >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
            if field == 0:
                self.values.append(Fraction(mantissa, 1 << mantissa_bits) * Fraction(2) ** (1 - bias))
            else:
                self.values.append((1 + Fraction(mantissa, 1 << mantissa_bits)) * Fraction(2) ** (field - bias))
        self.bits = 1 + exponent_bits + mantissa_bits

    def nearest(self, magnitude):
        """The code nearest to a magnitude; ties go to the even code, values beyond the last code to it."""
        low, high = 0, len(self.values) - 1
        if magnitude >= self.values[high]:
            return high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.values[middle] <= magnitude else (low, middle)
        below, above = magnitude - self.values[low], self.values[high] - magnitude
        if below == above:
            return low if low % 2 == 0 else high
        return low if below < above else high


E4M3FN = Grid(4, 3, 7, 0x7F)
E4M3FNUZ = Grid(4, 3, 8, 0x80)
E2M1 = Grid(2, 1, 1, 8)
# Up to 2^128, so that what rounds beyond the largest value lands on the code of infinity.
BF16 = Grid(8, 7, 127, 0x7F81)


def encode(grid, x, nan):
    """The code of a float, saturating; `nan` for a NaN. Zero has a sign except where `nan` is that code."""
    if math.isnan(x):
        return nan
    sign = (1 << (grid.bits - 1)) if math.copysign(1, x) < 0 else 0
    code = len(grid.values) - 1 if math.isinf(x) else grid.nearest(abs(Fraction(x)))
    return 0 if sign | code == nan and code == 0 else sign | code


def bf16_bits(x):
    """bf16 of a float, nearest even."""
    return encode(BF16, x, 0x7FFF)


def bf16_value(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def is_bf16(x):
    return bf16_value(bf16_bits(x)) == x


def smallest_exponent(magnitude, divisor):
    """The smallest integer e with magnitude <= divisor * 2^e, by search."""
    magnitude, e = Fraction(magnitude), 0
    while magnitude > divisor * Fraction(2) ** e:
        e += 1
    while magnitude <= divisor * Fraction(2) ** (e - 1):
        e -= 1
    return e


class Kind:
    """A quantiser of the tables: code grid, divisor F, floor of the absmax, code of a NaN, elements a block."""

    def __init__(self, grid, divisor, floor, nan, block):
        self.grid, self.divisor, self.floor, self.nan, self.block = grid, divisor, Fraction(floor), nan, block

    def exponent(self, values):
        """Of the scale of a block of finite values."""
        return smallest_exponent(max([abs(Fraction(v)) for v in values] + [self.floor]), self.divisor)

    def codes(self, values, exponent):
        # Scaling by a power of two, in doubles: exact, since exponents stay far inside their range.
        return [encode(self.grid, math.ldexp(v, -exponent), self.nan) for v in values]


KINDS = {
    "fp8": Kind(E4M3FN, 448, f32(1e-4), 0x7F, 64),
    "fnuz": Kind(E4M3FNUZ, 224, f32(1e-4), 0x80, 64),
    "mxfp4": Kind(E2M1, 6, 6.0 * 2.0**-126, 7, 32),
}
