# SPDX-License-Identifier: Apache-2.0
"""Rows of blocks.txt and scales.txt as launches of the operations.

How a chosen value reaches the quantiser unchanged, whatever the order of the sums:

  by eps   ratio 1, so a column is its only row. eps = 2^100 and KV so small that the mean square is below half an ulp of
           it: rrms = 2^-50. With weights 2^j the normed value is KV * 2^(j - 50).
  one hot  ratio 1; `on` columns of a token hold KV = 2^20, the others 0: the mean square is on * 2^40 / head, a power of
           four, eps vanishes beside it, and the normed value is weight * sqrt(head / on) in those columns, 0 elsewhere.
  Q        values are inputs; cos = 1 and sin = 0.
"""
import math
from collections import namedtuple

from derive import exact, scales, tables
from derive.case_file import Tensor, serialise
from derive.compress import (PLACEMENTS, Cache, State, Token, gather_params, rotations, store_params, token_bytes,
                             token_tensors)

# What one block of a launch is given and must store.
Item = namedtuple("Item", "values codes exponent")


def block_items(kind, length, keep):
    return [Item(*b.padded(length), b.exponent) for b in tables.blocks(kind) if keep(b)]


def scale_items(kind, length, keep):
    """One item a row: the absmax first, then zeros."""
    rows = [row for row in scales.table(kind) if keep(row)]
    return [Item([row.amax] + [0.0] * (length - 1), [row.code] + [0] * (length - 1), row.exponent) for row in rows]


def grouped(items, size, zero):
    """Items in groups of `size`, the last filled up with the block of zeros."""
    items = items + [zero] * (-len(items) % size)
    return [items[i : i + size] for i in range(0, len(items), size)]


def zero_item(kind, length):
    return Item(*tables.block(kind, "zero_block").padded(length), tables.block(kind, "zero_block").exponent)


def launch(op, kv_rows, weights, eps, stored):
    """A launch of one token a request at position 0; token t goes to KV slot tokens - 1 - t."""
    count, head = len(kv_rows), PLACEMENTS[op].head
    page_tokens = 8
    used = page_tokens * (PLACEMENTS[op].token_stride + PLACEMENTS[op].scale_dim)
    cache = Cache(op, -(-count // page_tokens), page_tokens, -(-used // 576) * 576)
    state = State(head, 1)
    tokens = [Token(0, t, t, count - 1 - t) for t in range(count)]
    for token, kv, (values, scale_bytes) in zip(tokens, kv_rows, stored):
        state.write(token.req, 0, 0, kv, [0.0] * head)
        cache.expect_token(token.kv_slot, values, scale_bytes)
    params = gather_params(op, 1, False, state, count) | store_params(op, cache, eps)
    tensors = state.tensors() | token_tensors(tokens) | cache.tensors()
    tensors["rms_norm_weight"] = Tensor("F32", [head], weights)
    tensors["cos_sin_cache"] = rotations({0: (1.0, 0.0)})
    return serialise(op, params, tensors)


def by_eps(op, tokens, log2_weights):
    """tokens: lists of items, one a block; log2_weights: j of each block."""
    place = PLACEMENTS[op]
    blocks = len(log2_weights)
    columns = blocks * place.quant_block
    pad = [0.0] * (place.head - columns)
    kv_rows, stored = [], []
    for items in tokens:
        kv = [math.ldexp(v, 50 - j) for item, j in zip(items, log2_weights) for v in item.values]
        assert all(v == 0 or 2.0**-70 < abs(v) < 2.0**37 for v in kv)
        kv_rows.append(kv + pad)
        codes = [code for item in items for code in item.codes]
        stored.append(token_bytes(op, codes, [item.exponent for item in items], [0] * 64))
    weights = [2.0**j for j in log2_weights for _ in range(place.quant_block)] + [1.0] * len(pad)
    return launch(op, kv_rows, weights, 2.0**100, stored)


def one_hot(op, tokens, on, gain):
    """tokens: lists of items of which the first value alone may not be zero, one item a block. Token t has its columns
    at places [t * w, t * w + w) of each block, w of them, of which the first carries the value."""
    place = PLACEMENTS[op]
    blocks = len(tokens[0])
    width = on // blocks
    assert place.head == on * gain * gain
    weights = [0.0] * place.head
    kv_rows, stored = [], []
    for t, items in enumerate(tokens):
        kv, codes = [0.0] * place.head, [0] * (blocks * place.quant_block)
        for b, item in enumerate(items):
            column = b * place.quant_block + t * width
            weights[column] = item.values[0] / gain
            kv[column : column + width] = [2.0**20] * width
            codes[column] = item.codes[0]
        # What is missing of the `on` columns is in RoPE columns, whose weight is zero.
        for column in range(blocks * place.quant_block, blocks * place.quant_block + on - blocks * width):
            kv[column] = 2.0**20
        kv_rows.append(kv)
        stored.append(token_bytes(op, codes, [item.exponent for item in items], [0] * 64))
    return launch(op, kv_rows, weights, 1e-6, stored)


def q(op, head_items, heads, fnuz=False):
    """head_items: the items of each head; one for FP8, four for MXFP4. Weights are 1, and so are both scales."""
    fp4 = op == "indexer_q_mxfp4"
    zero = [Item([0.0], [0], -126)] * 4 if fp4 else [Item([0.0], [0], -21 if fnuz else -22)]
    head_items = head_items + [zero] * (-len(head_items) % heads)
    tokens = len(head_items) // heads
    values, codes, scale_bytes, weights = [], bytearray(), bytearray(), []
    for items in head_items:
        length = 128 // len(items)
        for item in items:
            fill = length - len(item.values)
            values += item.values + [0.0] * fill
            stored = item.codes + [0] * fill
            if fp4:
                codes += bytes(low | high << 4 for low, high in zip(stored[::2], stored[1::2]))
                scale_bytes.append(item.exponent + 127)
            else:
                codes += bytes(stored)
        weights.append(1.0 if fp4 else 2.0 ** items[0].exponent)
    shape = [tokens, heads]
    tensors = {
        "positions": Tensor("I64", [tokens], [2] * tokens),
        "index_q": Tensor("BF16", shape + [128], values),
        "cos_sin_cache": rotations({2: (1.0, 0.0)}),
        "index_weights": Tensor("F32", shape, [1.0] * len(weights)),
    }
    outputs = {"weights_out": Tensor("F32", shape, weights)}
    if fp4:
        outputs["q_packed"] = Tensor("U8", shape + [64], codes)
        outputs["q_scale"] = Tensor("U8", shape + [4], scale_bytes)
    else:
        outputs["q_fp8"] = Tensor("U8", shape + [128], codes)
    for name, after in outputs.items():
        tensors[f"{name}_after"] = after
        tensors[f"{name}_before"] = Tensor(after.dtype, after.shape, bytes(b ^ 0xFF for b in after.data))
    params = {"head_dim": 128, "rope_head_dim": 64, "softmax_scale": 1.0, "head_scale": 1.0, "num_actual": tokens}
    if fnuz:
        params["q_fnuz"] = True
    return serialise(op, params, tensors)


def eps_reaches(block):
    return all(v == 0 and math.copysign(1, v) > 0 or 2.0**-70 < abs(v) < 2.0**36 for v in block.values)


def cases():
    """(name, file bytes) of every case."""
    fp8 = lambda keep=eps_reaches, n=64: block_items("fp8", n, keep)
    mxfp4 = lambda keep: block_items("mxfp4", 32, keep)
    is_q = lambda b: not b.fp32_only

    yield "blocks_sparse_attn", by_eps("sparse_attn", grouped(fp8(), 7, zero_item("fp8", 64)), [50] * 7)
    yield "blocks_indexer_fp8", by_eps("indexer_fp8", [[item] for item in fp8(n=128)], [50])
    yield "blocks_indexer_mxfp4", by_eps("indexer_mxfp4", grouped(mxfp4(eps_reaches), 4, zero_item("mxfp4", 32)), [50] * 4)
    yield "blocks_indexer_q_fp8", q("indexer_q_fp8", [[item] for item in fp8(is_q)], 4)
    yield "blocks_indexer_q_fp8_fnuz", q("indexer_q_fp8", [[i] for i in block_items("fnuz", 64, is_q)], 4, fnuz=True)
    yield "blocks_indexer_q_mxfp4", q("indexer_q_mxfp4", grouped(mxfp4(is_q), 4, zero_item("mxfp4", 32)), 3)

    # The value below F * 2^k has the exponent of F * 2^k: it is left to the table where a case would be large.
    rows = scale_items("fp8", 64, lambda row: row.k >= -24 and row.which != "below")
    yield "scales_sparse_attn", one_hot("sparse_attn", grouped(rows, 7, zero_item("fp8", 64)), on=8, gain=8)
    rows = scale_items("fp8", 128, lambda row: -24 <= row.k <= 16 and row.which != "below")
    yield "scales_indexer_fp8", by_eps("indexer_fp8", [[row] for row in rows], [50])

    # Four bands of exponents, one a block, each with a weight that puts its largest value just below KV = 2^37.
    rows = scale_items("mxfp4", 32, lambda row: -128 <= row.k <= 110)
    rows += [zero_item("mxfp4", 32)] * (-len(rows) % 4)
    size = len(rows) // 4
    bands = [rows[i * size : (i + 1) * size] for i in range(4)]
    shifts = [max(math.frexp(item.values[0])[1] for item in band) + 13 for band in bands]
    yield "scales_indexer_mxfp4", by_eps("indexer_mxfp4", [list(items) for items in zip(*bands)], shifts)
    rows = scale_items("mxfp4", 32, lambda row: row.k > 110)
    yield "scales_indexer_mxfp4_top", one_hot("indexer_mxfp4", grouped(rows, 4, zero_item("mxfp4", 32)), on=8, gain=4)

    rows = scale_items("fp8", 128, lambda row: row.k >= -24 and row.which != "below")
    yield "scales_indexer_q_fp8", q("indexer_q_fp8", [[row] for row in rows], 8)
    rows = scale_items("fnuz", 128, lambda row: row.k >= -23 and row.which != "below")
    yield "scales_indexer_q_fp8_fnuz", q("indexer_q_fp8", [[row] for row in rows], 8, fnuz=True)
    rows = scale_items("mxfp4", 32, lambda row: True)
    yield "scales_indexer_q_mxfp4", q("indexer_q_mxfp4", grouped(rows, 4, zero_item("mxfp4", 32)), 5)
