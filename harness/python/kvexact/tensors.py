# SPDX-License-Identifier: Apache-2.0
"""The caller's own tensors, with their strides, as a case."""

from __future__ import annotations

import numpy as np

from kvexact.case_file import Case

# What the operations' own layouts give, where the caller does not say otherwise.
_DEFAULTS = {
    "sparse_attn": dict(head_dim=512, rope_head_dim=64, quant_block=64, token_stride=576, scale_dim=8),
    "indexer_fp8": dict(head_dim=128, rope_head_dim=64, quant_block=128, token_stride=128, scale_dim=4),
    "indexer_mxfp4": dict(head_dim=128, rope_head_dim=64, quant_block=32, token_stride=64, scale_dim=4),
    "gather_split": dict(head_dim=512, num_splits=1),
    "indexer_q_fp8": dict(head_dim=128, rope_head_dim=64),
    "indexer_q_mxfp4": dict(head_dim=128, rope_head_dim=64),
}
_DEFAULTS["two_stage"] = dict(_DEFAULTS["sparse_attn"], num_decode_tokens=0)
_DEFAULTS["finalize"] = _DEFAULTS["sparse_attn"]

_POISON = np.float32(np.nan)


def _element_view(tensor):
    """A torch tensor of a type that numpy lacks, as integers of its size."""
    name = str(tensor.dtype)
    if "bfloat16" in name:
        import torch

        return tensor.view(torch.int16)
    if "float8" in name:
        import torch

        return tensor.view(torch.uint8)
    return tensor


def to_numpy(tensor):
    """A numpy array with the tensor's strides: bfloat16 as uint16, float8 as uint8. Copies what is not on the host."""
    if isinstance(tensor, np.ndarray):
        array = tensor
    elif hasattr(tensor, "detach"):
        view = _element_view(tensor.detach())
        strides = view.stride()
        host = view.cpu()
        array = host.numpy()
        if tuple(s // array.itemsize for s in array.strides) != tuple(strides):
            array = _with_strides(array, strides)
    else:
        array = np.from_dlpack(tensor)
    if array.dtype == np.int16:
        return array.view(np.uint16)
    if array.dtype.kind not in "iuf":  # ml_dtypes: bfloat16, float8
        return array.view(np.uint16 if array.dtype.itemsize == 2 else np.uint8)
    return array


def _with_strides(array, strides):
    """A copy whose element strides are `strides`; what lies between is zero."""
    span = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides)) if array.size else 0
    flat = np.zeros(span, array.dtype)
    view = np.lib.stride_tricks.as_strided(flat, array.shape, [s * array.itemsize for s in strides])
    view[...] = array
    return view


def copy_with_strides(tensor):
    """A host copy with the tensor's element strides."""
    array = to_numpy(tensor)
    return _with_strides(array, element_strides(array))


def element_strides(array):
    return [s // array.itemsize for s in array.strides]


def _state(tensor):
    """[blocks, positions, values] with any strides, as [blocks, block stride]. Returns it, block size and row stride."""
    if tensor.ndim != 3:
        raise ValueError("state_cache: needs three dimensions: blocks, positions of a block, values of a position")
    blocks, positions, width = tensor.shape
    block_stride, row_stride, _ = element_strides(tensor)
    row_stride = max(row_stride, width)
    block_stride = max(block_stride, positions * row_stride)
    flat = np.full((blocks, block_stride), _POISON, np.float32)
    for i in range(positions):
        flat[:, i * row_stride : i * row_stride + width] = tensor[:, i]
    return flat, positions, row_stride


def _pages(tensor):
    """[pages, tokens of a page, ...] or [pages, bytes] with any page stride, as [pages, page stride]; gaps are zero."""
    pages = tensor.shape[0]
    stride = element_strides(tensor)[0] if pages > 1 else 0
    used = np.ascontiguousarray(tensor).reshape(pages, -1)
    flat = np.zeros((pages, max(stride, used.shape[1])), np.uint8)
    flat[:, : used.shape[1]] = used
    return flat


def _rows(tensor):
    """A matrix whose row stride is kept, so that what lies between rows is padding."""
    rows, columns = tensor.shape
    stride = max(element_strides(tensor)[0] if rows > 1 else 0, columns)
    flat = np.zeros((rows, stride), tensor.dtype)
    flat[:, :columns] = tensor
    return flat


def _output(name, tensor):
    array = to_numpy(tensor)
    if name == "kv_cache":
        return _pages(array.view(np.uint8))
    if name == "scratch":
        return _rows(array)
    if name == "q_scale" and array.dtype.itemsize == 4:
        array = np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape[:2], -1)
    if name in ("q_fp8", "q_packed", "q_scale"):
        return np.ascontiguousarray(array).view(np.uint8)
    return np.ascontiguousarray(array)


def case_of(op, tensors, before, after=None, **parameters):
    """A kvexact.Case from tensors of numpy, torch or anything with DLPack.

    `tensors` are the inputs by their names in the case schema. state_cache is [blocks, positions, values]; its strides, and
    those of kv_cache ([pages, tokens of a page, ...]) and scratch, are taken over. The values of a state row are KV, then
    scores, each `state_width` of them (half of the row). `before` and `after` are the outputs by name. `parameters` are
    those of the case schema; sizes that the tensors tell, and the strides of the operation's own layout, may be left out.
    """
    if op not in _DEFAULTS:
        raise ValueError(f"{op}: no such operation; there are {', '.join(_DEFAULTS)}")
    params = dict(_DEFAULTS[op])
    inputs = {}
    for name, tensor in tensors.items():
        array = to_numpy(tensor)
        if name == "state_cache":
            values = array.shape[-1]
            array, params["block_size"], params["state_row_stride"] = _state(array)
            params["state_width"] = values // 2
        elif name in ("cos_sin_cache", "block_table", "scratch"):
            array = _rows(array)
        inputs[name] = np.ascontiguousarray(array)
    params["num_actual"] = len(inputs["positions"])
    outputs = {name: _output(name, tensor) for name, tensor in before.items()}
    if "kv_cache" in before and len(before["kv_cache"].shape) == 3:
        params["kv_cache_block_size"] = before["kv_cache"].shape[1]
    params.update(parameters)
    recorded = None if after is None else {name: _output(name, tensor) for name, tensor in after.items()}
    return Case(op, params, inputs, outputs, recorded)
