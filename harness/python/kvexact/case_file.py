# SPDX-License-Identifier: Apache-2.0
"""Case files (schema kvexact-case/1) as numpy arrays. bfloat16 tensors are uint16 arrays of their bits."""

from __future__ import annotations

import dataclasses
import json
import os

import numpy as np

SCHEMA = "kvexact-case/1"

_DTYPES = {"U8": np.uint8, "BF16": np.uint16, "F32": np.float32, "I32": np.int32, "I64": np.int64}
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}
_INTEGERS = frozenset(
    "head_dim rope_head_dim compress_ratio block_size state_width state_row_stride quant_block token_stride scale_dim "
    "kv_cache_block_size kv_cache_base_offset num_actual num_decode_tokens num_splits".split()
)
_NUMBERS = frozenset(("rms_norm_eps", "softmax_scale", "head_scale"))
_FLAGS = frozenset(("overlap", "q_fnuz"))
_TEXTS = frozenset(("layout",))
PARAMETERS = _INTEGERS | _NUMBERS | _FLAGS | _TEXTS


@dataclasses.dataclass
class Case:
    """One launch: what it reads, what its output buffers hold before, and after where that was recorded.

    `before` is set where the case was read from a file: what `outputs` held then, which a launch may write into.
    """

    op: str
    params: dict
    inputs: dict
    outputs: dict
    recorded: dict | None = None
    notes: dict = dataclasses.field(default_factory=dict)
    name: str = ""
    before: dict | None = None

    def param(self, name, default=None):
        return self.params.get(name, default)


def _typed(name, text):
    if name in _INTEGERS:
        return int(text)
    if name in _NUMBERS:
        return float(text)
    if name in _FLAGS:
        return text == "true"
    return text


def _text(value):
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def load_tensors(path):
    """The tensors and the metadata of a safetensors file. The arrays share one buffer and are read-only."""
    with open(path, "rb") as file:
        data = file.read()
    header_size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + header_size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        flat = np.frombuffer(data, dtype, (end - begin) // dtype.itemsize, 8 + header_size + begin)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors, metadata


def save_tensors(path, tensors, metadata=None):
    """Writes a safetensors file beside `path` and renames it."""
    header = {"__metadata__": metadata} if metadata else {}
    offset = 0
    arrays = []
    # By falling element size, so that every tensor is aligned.
    for name, array in sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        array = np.ascontiguousarray(array).reshape(array.shape)
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
        arrays.append(array)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    temporary = f"{path}.tmp{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for array in arrays:
            file.write(array.tobytes() if array.size else b"")
    os.replace(temporary, path)


def read_case(path):
    """Reads a case file. Outputs are fresh, writable copies; inputs are read-only."""
    tensors, metadata = load_tensors(path)
    if metadata.get("schema") != SCHEMA:
        raise ValueError(f"{path}: schema: must be {SCHEMA}")
    case = Case(metadata["op"], {}, {}, {}, name=os.path.splitext(os.path.basename(path))[0])
    for key, text in metadata.items():
        if key in PARAMETERS:
            case.params[key] = _typed(key, text)
        elif key not in ("schema", "op"):
            case.notes[key] = text
    recorded = {}
    case.before = {}
    for name, array in tensors.items():
        if name.endswith("_before"):
            case.before[name.removesuffix("_before")] = array
            case.outputs[name.removesuffix("_before")] = array.copy()
        elif name.endswith("_after"):
            recorded[name.removesuffix("_after")] = array
        else:
            case.inputs[name] = array
    case.recorded = recorded or None
    return case


def write_case(path, case):
    """Writes a case file, with what was recorded where `case.recorded` is set."""
    tensors = dict(case.inputs)
    tensors.update({f"{name}_before": array for name, array in case.outputs.items()})
    if case.recorded is not None:
        tensors.update({f"{name}_after": array for name, array in case.recorded.items()})
    metadata = {str(key): str(value) for key, value in case.notes.items()}
    metadata.update({key: _text(value) for key, value in case.params.items()})
    metadata.update(schema=SCHEMA, op=case.op)
    save_tensors(path, tensors, metadata)
