# SPDX-License-Identifier: Apache-2.0
"""Builds case files of the compression operations from inputs and expected bytes.

Whatever a live token does not read is poison: NaN in the state cache, in rows of the table of cosines and in scratch,
2^30 in the block table, garbage in the fields of tokens that are skipped.
"""
import struct
from collections import namedtuple

from derive import exact
from derive.case_file import Tensor, before_of, pattern

# kv_slot -1, slot -1, or a position that ends no window skip a token.
Token = namedtuple("Token", "position req slot kv_slot")
GARBAGE = Token(2**40 + 3, 2**30, -1, 2**40)
# Behind num_actual even a valid slot is inert.
TAIL = Token(2**40 - 1, 2**30, 7, 2**40)

# codes, bytes of a token's codes (and RoPE values), scale bytes a token, quantised elements a scale
Placement = namedtuple("Placement", "head token_stride scale_dim quant_block")
PLACEMENTS = {
    "sparse_attn": Placement(512, 576, 8, 64),
    "two_stage": Placement(512, 576, 8, 64),
    "finalize": Placement(512, 576, 8, 64),
    "gather_split": Placement(512, 576, 8, 64),
    "indexer_fp8": Placement(128, 128, 4, 128),
    "indexer_mxfp4": Placement(128, 64, 4, 32),
}


def token_bytes(op, codes, exponents, rope=()):
    """(value bytes, scale bytes) of a token as its layout stores them."""
    if op == "indexer_fp8":
        return bytes(codes), struct.pack("<f", 2.0 ** exponents[0])
    scales = bytes(e + 127 for e in exponents)
    if op == "indexer_mxfp4":
        return bytes(low | high << 4 for low, high in zip(codes[::2], codes[1::2])), scales
    return bytes(codes) + struct.pack("<64H", *rope), scales + b"\0"


class Cache:
    """A paged KV cache and what must be found in it after the launch."""

    def __init__(self, op, pages, page_tokens, page_stride):
        self.place, self.pages, self.page_tokens, self.page_stride = PLACEMENTS[op], pages, page_tokens, page_stride
        self.after = pattern(pages * page_stride)
        self.written = bytearray(pages * page_stride)

    def expect(self, page, offset, data):
        at = page * self.page_stride + offset
        self.after[at : at + len(data)] = data
        self.written[at : at + len(data)] = b"\1" * len(data)

    def expect_token(self, slot, values, scales):
        page, token = divmod(slot, self.page_tokens)
        self.expect(page, token * self.place.token_stride, values)
        self.expect(page, self.page_tokens * self.place.token_stride + token * self.place.scale_dim, scales)

    def tensors(self):
        shape = [self.pages, self.page_stride]
        return {
            "kv_cache_before": Tensor("U8", shape, before_of(self.after, self.written)),
            "kv_cache_after": Tensor("U8", shape, self.after),
        }


class State:
    """State rows by (request, position); a row has KV and scores, each `width` values."""

    def __init__(self, width, block, row_pad=0):
        self.width, self.block, self.row_stride = width, block, 2 * width + row_pad
        self.rows = {}

    def write(self, req, position, column, kv, scores):
        row = self.rows.setdefault((req, position), [exact.NAN] * self.row_stride)
        row[column : column + len(kv)] = kv
        row[self.width + column : self.width + column + len(scores)] = scores

    def tensors(self):
        """The blocks lie in the cache in descending order, behind one that nobody owns."""
        blocks = sorted({(req, position // self.block) for req, position in self.rows}, reverse=True)
        where = {block: i + 1 for i, block in enumerate(blocks)}
        requests = 1 + max(req for req, _ in blocks)
        row_stride = 2 + max(index for _, index in blocks)
        table = [2**30] * (requests * row_stride)
        for (req, index), physical in where.items():
            table[req * row_stride + index] = physical
        block_stride = self.block * self.row_stride
        values = [exact.NAN] * (block_stride * (len(blocks) + 1))
        for (req, position), row in self.rows.items():
            at = where[req, position // self.block] * block_stride + position % self.block * self.row_stride
            values[at : at + self.row_stride] = row
        return {
            "state_cache": Tensor("F32", [len(blocks) + 1, block_stride], values),
            "block_table": Tensor("I32", [requests, row_stride], table),
        }


def rotations(table):
    """The table of cosines and sines from {row: (cosine, sine)}, the same for all pairs; other rows are NaN."""
    values = []
    for row in range(1 + max(table)):
        cosine, sine = table.get(row, (exact.NAN, exact.NAN))
        values += [cosine] * 32 + [sine] * 32
    return Tensor("F32", [1 + max(table), 64], values)


def token_tensors(tokens, kv_slots=True, requests=True):
    result = {
        "positions": Tensor("I64", [len(tokens)], [t.position for t in tokens]),
        "slot_mapping": Tensor("I64", [len(tokens)], [t.slot for t in tokens]),
    }
    if kv_slots:
        result["kv_slot_mapping"] = Tensor("I64", [len(tokens)], [t.kv_slot for t in tokens])
    if requests:
        result["token_to_req_indices"] = Tensor("I32", [len(tokens)], [t.req for t in tokens])
    return result


def gather_params(op, ratio, overlap, state, num_actual):
    return {
        "head_dim": PLACEMENTS[op].head,
        "compress_ratio": ratio,
        "overlap": overlap,
        "block_size": state.block,
        "state_width": state.width,
        "state_row_stride": state.row_stride,
        "num_actual": num_actual,
    }


def store_params(op, cache, eps):
    place = PLACEMENTS[op]
    return {
        "head_dim": place.head,
        "rope_head_dim": 64,
        "quant_block": place.quant_block,
        "token_stride": place.token_stride,
        "scale_dim": place.scale_dim,
        "kv_cache_block_size": cache.page_tokens,
        "rms_norm_eps": eps,
    }
