# SPDX-License-Identifier: Apache-2.0
"""One small launch of each operation in which every byte follows by hand.

One row of a token's window has score 5, the others -295: their weights e^-300 are zero in fp32 and the column is that
row's KV. |KV| = 2^20 everywhere, so the mean square is 2^40, eps = 1e-6 vanishes beside it, rrms = 2^-20 and the normed
value is the weight with the KV's sign. The weights are blocks of blocks.txt. Cosine and sine are 1 and 0, or 0 and 1.
"""
import math

from derive import exact, tables
from derive.case_file import Tensor, before_of, pattern, serialise
from derive.compress import (GARBAGE, PLACEMENTS, TAIL, Cache, State, Token, gather_params, rotations, store_params,
                             token_bytes, token_tensors)

KV = 2.0**20


class Column:
    """A block's values by column, and the code of each magnitude."""

    def __init__(self, kind, names, length):
        self.values, self.codes, self.sign = [], {}, {"mxfp4": 8, "bf16": 0x8000}.get(kind, 0x80)
        exponents = set()
        for name in names:
            block = tables.block(kind, name)
            exponents.add(block.exponent)
            self.values += block.values
            for value, code in zip(block.values, block.codes):
                self.codes[abs(value)] = code & (self.sign - 1)
        assert len(exponents) == 1, "blocks that share a scale have one exponent"
        self.exponent = exponents.pop()
        self.values += [0.0] * (length - len(self.values))
        self.codes[0.0] = 0

    def stored(self, values):
        return [self.codes[abs(v)] | (self.sign if math.copysign(1, v) < 0 else 0) for v in values]


SPARSE = [Column("fp8", [name], 64) for name in ("top_octave", "ties", "subnormal_codes", "just_above_448", "zero_block",
                                                 "bf16_down_to_448", "below_floor")]
ROPE = Column("bf16", ["rope_values", "rope_rounded"], 64)
FP8_NOPE = ["ties", "subnormal_codes", "rounded_twice"]
FP8_ROPE = ["top_octave", "beside_ties", "bf16_down_to_448"]
MXFP4 = [Column("mxfp4", [name], 32) for name in ("every_value", "ties", "above_ties", "just_above_six")]


def rotated(values, cosine, sine):
    """Pairs turned by a quarter or not at all: every product is exact, so doubles give the fp32 result, signs of zero too."""
    result = []
    for even, odd in zip(values[::2], values[1::2]):
        result += [even * cosine + -(odd * sine), odd * cosine + even * sine]
    return result


def weights(op):
    if op == "indexer_fp8":
        return Column("fp8", FP8_NOPE, 64).values + Column("fp8", FP8_ROPE, 64).values
    columns = MXFP4 if op == "indexer_mxfp4" else SPARSE + [ROPE]
    return [v for column in columns for v in column.values]


def stored(op, signs, cosine, sine):
    """(value bytes, scale bytes) of a token whose KV has these signs."""
    normed = [w * s for w, s in zip(weights(op), signs)]
    # At head 128 the columns that are not rotated go through a rotation with cosine 1 and sine 0: -0 becomes +0.
    values = rotated(normed[:64], 1.0, 0.0) + rotated(normed[64:], cosine, sine)
    if op == "indexer_fp8":
        both = Column("fp8", FP8_NOPE + FP8_ROPE, 0)
        return token_bytes(op, both.stored(values), [both.exponent])
    if op == "indexer_mxfp4":
        codes = [c for b, block in enumerate(MXFP4) for c in block.stored(values[32 * b : 32 * b + 32])]
        return token_bytes(op, codes, [block.exponent for block in MXFP4])
    codes = [c for b, block in enumerate(SPARSE) for c in block.stored(normed[64 * b : 64 * b + 64])]
    rope = ROPE.stored(rotated(normed[448:], cosine, sine))
    return token_bytes(op, codes, [block.exponent for block in SPARSE], rope)


def window(state, token, head, ratio, overlap, dominant, signs):
    """Writes the window of a token: row `dominant` decides."""
    rows = ratio * (2 if overlap else 1)
    for r in range(rows):
        position = token.position - rows + 1 + r
        if position < 0:
            assert r != dominant
            continue
        column = head if r >= ratio else 0
        if r == dominant:
            state.write(token.req, position, column, [KV * s for s in signs], [5.0] * head)
        else:
            state.write(token.req, position, column, [float(3 * r + 1)] * head, [-295.0] * head)


def plus(head):
    return [1.0] * head


def alternating(head):
    """Negative in odd columns."""
    return [1.0, -1.0] * (head // 2)


def single_pass(op, offsets, page_stride, page_tokens, first_slot):
    """Ratio 4 with overlap. `offsets`: where the values and scales of the two stored tokens lie, counted by hand:
    (page, values, scales) of the KV slots `first_slot` and 0."""
    head = PLACEMENTS[op].head
    cache = Cache(op, 3, page_tokens, page_stride)
    state = State(2 * head, 4, row_pad=4)
    # The first window reaches back before position 0: its rows 0 to 3 do not exist.
    first, second = Token(3, 0, 5, first_slot), Token(11, 1, 9, 0)
    window(state, first, head, 4, True, dominant=6, signs=plus(head))
    window(state, second, head, 4, True, dominant=1, signs=alternating(head))
    for (page, at, scales_at), (values, scale_bytes) in zip(
            offsets, [stored(op, plus(head), 1.0, 0.0), stored(op, alternating(head), 0.0, 1.0)]):
        cache.expect(page, at, values)
        cache.expect(page, scales_at, scale_bytes)
    tokens = [first, Token(4, 2**30, 3, 2**40), GARBAGE, second, Token(7, 2**30, 2, -1), TAIL]
    params = gather_params(op, 4, True, state, 5) | store_params(op, cache, 1e-6)
    tensors = state.tensors() | token_tensors(tokens) | cache.tensors()
    tensors["rms_norm_weight"] = Tensor("F32", [head], weights(op))
    # Rows of the compressed positions 3 / 4 * 4 and 11 / 4 * 4.
    tensors["cos_sin_cache"] = rotations({0: (1.0, 0.0), 8: (0.0, 1.0)})
    return serialise(op, params, tensors)


def two_stage():
    """Ratio 2 without overlap; two decode tokens, then prefill."""
    op, head = "two_stage", 512
    cache, state = Cache(op, 3, 2, 1728), State(head, 2)
    decode, prefill, last = Token(1, 0, 5, 3), Token(5, 1, 9, 0), Token(7, 1, 1, 4)
    # Without a KV slot, but its window is read: the first stage fills scratch.
    gathered = Token(9, 1, 2, -1)
    window(state, decode, head, 2, False, dominant=1, signs=plus(head))
    window(state, prefill, head, 2, False, dominant=0, signs=alternating(head))
    window(state, last, head, 2, False, dominant=1, signs=alternating(head))
    window(state, gathered, head, 2, False, dominant=0, signs=plus(head))
    # Slot 3: page 1, token 1; slot 0: page 0, token 0; slot 4: page 2, token 0. Scales lie behind 2 * 576 bytes.
    for page, at, scales_at, data in ((1, 576, 1160, stored(op, plus(head), 1.0, 0.0)),
                                      (0, 0, 1152, stored(op, alternating(head), 0.0, 1.0)),
                                      (2, 0, 1152, stored(op, alternating(head), 1.0, 0.0))):
        cache.expect(page, at, data[0])
        cache.expect(page, scales_at, data[1])
    tokens = [decode, Token(2, 2**30, 3, 2**40), GARBAGE, prefill, gathered, last, TAIL]
    params = gather_params(op, 2, False, state, 6) | store_params(op, cache, 1e-6) | {"num_decode_tokens": 2}
    tensors = state.tensors() | token_tensors(tokens) | cache.tensors()
    tensors["rms_norm_weight"] = Tensor("F32", [head], weights(op))
    tensors["cos_sin_cache"] = rotations({0: (1.0, 0.0), 4: (0.0, 1.0), 6: (1.0, 0.0)})
    return serialise(op, params, tensors)


def gather_split():
    """Ratio 2 without overlap: a row that decides, two rows of equal weight, and a row masked by -inf."""
    op, head = "gather_split", 512
    state = State(head, 2)
    tokens = [Token(1, 0, 5, 0), Token(2, 2**30, 3, 0), GARBAGE, Token(5, 1, 9, 0), Token(7, 1, 1, 0), TAIL]
    sevenths = [exact.f32((i - 255.5) / 7) for i in range(head)]
    state.write(0, 0, 0, [1.0] * head, [-295.0] * head)
    state.write(0, 1, 0, sevenths, [5.0] * head)
    state.write(1, 4, 0, [float(3 + i) for i in range(head)], [2.5] * head)
    state.write(1, 5, 0, [5.0] * head, [2.5] * head)
    state.write(1, 6, 0, sevenths, [-3.0] * head)
    state.write(1, 7, 0, [7.0] * head, [-exact.INF] * head)
    # The decisive row; the mean of 3 + i and 5; the row that is not masked.
    rows = {0: sevenths, 3: [4 + i / 2 for i in range(head)], 4: sevenths}
    after = pattern(4 * head * len(tokens))
    written = bytearray(len(after))
    for row, values in rows.items():
        after[4 * head * row : 4 * head * (row + 1)] = Tensor("F32", [head], values).data
        written[4 * head * row : 4 * head * (row + 1)] = b"\1" * (4 * head)
    params = gather_params(op, 2, False, state, 5) | {"num_splits": 4}
    tensors = state.tensors() | token_tensors(tokens, kv_slots=False)
    tensors["scratch_before"] = Tensor("F32", [len(tokens), head], before_of(after, written))
    tensors["scratch_after"] = Tensor("F32", [len(tokens), head], after)
    return serialise(op, params, tensors)


def finalize():
    """Scratch rows of +-2^20; the rows of skipped tokens are NaN."""
    op, head = "finalize", 512
    cache = Cache(op, 3, 2, 1728)
    tokens = [Token(3, 0, 5, 3), Token(4, 0, 3, 2**40), GARBAGE, Token(11, 0, 9, 0), Token(7, 0, 2, -1), TAIL]
    rows = {0: plus(head), 3: alternating(head)}
    scratch = [KV * s for t in range(len(tokens)) for s in rows.get(t, [exact.NAN] * head)]
    for page, at, scales_at, data in ((1, 576, 1160, stored(op, plus(head), 1.0, 0.0)),
                                      (0, 0, 1152, stored(op, alternating(head), 0.0, 1.0))):
        cache.expect(page, at, data[0])
        cache.expect(page, scales_at, data[1])
    params = store_params(op, cache, 1e-6) | {"compress_ratio": 4, "num_actual": 5}
    tensors = token_tensors(tokens, requests=False) | cache.tensors()
    tensors["scratch"] = Tensor("F32", [len(tokens), head], scratch)
    tensors["rms_norm_weight"] = Tensor("F32", [head], weights(op))
    tensors["cos_sin_cache"] = rotations({0: (1.0, 0.0), 8: (0.0, 1.0)})
    return serialise(op, params, tensors)


def indexer_q(op, fnuz=False, weights_bf16=False):
    """Two live tokens of two heads (all positive; negative in odd columns) and an inert one."""
    fp4 = op == "indexer_q_mxfp4"
    if fp4:
        blocks = MXFP4
    elif fnuz:
        blocks = [Column("fnuz", ["top_octave", "ties"], 128)]
    else:
        blocks = [Column("fp8", ["top_octave", "every_octave", "ties", "subnormal_codes", "beside_ties"], 128)]
        # Values in both halves of the head.
        blocks[0].values = blocks[0].values[64:] + blocks[0].values[:64]
    values = [v for block in blocks for v in block.values]
    turns, heads = [(1.0, 0.0), (0.0, 1.0)], [plus(128), alternating(128)]
    inputs, codes, scale_bytes = [], bytearray(), bytearray()
    for cosine, sine in turns:
        for signs in heads:
            x = [v * s for v, s in zip(values, signs)]
            inputs += x
            turned = x[:64] + rotated(x[64:], cosine, sine)
            if fp4:
                data = [c for b, block in enumerate(blocks) for c in block.stored(turned[32 * b : 32 * b + 32])]
                packed, scales = token_bytes("indexer_mxfp4", data, [block.exponent for block in blocks])
                codes += packed
                scale_bytes += scales
            elif fnuz:
                codes += bytes(0 if c == 0x80 else c for c in blocks[0].stored(turned))
            else:
                codes += bytes(blocks[0].stored(turned))
    inputs += [exact.NAN] * 256
    # Weights 3, -0.5, 1, 0 times softmax_scale 1.00390625 and head_scale 0.5; scales of the FP8 blocks are 2^0.
    tensors = {
        "positions": Tensor("I64", [3], [6, 1, 2**40]),
        "index_q": Tensor("BF16", [3, 2, 128], inputs),
        "cos_sin_cache": rotations({6: turns[0], 1: turns[1]}),
        "index_weights": Tensor("BF16", [3, 2], [3.0, -0.5, 1.0, 0.0, exact.NAN, exact.NAN]),
    }
    # fp32 products: 1.505859375, -0.2509765625, 0.501953125, 0. To bf16: 1.5 + 0.75 * 2^-7 is nearer to 1.5078125;
    # -(0.25 + 0.5 * 2^-9) and 0.5 + 0.5 * 2^-8 are ties and go to the even -0.25 and 0.5.
    folded = [1.5078125, -0.25, 0.5, 0.0] if weights_bf16 else [1.505859375, -0.2509765625, 0.501953125, 0.0]
    outputs = {"weights_out": ("BF16" if weights_bf16 else "F32", [2], folded)}
    if fp4:
        outputs |= {"q_packed": ("U8", [2, 64], codes), "q_scale": ("U8", [2, 4], scale_bytes)}
    else:
        outputs["q_fp8"] = ("U8", [2, 128], codes)
    for name, (dtype, shape, data) in outputs.items():
        live = Tensor(dtype, [2] + shape, data).data
        after = live + pattern(len(live) // 2)
        tensors[f"{name}_after"] = Tensor(dtype, [3] + shape, after)
        tensors[f"{name}_before"] = Tensor(dtype, [3] + shape,
                                           before_of(after, b"\1" * len(live) + b"\0" * (len(live) // 2)))
    params = {"head_dim": 128, "rope_head_dim": 64, "softmax_scale": 1.00390625, "head_scale": 0.5, "num_actual": 2}
    if fnuz:
        params["q_fnuz"] = True
    return serialise(op, params, tensors)


def cases():
    """(name, file bytes) of every case."""
    # Pages of two tokens, 2 * 576 + 2 * 8 = 1168 bytes of 1728. Slot 3: page 1, token 1.
    yield "driven_sparse_attn", single_pass("sparse_attn", [(1, 576, 1160), (0, 0, 1152)], 1728, 2, 3)
    # Pages of three tokens, 3 * 128 + 3 * 4 = 396 bytes of 576. Slot 4: page 1, token 1.
    yield "driven_indexer_fp8", single_pass("indexer_fp8", [(1, 128, 388), (0, 0, 384)], 576, 3, 4)
    # Pages of three tokens, 3 * 64 + 3 * 4 = 204 bytes of 576. Slot 4: page 1, token 1.
    yield "driven_indexer_mxfp4", single_pass("indexer_mxfp4", [(1, 64, 196), (0, 0, 192)], 576, 3, 4)
    yield "driven_two_stage", two_stage()
    yield "driven_gather_split", gather_split()
    yield "driven_finalize", finalize()
    yield "driven_indexer_q_fp8", indexer_q("indexer_q_fp8")
    yield "driven_indexer_q_fp8_fnuz", indexer_q("indexer_q_fp8", fnuz=True)
    yield "driven_indexer_q_mxfp4", indexer_q("indexer_q_mxfp4")
    yield "driven_indexer_q_mxfp4_bf16", indexer_q("indexer_q_mxfp4", weights_bf16=True)
