# SPDX-License-Identifier: Apache-2.0
"""check, assert_right and record on tensors of the caller, with strides of their own."""

import os
import pathlib
import tempfile
import unittest
from unittest import mock

import kvexact
import numpy as np
from support import generated

as_strided = np.lib.stride_tricks.as_strided


def state_view(case):
    """state_cache as its owner has it: [blocks, positions, values], with the case's strides."""
    p, flat = case.params, case.inputs["state_cache"]
    shape = (flat.shape[0], p["block_size"], 2 * p["state_width"])
    return as_strided(flat, shape, (4 * flat.shape[1], 4 * p["state_row_stride"], 4))


def pages_view(case, cache):
    p = case.params
    shape = (cache.shape[0], p["kv_cache_block_size"], p["token_stride"] + p["scale_dim"])
    return as_strided(cache, shape, (cache.shape[1], shape[2], 1))


def own_tensors(case):
    tensors = dict(case.inputs)
    if "state_cache" in tensors:
        tensors["state_cache"] = state_view(case)
    return tensors


def usable():
    """A case that stores something, in the operation's own layout."""
    for case in generated("sparse_attn", cases=12, max_configs=1):
        if (case.recorded["kv_cache"] != case.outputs["kv_cache"]).any() and "special" not in case.notes:
            return case
    raise AssertionError("no such case")


class Check(unittest.TestCase):
    def setUp(self):
        self.case = usable()
        p = self.case.params
        self.parameters = {name: p[name] for name in ("compress_ratio", "overlap", "rms_norm_eps", "num_actual", "token_stride", "scale_dim")}

    def check(self, after):
        before = {"kv_cache": pages_view(self.case, self.case.outputs["kv_cache"])}
        return kvexact.check(
            "sparse_attn", own_tensors(self.case), {"kv_cache": pages_view(self.case, after)}, before=before, **self.parameters
        )

    def test_right_outputs(self):
        report = self.check(self.case.recorded["kv_cache"])
        self.assertTrue(report.right, report.text)
        self.assertGreater(report.counts["exact"], 0)
        self.assertEqual(report.counts["wrong"], 0)

    def test_a_changed_code_is_wrong(self):
        after = self.case.recorded["kv_cache"].copy()
        stored = np.argwhere(after != self.case.outputs["kv_cache"])[0]
        after[tuple(stored)] ^= 0x70
        report = self.check(after)
        self.assertFalse(report.right)
        self.assertGreater(report.counts["wrong"] + report.counts["unwritten"], 0)

    def test_a_changed_byte_of_the_padding_is_touched(self):
        p, after = self.case.params, self.case.recorded["kv_cache"].copy()
        self.assertGreater(after.shape[1], p["kv_cache_block_size"] * (p["token_stride"] + p["scale_dim"]))
        after[0, -1] ^= 1
        self.case.recorded = {"kv_cache": after}
        report = kvexact.judge(self.case)
        self.assertFalse(report.right)
        self.assertEqual(report.counts["touched_bytes"], 1)

    def test_without_before(self):
        report = kvexact.check(
            "sparse_attn", own_tensors(self.case), {"kv_cache": pages_view(self.case, self.case.recorded["kv_cache"])}, **self.parameters
        )
        self.assertTrue(report.right, report.text)

    def test_wrong_parameters_are_named(self):
        with self.assertRaisesRegex(ValueError, "compress_ratio"):
            self.parameters["compress_ratio"] = 0
            self.check(self.case.recorded["kv_cache"])

    def test_unknown_operation(self):
        with self.assertRaisesRegex(ValueError, "attention: no such operation"):
            kvexact.check("attention", {}, {})

    def test_q_with_transposed_tensors(self):
        case = generated("indexer_q_mxfp4", cases=1, max_configs=1)[0]
        tensors = dict(case.inputs)
        tensors["index_q"] = np.asfortranarray(tensors["index_q"])
        outputs = {name: np.asfortranarray(array) for name, array in case.recorded.items()}
        names = ("softmax_scale", "head_scale", "num_actual", "rope_head_dim")
        report = kvexact.check("indexer_q_mxfp4", tensors, outputs, before=case.outputs, **{n: case.params[n] for n in names})
        self.assertTrue(report.right, report.text)


class Keeping(unittest.TestCase):
    def test_assert_right_passes_and_keeps_nothing(self):
        case = usable()
        with tempfile.TemporaryDirectory() as directory, mock.patch.dict(os.environ, KVEXACT_FAILURES=directory):
            kvexact.assert_right(case, case.recorded)
            self.assertEqual(os.listdir(directory), [])

    def test_assert_right_keeps_the_failing_case(self):
        case = usable()
        with tempfile.TemporaryDirectory() as directory, mock.patch.dict(os.environ, KVEXACT_FAILURES=directory):
            with self.assertRaisesRegex(AssertionError, "kept: kvexact replay .* --recorded") as failure:
                kvexact.assert_right(case, case.outputs)
            (kept,) = pathlib.Path(directory).iterdir()
            self.assertIn(f"repeat: kvexact replay {kept} ", str(failure.exception))
            self.assertFalse(kvexact.judge_file(kept).right)

    def test_assert_right_of_outputs_written_in_place(self):
        case = usable()
        with tempfile.TemporaryDirectory() as directory, mock.patch.dict(os.environ, KVEXACT_FAILURES=directory):
            for name, array in case.recorded.items():
                case.outputs[name][...] = array
            kvexact.assert_right(case)
            case.outputs["kv_cache"].reshape(-1)[-1] ^= 1
            with self.assertRaisesRegex(AssertionError, "touched"):
                kvexact.assert_right(case)

    def test_record_writes_every_call(self):
        case = usable()
        tensors = own_tensors(case)
        cache = pages_view(case, case.outputs["kv_cache"].copy())
        names = ("compress_ratio", "overlap", "rms_norm_eps", "num_actual", "token_stride", "scale_dim")

        def launcher(cache):
            cache[...] = pages_view(case, case.recorded["kv_cache"])
            return "done"

        def describe(cache):
            return "sparse_attn", tensors, {"kv_cache": cache}, {name: case.params[name] for name in names}

        with tempfile.TemporaryDirectory() as directory:
            recorded = kvexact.record(launcher, describe, directory)
            self.assertEqual(recorded(cache), "done")
            self.assertEqual(len(recorded.files), 1)
            report = kvexact.judge_file(recorded.files[0])
            self.assertTrue(report.right, report.text)


if __name__ == "__main__":
    unittest.main()
