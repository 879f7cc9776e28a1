# SPDX-License-Identifier: Apache-2.0
"""A case's tensors on a device, through torch: exact strides, poison between them, guard bytes around each."""

from __future__ import annotations

import numpy as np
import torch

_GUARD = 512  # bytes on either side of a tensor, at least
_ALIGNMENT = 256
_CANARY = 0xA5
_TORCH = {
    np.dtype(np.uint8): torch.uint8,
    np.dtype(np.uint16): torch.bfloat16,
    np.dtype(np.float32): torch.float32,
    np.dtype(np.int32): torch.int32,
    np.dtype(np.int64): torch.int64,
}


class DeviceCase:
    """All tensors of a case in one allocation, so that a launch costs one copy to the device and one back.

    `tensors` has every input and output by name: contiguous, as the case file holds them. state() and pages() are the views
    that paged kernels take. collect() waits for the device.
    """

    def __init__(self, case, device="cuda"):
        self.case = case
        self._arrays = {**case.inputs, **case.outputs}
        self._places = {}
        end = _GUARD
        for name, array in self._arrays.items():
            begin = -(-end // _ALIGNMENT) * _ALIGNMENT
            self._places[name] = begin
            end = begin + array.nbytes + _GUARD
        self._host = np.full(end, _CANARY, np.uint8)
        for name, array in self._arrays.items():
            begin = self._places[name]
            self._host[begin : begin + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self._block = torch.from_numpy(self._host).to(device, copy=True)
        self.tensors = {name: self._tensor(name, array) for name, array in self._arrays.items()}

    def _tensor(self, name, array):
        begin = self._places[name]
        return self._block[begin : begin + array.nbytes].view(_TORCH[array.dtype]).view(array.shape)

    def __getitem__(self, name):
        return self.tensors[name]

    def state(self):
        """state_cache as [blocks, positions of a block, values of a position]."""
        p, state = self.case.params, self.tensors["state_cache"]
        shape = (state.shape[0], p["block_size"], 2 * p["state_width"])
        return self._strided("state_cache", shape, (state.shape[1], p["state_row_stride"], 1))

    def pages(self):
        """kv_cache as [pages, tokens of a page, bytes of a token]; page strides and the base offset are the case's."""
        p, cache = self.case.params, self.tensors["kv_cache"]
        token = p["token_stride"] + p["scale_dim"]
        shape = (cache.shape[0], p["kv_cache_block_size"], token)
        return self._strided("kv_cache", shape, (cache.shape[1], token, 1), p.get("kv_cache_base_offset", 0))

    def _strided(self, name, shape, strides, offset=0):
        array = self._arrays[name]
        whole = self._block.view(torch.uint8)[self._places[name] :]
        typed = whole[: len(whole) // array.itemsize * array.itemsize].view(_TORCH[array.dtype])
        return torch.as_strided(typed, shape, strides, typed.storage_offset() + offset)

    def collect(self):
        """Outputs as a kvexact.Outputs, with the inputs that were written to and the guards that were damaged."""
        from kvexact.serving import Outputs

        after = self._block.cpu().numpy()
        outputs = {}
        written = []
        damaged = []
        end = 0
        for name, array in self._arrays.items():
            begin = self._places[name]
            changed = int((after[end:begin] != _CANARY).sum())
            if changed:
                damaged.append(f"{name} ({changed} bytes before its start)")
            end = begin + array.nbytes
            part = after[begin:end]
            if name in self.case.outputs:
                outputs[name] = part.view(array.dtype).reshape(array.shape)
            elif not np.array_equal(part, self._host[begin:end]):
                written.append(name)
        changed = int((after[end:] != _CANARY).sum())
        if changed:
            damaged.append(f"{name} ({changed} bytes behind its end)")
        return Outputs(outputs, written, damaged)
