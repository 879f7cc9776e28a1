# SPDX-License-Identifier: Apache-2.0
"""A complete backend in Python: the indexer's Q to MXFP4. Put your kernel in place of quantise."""

import numpy as np

import kvexact


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_bf16(x):
    """Nearest even."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def quantise(x):
    """x: [tokens, heads, 128], values of bfloat16. Returns packed codes and UE8M0 scales, 32 elements a scale."""
    tiles = x.reshape(*x.shape[:2], 4, 32)
    amax = np.maximum(np.abs(tiles).max(axis=-1), 6 * 2.0**-126)
    fraction, exponent = np.frexp(amax / 6)  # fraction in [0.5, 1)
    exponent -= fraction == 0.5
    scaled = np.abs(tiles / np.ldexp(1.0, exponent)[..., None])
    code = sum((scaled > edge) if even else (scaled >= edge) for edge, even in
               ((0.25, 1), (0.75, 0), (1.25, 1), (1.75, 0), (2.5, 1), (3.5, 0), (5.0, 1)))  # fmt: skip
    code = code.astype(np.uint8) | np.signbit(tiles) * np.uint8(8)
    packed = code[..., 0::2] | code[..., 1::2] << 4
    return packed.reshape(*x.shape[:2], 64), (exponent + 127).astype(np.uint8)


def run(case):
    p, n = case.params, case.params["num_actual"]
    if case.inputs["cos_sin_cache"].dtype != np.float32:
        raise kvexact.Unsupported("only an fp32 cos/sin table")
    half = p["rope_head_dim"] // 2
    table = case.inputs["cos_sin_cache"][case.inputs["positions"][:n], None, :]
    cos, sin = table[..., :half], table[..., half : 2 * half]
    x = from_bf16(case.inputs["index_q"][:n])
    even, odd = x[..., -2 * half :: 2].copy(), x[..., 1 - 2 * half :: 2].copy()
    x[..., -2 * half :: 2] = from_bf16(to_bf16(even * cos - odd * sin))
    x[..., 1 - 2 * half :: 2] = from_bf16(to_bf16(odd * cos + even * sin))
    case.outputs["q_packed"][:n], case.outputs["q_scale"][:n] = quantise(x)

    weights = case.inputs["index_weights"][:n]
    weights = from_bf16(weights) if weights.dtype == np.uint16 else weights
    folded = weights * np.float32(p["softmax_scale"]) * np.float32(p["head_scale"])
    out = case.outputs["weights_out"]
    out[:n] = to_bf16(folded) if out.dtype == np.uint16 else folded


np.seterr(all="ignore")
kvexact.serve(run, operations=["indexer_q_mxfp4"], name="python-example", device="CPU")
