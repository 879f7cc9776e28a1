# SPDX-License-Identifier: Apache-2.0
"""Every operation in numpy, vectorised over tokens: an example of a port, and a subject to test.

    kvexact verify --backend "exec:python -m kvexact.numpy_port"
"""

from __future__ import annotations

import numpy as np

F32 = np.float32
FP8_FLOOR = F32(1e-4)
FP4_FLOOR = F32(6.0 * 2.0**-126)


# ---- formats ----


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(F32)


def to_bf16(x):
    """Nearest even; NaN is 0x7FFF."""
    bits = np.ascontiguousarray(x, F32).view(np.uint32)
    rounded = ((bits + np.uint32(0x7FFF) + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FFF), rounded)


def as_f32(x):
    return from_bf16(x) if x.dtype == np.uint16 else x


def round_bf16(x):
    return from_bf16(to_bf16(x))


# Magnitudes of the codes, ascending from 0.
_E4M3 = np.array([(m / 8 if e == 0 else 1 + m / 8) * 2.0 ** (max(e, 1) - 7) for e in range(16) for m in range(8)], F32)
_E4M3FN = _E4M3[:127]  # code 127 is NaN
_E4M3FNUZ = _E4M3 / 2
_E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], F32)


def nearest_code(x, magnitudes):
    """Index of the nearest magnitude, ties to the even index, saturating. x >= 0 and no NaN."""
    x = np.minimum(x, magnitudes[-1])
    middles = (magnitudes[1:] + magnitudes[:-1]) * F32(0.5)  # exact
    below = np.searchsorted(middles, x, side="left")  # middles < x
    tie = below < np.searchsorted(middles, x, side="right")
    return (below + (tie & (below % 2 == 1))).astype(np.uint8)


def encode(x, magnitudes, sign_bit, nan_code):
    nan = np.isnan(x)
    code = nearest_code(np.where(nan, F32(0), np.abs(x)), magnitudes)
    return np.where(nan, np.uint8(nan_code), code | (np.signbit(x).astype(np.uint8) * np.uint8(sign_bit)))


def scale_exponent(amax, largest):
    """Smallest e with amax <= largest * 2^e, in exact arithmetic; amax > 0 and finite."""
    mantissa, exponent = np.frexp(amax.astype(np.float64) / 1.0)
    top, shift = np.frexp(np.float64(largest))
    return exponent - shift + (mantissa > top)


def power(exponent):
    return np.ldexp(1.0, exponent).astype(F32)


# ---- stages ----


def live_tokens(case):
    """Token indices that reach the KV slot test, or that store scratch."""
    n = case.params["num_actual"]
    position = case.inputs["positions"][:n]
    tokens = np.flatnonzero(case.inputs["slot_mapping"][:n] >= 0)
    return tokens[(position[tokens] + 1) % case.params["compress_ratio"] == 0]


def stored(case, tokens):
    return tokens[case.inputs["kv_slot_mapping"][tokens] >= 0]


def compress(case, tokens):
    """Softmax-weighted mean of the window's rows, column by column: [tokens, head_dim]."""
    p = case.params
    head, ratio, overlap = p["head_dim"], p["compress_ratio"], int(p["overlap"])
    rows = np.arange(ratio * (1 + overlap))
    position = case.inputs["positions"][tokens][:, None] - len(rows) + 1 + rows
    seen = position >= 0
    position = np.where(seen, position, 0)
    request = case.inputs["token_to_req_indices"][tokens][:, None]
    table = case.inputs["block_table"]
    block = np.where(seen, table[np.where(seen, request, 0), position // p["block_size"]], 0).astype(np.int64)
    state = case.inputs["state_cache"]
    first = block * state.shape[1] + position % p["block_size"] * p["state_row_stride"] + (rows >= ratio) * head
    at = np.where(seen, first, 0)[:, :, None] + np.arange(head)
    flat = state.reshape(-1)
    if not flat.size:  # every window lies before position 0: nothing is ever read
        flat = np.zeros(p["state_width"] + head, F32)
    with np.errstate(all="ignore"):
        kv = np.where(seen[:, :, None], flat[at], F32(0))
        score = np.where(seen[:, :, None], flat[at + p["state_width"]], F32(-np.inf))
        weight = np.exp(score - np.fmax.reduce(score, axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True, dtype=F32)
        return (kv * weight).sum(axis=1, dtype=F32)


def rms_norm(case, x):
    with np.errstate(all="ignore"):
        mean = (x * x).sum(axis=1, keepdims=True, dtype=F32) / F32(x.shape[1])
        scale = F32(1) / np.sqrt(mean + F32(case.params["rms_norm_eps"]))
        return x * scale * as_f32(case.inputs["rms_norm_weight"])


def rotate(case, x, rows):
    """The last rope_head_dim columns of x, rotated by the table's rows; pairs are neighbours. x: [tokens, ..., columns]."""
    half = case.params["rope_head_dim"] // 2
    table = as_f32(case.inputs["cos_sin_cache"][rows])
    shape = (len(rows),) + (1,) * (x.ndim - 2) + (half,)
    cos, sin = table[:, :half].reshape(shape), table[:, half : 2 * half].reshape(shape)
    pairs = x[..., x.shape[-1] - 2 * half :]
    even, odd = pairs[..., 0::2], pairs[..., 1::2]
    turned = np.empty_like(pairs)
    with np.errstate(all="ignore"):
        turned[..., 0::2] = even * cos - odd * sin
        turned[..., 1::2] = odd * cos + even * sin
    return turned


def window_start(case, tokens):
    ratio = case.params["compress_ratio"]
    return case.inputs["positions"][tokens] // ratio * ratio


def quantise_fp8(x, block):
    """Codes and exponents of bf16-valued x: [tokens, columns] in blocks along the columns."""
    tiles = x.reshape(x.shape[0], x.shape[1] // block, block)
    amax = np.maximum(np.fmax.reduce(np.abs(tiles), axis=2), FP8_FLOOR)
    exponent = scale_exponent(np.where(np.isfinite(amax), amax, FP8_FLOOR), 448)
    with np.errstate(all="ignore"):
        codes = encode(tiles * power(-exponent)[:, :, None], _E4M3FN, 0x80, 0x7E)
    return codes.reshape(x.shape), exponent


def quantise_mxfp4(x):
    """Packed nibbles and UE8M0 bytes of bf16-valued x: [..., columns], 32 at a time."""
    tiles = x.reshape(*x.shape[:-1], x.shape[-1] // 32, 32)
    amax = np.maximum(np.fmax.reduce(np.abs(tiles), axis=-1), FP4_FLOOR)
    exponent = np.where(np.isfinite(amax), scale_exponent(np.where(np.isfinite(amax), amax, FP4_FLOOR), 6), 127)
    exponent = np.clip(exponent, -127, 127)
    with np.errstate(all="ignore"):
        scaled = tiles.astype(np.float64) * np.ldexp(1.0, -exponent)[..., None]
        codes = encode(scaled.astype(F32), _E2M1, 8, 7)
    packed = codes[..., 0::2] | codes[..., 1::2] << 4
    return packed.reshape(*x.shape[:-1], x.shape[-1] // 2), (exponent + 127).astype(np.uint8)


def scatter(case, tokens, columns):
    """Stores byte columns (offset in the page as a function of the token in it, bytes) of every token."""
    p = case.params
    cache = case.outputs["kv_cache"]
    slot = case.inputs["kv_slot_mapping"][tokens]
    page, token = slot // p["kv_cache_block_size"], slot % p["kv_cache_block_size"]
    for first, data in columns:
        at = first(token)[:, None] + np.arange(data.shape[1]) + p.get("kv_cache_base_offset", 0)
        cache[page[:, None], at] = data


def token_at(case, offset=0):
    stride = case.params["token_stride"]
    return lambda token: token * stride + offset


def scales_at(case):
    p = case.params
    return lambda token: p["kv_cache_block_size"] * p["token_stride"] + token * p["scale_dim"]


# ---- operations ----


def store_sparse(case, tokens, compressed):
    normed = rms_norm(case, compressed)
    nope = case.params["head_dim"] - case.params["rope_head_dim"]
    codes, exponent = quantise_fp8(round_bf16(normed[:, :nope]), case.params["quant_block"])
    scales = np.zeros((len(tokens), exponent.shape[1] + 1), np.uint8)
    scales[:, :-1] = exponent + 127
    rope = to_bf16(rotate(case, normed, window_start(case, tokens)))
    scatter(case, tokens, [(token_at(case), codes), (token_at(case, nope), rope.view(np.uint8)), (scales_at(case), scales)])


def rotated_head(case, tokens, compressed):
    normed = rms_norm(case, compressed)
    turned = rotate(case, normed, window_start(case, tokens))
    return round_bf16(np.concatenate([normed[:, : normed.shape[1] - turned.shape[1]], turned], axis=1))


def sparse_attn(case):
    tokens = stored(case, live_tokens(case))
    store_sparse(case, tokens, compress(case, tokens))


def two_stage(case):
    """The result does not depend on the path that a token takes."""
    sparse_attn(case)


def indexer_fp8(case):
    tokens = stored(case, live_tokens(case))
    codes, exponent = quantise_fp8(rotated_head(case, tokens, compress(case, tokens)), case.params["quant_block"])
    scatter(case, tokens, [(token_at(case), codes), (scales_at(case), power(exponent).view(np.uint8))])


def indexer_mxfp4(case):
    tokens = stored(case, live_tokens(case))
    packed, scales = quantise_mxfp4(rotated_head(case, tokens, compress(case, tokens)))
    scatter(case, tokens, [(token_at(case), packed), (scales_at(case), scales)])


def gather_split(case):
    tokens = live_tokens(case)
    case.outputs["scratch"][tokens, : case.params["head_dim"]] = compress(case, tokens)


def finalize(case):
    tokens = stored(case, live_tokens(case))
    store_sparse(case, tokens, case.inputs["scratch"][tokens, : case.params["head_dim"]])


def rotated_q(case):
    n = case.params["num_actual"]
    q = from_bf16(case.inputs["index_q"][:n])
    turned = round_bf16(rotate(case, q, case.inputs["positions"][:n]))
    return np.concatenate([q[..., : q.shape[-1] - turned.shape[-1]], turned], axis=-1)


def fold(case, weights):
    with np.errstate(all="ignore"):
        return weights * F32(case.params["softmax_scale"]) * F32(case.params["head_scale"])


def indexer_q_fp8(case):
    n = case.params["num_actual"]
    fnuz = case.param("q_fnuz", False)
    x = rotated_q(case)
    amax = np.maximum(np.fmax.reduce(np.abs(x), axis=-1), FP8_FLOOR)
    finite = np.isfinite(amax)
    exponent = scale_exponent(np.where(finite, amax, FP8_FLOOR), 224 if fnuz else 448)
    scale = np.where(finite, power(exponent), F32(np.inf))
    with np.errstate(all="ignore"):
        scaled = x / scale[..., None]
        if fnuz:
            codes = encode(scaled, _E4M3FNUZ, 0x80, 0x80)
            codes = np.where((codes == 0x80) & ~np.isnan(scaled), np.uint8(0), codes)
        else:
            codes = encode(scaled, _E4M3FN, 0x80, 0x7F)
        weights = as_f32(case.inputs["index_weights"][:n]) * scale
    case.outputs["q_fp8"][:n] = codes
    case.outputs["weights_out"][:n] = fold(case, weights)


def indexer_q_mxfp4(case):
    n = case.params["num_actual"]
    packed, scales = quantise_mxfp4(rotated_q(case))
    case.outputs["q_packed"][:n] = packed
    case.outputs["q_scale"][:n] = scales
    weights = fold(case, as_f32(case.inputs["index_weights"][:n]))
    out = case.outputs["weights_out"]
    out[:n] = to_bf16(weights) if out.dtype == np.uint16 else weights


RUN = {
    function.__name__: function
    for function in (
        sparse_attn,
        indexer_fp8,
        indexer_mxfp4,
        two_stage,
        gather_split,
        finalize,
        indexer_q_fp8,
        indexer_q_mxfp4,
    )
}


def run(case):
    RUN[case.op](case)


if __name__ == "__main__":
    from kvexact.serving import serve

    serve(run, operations=RUN, name="numpy", version=np.__version__, device="CPU")
