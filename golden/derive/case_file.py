# SPDX-License-Identifier: Apache-2.0
"""Case files (safetensors, schema kvexact-case/1), written deterministically with the standard library alone."""
import json
import struct

from derive import exact

_FORMS = {"I64": "q", "I32": "i", "U8": "B"}
_SIZES = {"I64": 8, "I32": 4, "F32": 4, "BF16": 2, "U8": 1}


class Tensor:
    """`values` is flat: ints, or floats for F32 and BF16 (which must be exact in the type)."""

    def __init__(self, dtype, shape, values):
        self.dtype, self.shape = dtype, list(shape)
        if isinstance(values, (bytes, bytearray)):
            self.data = bytes(values)
        elif dtype == "F32":
            self.data = struct.pack(f"<{len(values)}I", *map(exact.f32_bits, values))
        elif dtype == "BF16":
            assert all(v != v or exact.is_bf16(v) for v in values)
            self.data = struct.pack(f"<{len(values)}H", *map(exact.bf16_bits, values))
        else:
            self.data = struct.pack(f"<{len(values)}{_FORMS[dtype]}", *values)
        count = 1
        for extent in self.shape:
            count *= extent
        assert len(self.data) == count * _SIZES[dtype], (dtype, shape, len(self.data))


def before_of(after, written):
    """What an output buffer holds before the launch: wherever `written`, the complement of what it must hold then."""
    return bytes(b ^ 0xFF if w else b for b, w in zip(after, written))


def pattern(size):
    """Bytes that differ from their neighbours."""
    return bytearray((37 * i + 11) & 0xFF for i in range(size))


def serialise(op, params, tensors):
    metadata = {"schema": "kvexact-case/1", "op": op, "derived": "by hand, golden/README.md"}
    metadata |= {k: ("true" if v else "false") if isinstance(v, bool) else repr(v) for k, v in params.items()}
    header, offset, blobs = {"__metadata__": dict(sorted(metadata.items()))}, 0, []
    for name, tensor in sorted(tensors.items(), key=lambda item: (-_SIZES[item[1].dtype], item[0])):
        end = offset + len(tensor.data)
        header[name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [offset, end]}
        blobs.append(tensor.data)
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(blobs)
