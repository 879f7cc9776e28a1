# SPDX-License-Identifier: Apache-2.0
"""NaN, infinities and overflow in a token's window, as NVIDIA's H200 treats them: each row of the table in README.md.

Compression: ratio 2 without overlap, both rows with score 0 and KV 2^20 in every column, weights 1, cosine 1, sine 0; so
the untouched token stores 1.0 everywhere. Each other token has one thing changed.
"""
import struct

from derive import exact
from derive.case_file import Tensor, before_of, serialise
from derive.compress import (PLACEMENTS, Cache, State, Token, gather_params, rotations, store_params, token_tensors)

NAN, INF, KV = exact.NAN, exact.INF, 2.0**20
# An odd column that is not rotated at head 512, and an even one that is; counted from the end where negative.
PLAIN, ROPE = 9, -62


def setters(kv, scores):
    """The changes, by name; kv and scores are the two rows of a window."""
    def put(rows, row, column, value):
        rows[row][column] = value

    def fill(value):
        for row in kv:
            row[:] = [value] * len(row)

    return {
        "untouched": lambda: None,
        "nan_score": lambda: put(scores, 0, PLAIN, NAN),
        "plus_inf_score": lambda: put(scores, 1, PLAIN, INF),
        "minus_inf_column": lambda: (put(scores, 0, PLAIN, -INF), put(scores, 1, PLAIN, -INF)),
        "minus_inf_in_one_row": lambda: put(scores, 0, PLAIN, -INF),
        "nan_kv": lambda: put(kv, 1, PLAIN, NAN),
        "inf_kv": lambda: put(kv, 0, PLAIN, INF),
        "minus_inf_kv": lambda: put(kv, 0, PLAIN, -INF),
        "inf_kv_rotated": lambda: put(kv, 1, ROPE, INF),
        "overflow": lambda: fill(2.0**66),
    }


NAMES = list(setters([], []))
ALL_NAN = ("nan_score", "plus_inf_score", "minus_inf_column", "nan_kv")
FINITE = ("untouched", "minus_inf_in_one_row")


def sparse_token(name):
    """Values and scales of a token of head 512."""
    if name in FINITE:
        # 448 * 2^-9 < 1 <= 448 * 2^-8: 256, field 15; 1.0 in bf16.
        return b"\x78" * 448 + b"\x80\x3f" * 64, b"\x77" * 7 + b"\0"
    if name in ALL_NAN:
        return b"\x7e" * 448 + b"\xff\x7f" * 64, b"\x69" * 7 + b"\0"
    # rrms = 0: zeros with the scale of the floor; 0 * infinity is a NaN.
    codes, rope = bytearray(448), bytearray(128)
    if name in ("inf_kv", "minus_inf_kv"):
        codes[9] = 0x7E
    if name == "inf_kv_rotated":
        # Column 450 is the even one of the second rotated pair, and a NaN reaches its partner.
        rope[4:8] = b"\xff\x7f\xff\x7f"
    return bytes(codes + rope), b"\x69" * 7 + b"\0"


def indexer_fp8_token(name):
    if name in FINITE:
        return b"\x78" * 128, struct.pack("<I", 0x3B800000)
    if name in ALL_NAN:
        return b"\x7e" * 128, struct.pack("<I", 0x34800000)
    codes = bytearray(128)
    if name in ("inf_kv", "minus_inf_kv"):
        # At head 128 every pair goes through the rotation: 8 is the partner of 9.
        codes[8] = codes[9] = 0x7E
    if name == "inf_kv_rotated":
        codes[66] = codes[67] = 0x7E
    return bytes(codes), struct.pack("<I", 0x34800000)


def indexer_mxfp4_token(name):
    if name in FINITE:
        # 6 * 2^-3 < 1 <= 6 * 2^-2: 4, code 6.
        return b"\x66" * 64, b"\x7d" * 4
    if name in ALL_NAN:
        return b"\x77" * 64, b"\x01" * 4
    packed = bytearray(64)
    if name in ("inf_kv", "minus_inf_kv"):
        packed[4] = 0x77
    if name == "inf_kv_rotated":
        packed[33] = 0x77
    return bytes(packed), b"\x01" * 4


STORED = {"sparse_attn": sparse_token, "two_stage": sparse_token, "indexer_fp8": indexer_fp8_token,
          "indexer_mxfp4": indexer_mxfp4_token}


def windows(head):
    """A state with one window for each change, at request t."""
    state = State(head, 2)
    tokens = []
    for t, name in enumerate(NAMES):
        kv, scores = [[KV] * head, [KV] * head], [[0.0] * head, [0.0] * head]
        setters(kv, scores)[name]()
        for position in range(2):
            state.write(t, position, 0, kv[position], scores[position])
        tokens.append(Token(1, t, t, t))
    return state, tokens


def store(op):
    head = PLACEMENTS[op].head
    state, tokens = windows(head)
    cache = Cache(op, 5, 2, 1728 if head == 512 else 576)
    for token, name in zip(tokens, NAMES):
        cache.expect_token(token.kv_slot, *STORED[op](name))
    params = gather_params(op, 2, False, state, len(tokens)) | store_params(op, cache, 1e-6)
    if op == "two_stage":
        params["num_decode_tokens"] = 5
    tensors = state.tensors() | token_tensors(tokens) | cache.tensors()
    tensors["rms_norm_weight"] = Tensor("F32", [head], [1.0] * head)
    tensors["cos_sin_cache"] = rotations({0: (1.0, 0.0)})
    return serialise(op, params, tensors)


def gather_split():
    """Before the norm only the column itself is touched."""
    op, head = "gather_split", 512
    state, tokens = windows(head)
    rows = []
    for name in NAMES:
        row = [2.0**66 if name == "overflow" else KV] * head
        if name in ALL_NAN:
            row[PLAIN] = NAN
        if name in ("inf_kv", "minus_inf_kv"):
            row[PLAIN] = INF if name == "inf_kv" else -INF
        if name == "inf_kv_rotated":
            row[ROPE] = INF
        rows += row
    # The model's NaN is 0x7FFFFFFF.
    after = b"".join(struct.pack("<I", 0x7FFFFFFF) if v != v else struct.pack("<f", v) for v in rows)
    tensors = state.tensors() | token_tensors(tokens, kv_slots=False)
    tensors["scratch_before"] = Tensor("F32", [len(tokens), head], before_of(after, b"\1" * len(after)))
    tensors["scratch_after"] = Tensor("F32", [len(tokens), head], after)
    return serialise(op, gather_params(op, 2, False, state, len(tokens)) | {"num_splits": 2}, tensors)


def finalize():
    """From scratch rows: plain, a NaN, an infinity, a rotated infinity, overflow."""
    op, head = "finalize", 512
    names = ("untouched", "nan_kv", "inf_kv", "inf_kv_rotated", "overflow")
    scratch = []
    for name in names:
        row = [2.0**66 if name == "overflow" else KV] * head
        if name != "untouched" and name != "overflow":
            row[ROPE if name == "inf_kv_rotated" else PLAIN] = NAN if name == "nan_kv" else INF
        scratch += row
    tokens = [Token(1, 0, t, t) for t in range(len(names))]
    cache = Cache(op, 3, 2, 1728)
    for token, name in zip(tokens, names):
        cache.expect_token(token.kv_slot, *sparse_token(name))
    params = store_params(op, cache, 1e-6) | {"compress_ratio": 2, "num_actual": len(tokens)}
    tensors = token_tensors(tokens, requests=False) | cache.tensors()
    tensors["scratch"] = Tensor("F32", [len(tokens), head], scratch)
    tensors["rms_norm_weight"] = Tensor("F32", [head], [1.0] * head)
    tensors["cos_sin_cache"] = rotations({0: (1.0, 0.0)})
    return serialise(op, params, tensors)


def q_heads(largest):
    """(changes by column, weight) of each head; columns 0 and 1 are `largest` and -1 unless changed, the others 0."""
    base = {0: largest, 1: -1.0}
    return [
        (base | {5: NAN}, 2.0),
        (base | {64: NAN}, 2.0),
        (base | {7: INF}, 2.0),
        (base | {7: -INF}, -2.0),
        (base | {66: INF}, 2.0),
        (dict.fromkeys(range(128), NAN), 1.0),
        (base | {7: INF}, 0.0),
        (base, NAN),
    ]


def q(op, heads, codes, scale_bytes, folded, fnuz=False):
    count = len(heads)
    values = [columns.get(c, 0.0) for columns, _ in heads for c in range(128)]
    tensors = {
        "positions": Tensor("I64", [1], [1]),
        "index_q": Tensor("BF16", [1, count, 128], values),
        "cos_sin_cache": rotations({1: (1.0, 0.0)}),
        "index_weights": Tensor("F32", [1, count], [weight for _, weight in heads]),
    }
    # The model's NaN is 0x7FFFFFFF.
    bits = b"".join(struct.pack("<I", 0x7FFFFFFF) if w != w else struct.pack("<f", w) for w in folded)
    outputs = {"weights_out": Tensor("F32", [1, count], bits)}
    if scale_bytes is None:
        outputs["q_fp8"] = Tensor("U8", [1, count, 128], codes)
    else:
        outputs["q_packed"] = Tensor("U8", [1, count, 64], codes)
        outputs["q_scale"] = Tensor("U8", [1, count, 4], scale_bytes)
    for name, after in outputs.items():
        tensors[f"{name}_after"] = after
        tensors[f"{name}_before"] = Tensor(after.dtype, after.shape, bytes(b ^ 0xFF for b in after.data))
    params = {"head_dim": 128, "rope_head_dim": 64, "softmax_scale": 1.0, "head_scale": 1.0, "num_actual": 1}
    if fnuz:
        params["q_fnuz"] = True
    return serialise(op, params, tensors)


def row(size, at):
    """`size` zero bytes but for those in `at`."""
    data = bytearray(size)
    for index, byte in at.items():
        data[index] = byte
    return bytes(data)


def q_fp8(fnuz):
    # Codes of F, of -1, of a negative value scaled to zero, of a NaN; exponent of the floor.
    largest, minus_one, minus_zero, nan, floor = (224.0, 0xC0, 0x00, 0x80, -21) if fnuz else (448.0, 0xB8, 0x80, 0x7F, -22)
    finite, scaled_away = {0: 0x7E, 1: minus_one}, {1: minus_zero}
    codes = b"".join([
        row(128, finite | {5: nan}),              # absmax skips the NaN: the others stay
        row(128, finite | {64: nan, 65: nan}),    # a rotated pair
        row(128, scaled_away | {7: nan}),         # the scale is infinite: its inverse 0, and 0 * inf a NaN
        row(128, scaled_away | {7: nan}),
        row(128, scaled_away | {66: nan, 67: nan}),
        bytes([nan]) * 128,
        row(128, scaled_away | {7: nan}),
        row(128, finite),
    ])
    folded = [2.0, 2.0, INF, -INF, INF, 2.0**floor, NAN, NAN]
    return q("indexer_q_fp8", q_heads(largest), codes, None, folded, fnuz)


def q_mxfp4():
    heads = q_heads(6.0) + [({0: 1.5 * 2.0**127, 7: INF}, 1.0)]
    one, infinite = b"\x7f\x01\x01\x01", b"\xfe\x01\x01\x01"
    codes = b"".join([
        row(64, {0: 0xA7, 2: 0x70}),
        row(64, {0: 0xA7, 32: 0x77}),
        row(64, {0: 0x80, 3: 0x70}),              # factor 2^-127: 6 and -1 go to zero, inf saturates
        row(64, {0: 0x80, 3: 0xF0}),              # with its sign
        row(64, {0: 0xA7, 33: 0x77}),             # only the block of columns 64 to 95 is touched
        b"\x77" * 64,
        row(64, {0: 0x80, 3: 0x70}),
        row(64, {0: 0xA7}),
        row(64, {0: 0x03, 3: 0x70}),              # 1.5 * 2^127 * 2^-127
    ])
    scale_bytes = b"".join([one, one, infinite, infinite, b"\x7f\x01\xfe\x01", b"\x01" * 4, infinite, one, infinite])
    return q("indexer_q_mxfp4", heads, codes, scale_bytes, [2.0, 2.0, 2.0, -2.0, 2.0, 1.0, 0.0, NAN, 1.0])


def cases():
    """(name, file bytes) of every case."""
    for op in STORED:
        yield f"nonfinite_{op}", store(op)
    yield "nonfinite_gather_split", gather_split()
    yield "nonfinite_finalize", finalize()
    yield "nonfinite_indexer_q_fp8", q_fp8(fnuz=False)
    yield "nonfinite_indexer_q_fp8_fnuz", q_fp8(fnuz=True)
    yield "nonfinite_indexer_q_mxfp4", q_mxfp4()
