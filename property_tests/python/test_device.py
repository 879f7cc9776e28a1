# SPDX-License-Identifier: Apache-2.0
"""DeviceCase and the adapter of the seed's launchers, on a GPU where there is one, on torch's CPU otherwise."""

import tempfile
import unittest

import kvexact
import numpy as np
import torch
from kvexact.adapters.seed import Seed, describe_call
from kvexact.device_tensors import DeviceCase
from kvexact.judging import judge_file
from support import generated

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def bits(array):
    return np.ascontiguousarray(array).view(np.uint8)


class DeviceCases(unittest.TestCase):
    def test_tensors_have_the_case_s_values_and_come_back(self):
        for op in ("sparse_attn", "indexer_q_mxfp4"):
            for case in generated(op):
                on = DeviceCase(case, DEVICE)
                for name, array in {**case.inputs, **case.outputs}.items():
                    self.assertEqual(on[name].device.type, DEVICE)
                    held = on[name].cpu().view(torch.uint8).numpy() if on[name].numel() else np.empty(0, np.uint8)
                    self.assertTrue(np.array_equal(held.reshape(-1), bits(array).reshape(-1)), name)
                back = on.collect()
                self.assertEqual((back.written_inputs, back.damaged_guards), ([], []))
                for name, array in case.outputs.items():
                    self.assertTrue(np.array_equal(bits(back[name]), bits(array)), name)

    def test_views_have_the_case_s_strides(self):
        for case in generated("sparse_attn", cases=8, max_configs=8):
            on, p = DeviceCase(case, DEVICE), case.params
            state, pages = on.state(), on.pages()
            self.assertEqual(state.stride(), (case.inputs["state_cache"].shape[1], p["state_row_stride"], 1))
            self.assertEqual(pages.stride(0), case.outputs["kv_cache"].shape[1])
            self.assertEqual(pages.shape[1:], (p["kv_cache_block_size"], p["token_stride"] + p["scale_dim"]))
            if state.numel():
                block, row = state.shape[0] - 1, state.shape[1] - 1
                flat = case.inputs["state_cache"][block, row * p["state_row_stride"] :][: state.shape[2]]
                self.assertTrue(np.array_equal(bits(state[block, row].cpu().numpy()), bits(flat)))

    def test_writes_beside_and_into_inputs_are_named(self):
        case = generated("sparse_attn")[0]
        on = DeviceCase(case, DEVICE)
        cache = on["kv_cache"].view(-1)
        torch.as_strided(cache, (1,), (1,), cache.storage_offset() + cache.numel())[0] = 1
        on["positions"][0] += 1
        back = on.collect()
        self.assertEqual(back.written_inputs, ["positions"])
        self.assertEqual(len(back.damaged_guards), 1)
        self.assertIn("kv_cache (1 bytes behind its end)", back.damaged_guards[0])


class DescribeCall(unittest.TestCase):
    """A launcher whose calls are recorded; it stores what the numpy port stores."""

    def record(self, op, change=lambda cache: None):
        cases = generated(op, cases=24, max_configs=4)
        case = next(c for c in cases if (c.recorded["kv_cache"] != c.outputs["kv_cache"]).any())
        on = DeviceCase(case, DEVICE)

        def launcher(**_):
            on["kv_cache"].copy_(torch.from_numpy(case.recorded["kv_cache"]))
            change(on["kv_cache"])

        adapter = Seed([], DEVICE)
        arguments = adapter.arguments(case, on)
        if op == "two_stage":
            arguments.update(num_decode_tokens=case.params["num_decode_tokens"])
        with tempfile.TemporaryDirectory() as directory:
            recorded = kvexact.record(launcher, lambda **k: describe_call(**k), directory)
            recorded(**arguments)
            self.assertEqual(kvexact.read_case(recorded.files[0]).op, op)
            return judge_file(recorded.files[0])

    def test_calls_of_every_kernel_are_judged_right(self):
        for op in ("sparse_attn", "indexer_fp8", "indexer_mxfp4", "two_stage"):
            with self.subTest(op):
                report = self.record(op)
                self.assertTrue(report.right, report.text)
                self.assertGreater(report.counts["elements"], 0)

    def test_a_wrong_byte_is_found(self):
        def change(cache):
            cache.view(-1)[: cache.numel()].bitwise_xor_(0x10)

        self.assertEqual(self.record("sparse_attn", change).exit_status, 1)


if __name__ == "__main__":
    unittest.main()
