# SPDX-License-Identifier: Apache-2.0
"""Triton modules with vLLM's launchers for DeepSeek-V4's compressor and indexer, as a backend.

    kvexact verify --backend "exec:python -m kvexact.adapters.seed MODULE..."

MODULE is a name to import or a path to a file. Of all modules together, these are used where they are found:
compress_norm_rope_store_triton, compress_norm_rope_store_two_stage_triton, and for Q fused_indexer_q_rope_quant or
launch(positions, q, cos_sin, weights, out, scale, weights_out, softmax_scale, head_scale, fp4).
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import pathlib
import sys
import types

import numpy as np
import torch

from kvexact.device_tensors import DeviceCase
from kvexact.serving import Unsupported, serve

_SINGLE = ("sparse_attn", "indexer_fp8", "indexer_mxfp4")
# Threads of the program that compresses one token.
_THREADS = {"sparse_attn": 128, "two_stage": 128, "indexer_fp8": 32, "indexer_mxfp4": 32}


def load(name):
    """A module by its name, or by the path of its file; such a file may import its neighbours."""
    path = pathlib.Path(name)
    if path.suffix != ".py":
        return importlib.import_module(name)
    directory = str(path.resolve().parent)
    if directory not in sys.path:
        sys.path.insert(0, directory)
    return importlib.import_module(path.stem)


def _is_power_of_two(n):
    return n & (n - 1) == 0


class Seed:
    """run(case) for kvexact.serve, over the launchers of `modules`."""

    def __init__(self, modules, device="cuda", elements_a_thread=512):
        def find(name):
            return next((getattr(m, name) for m in modules if hasattr(m, name)), None)

        self.single = find("compress_norm_rope_store_triton")
        self.two_stage = find("compress_norm_rope_store_two_stage_triton")
        self.fused_q = find("fused_indexer_q_rope_quant")
        self.launch_q = find("launch")
        self.device = device
        self.elements_a_thread = elements_a_thread
        self.operations = list(_SINGLE) if self.single else []
        if self.two_stage:
            self.operations.append("two_stage")
        if self.fused_q or self.launch_q:
            self.operations += ["indexer_q_fp8", "indexer_q_mxfp4"]

    def __call__(self, case):
        if case.op not in self.operations:
            raise Unsupported(f"no launcher for {case.op}")
        if case.op.startswith("indexer_q"):
            return self._q(case)
        self._require(case)
        on = DeviceCase(case, self.device)
        arguments = self.arguments(case, on)
        if case.op == "two_stage":
            scratch = torch.full((max(case.params["num_actual"], 1), 512), float("nan"), device=self.device)
            self.two_stage(**arguments, num_decode_tokens=case.params["num_decode_tokens"], compress_scratch=scratch)
        elif case.params["num_actual"] > 0:
            self.single(**arguments)
        return on.collect()

    def _require(self, case):
        p = case.params
        rows = p["compress_ratio"] * (1 + int(p["overlap"]))
        if not _is_power_of_two(rows):
            raise Unsupported("the window's rows must be a power of two (tl.arange)")
        if rows * p["head_dim"] > self.elements_a_thread * _THREADS[case.op]:
            raise Unsupported(f"a window of more than {self.elements_a_thread} elements a thread is not worth compiling")
        if p.get("layout", "") not in ("", case.op.replace("two_stage", "sparse_attn")):
            raise Unsupported("only the operation's own cache layout")

    def arguments(self, case, on):
        """Keyword arguments of the launchers."""
        p = case.params
        return dict(
            state_cache=on.state(),
            num_actual=p["num_actual"],
            token_to_req_indices=on["token_to_req_indices"],
            positions=on["positions"],
            slot_mapping=on["slot_mapping"],
            block_table=on["block_table"],
            block_size=p["block_size"],
            state_width=p["state_width"],
            cos_sin_cache=on["cos_sin_cache"],
            kv_cache=on.pages(),
            k_cache_metadata=types.SimpleNamespace(slot_mapping=on["kv_slot_mapping"]),
            pdl_kwargs={},
            head_dim=p["head_dim"],
            rope_head_dim=p["rope_head_dim"],
            compress_ratio=p["compress_ratio"],
            overlap=p["overlap"],
            use_fp4_cache=case.op == "indexer_mxfp4",
            rms_norm_weight=on["rms_norm_weight"],
            rms_norm_eps=p["rms_norm_eps"],
            quant_block=p["quant_block"],
            token_stride=p["token_stride"],
            scale_dim=p["scale_dim"],
        )

    def _q(self, case):
        p = case.params
        if p.get("q_fnuz", False):
            raise Unsupported("E4M3FNUZ codes need an AMD GPU")
        if case.inputs["cos_sin_cache"].shape[1] != p["rope_head_dim"]:
            raise Unsupported("rows of the cos/sin table must be rope_head_dim long")
        on = DeviceCase(case, self.device)
        if p["num_actual"] > 0 and case.inputs["index_q"].shape[1] > 0:
            (self._fused_q if self.fused_q else self._launched_q)(case, on)
        return on.collect()

    def _fused_q(self, case, on):
        n, p, fp4 = case.params["num_actual"], case.params, case.op == "indexer_q_mxfp4"
        codes, weights = self.fused_q(
            on["positions"][:n], on["index_q"][:n], on["cos_sin_cache"], on["index_weights"][:n],
            p["softmax_scale"], p["head_scale"], use_fp4=fp4, weights_out_dtype=on["weights_out"].dtype,
        )  # fmt: skip
        on["weights_out"][:n] = weights
        if fp4:
            on["q_packed"][:n] = codes[0].view(torch.uint8)
            on["q_scale"][:n] = codes[1].contiguous().view(torch.uint8).view(on["q_scale"][:n].shape)
        else:
            on["q_fp8"][:n] = codes.view(torch.uint8)

    def _launched_q(self, case, on):
        n, p, fp4 = case.params["num_actual"], case.params, case.op == "indexer_q_mxfp4"
        out = on["q_packed"] if fp4 else on["q_fp8"].view(torch.float8_e4m3fn)
        scale = on["q_scale"] if fp4 else on["q_fp8"]
        self.launch_q(
            on["positions"][:n], on["index_q"][:n], on["cos_sin_cache"], on["index_weights"], out, scale,
            on["weights_out"], float(np.float32(p["softmax_scale"])), float(np.float32(p["head_scale"])), fp4,
        )  # fmt: skip


def describe_call(**kwargs):
    """For kvexact.record: what a keyword call of one of the compression launchers reads and writes."""
    k = types.SimpleNamespace(**kwargs)
    two_stage = "num_decode_tokens" in kwargs
    op = "two_stage" if two_stage else "sparse_attn" if k.head_dim == 512 else "indexer_mxfp4" if k.use_fp4_cache else "indexer_fp8"
    tensors = dict(
        state_cache=k.state_cache[:, :, : 2 * k.state_width],
        token_to_req_indices=k.token_to_req_indices,
        positions=k.positions,
        slot_mapping=k.slot_mapping,
        kv_slot_mapping=k.k_cache_metadata.slot_mapping,
        block_table=k.block_table,
        rms_norm_weight=k.rms_norm_weight,
        cos_sin_cache=k.cos_sin_cache,
    )
    names = "num_actual head_dim rope_head_dim compress_ratio overlap rms_norm_eps quant_block token_stride scale_dim".split()
    parameters = {name: kwargs[name] for name in names}
    parameters.update(kv_cache_block_size=k.kv_cache.shape[1])
    if two_stage:
        parameters.update(num_decode_tokens=k.num_decode_tokens)
    return op, tensors, {"kv_cache": k.kv_cache}, parameters


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", nargs="+")
    parser.add_argument("--elements-a-thread", type=int, default=512, help="larger windows are unsupported (default 512)")
    arguments = parser.parse_args()
    seed = Seed([load(name) for name in arguments.module], elements_a_thread=arguments.elements_a_thread)
    serve(
        seed,
        operations=seed.operations,
        name="seed-triton",
        version=importlib.import_module("triton").__version__,
        device=torch.cuda.get_device_name(0),
        policy="seed",
        fatal=(torch.AcceleratorError,) if hasattr(torch, "AcceleratorError") else (),
    )


if __name__ == "__main__":
    main()
