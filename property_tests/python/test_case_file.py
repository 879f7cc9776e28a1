# SPDX-License-Identifier: Apache-2.0
import pathlib
import tempfile
import unittest

import kvexact
import numpy as np
from kvexact.case_file import load_tensors, save_tensors
from support import SOURCE, generated


class CaseFile(unittest.TestCase):
    def test_recorded_case_survives_reading_and_writing(self):
        for path in sorted((SOURCE / "golden" / "recorded").glob("*.safetensors")):
            case = kvexact.read_case(path)
            with tempfile.TemporaryDirectory() as directory:
                copy = pathlib.Path(directory) / path.name
                kvexact.write_case(copy, case)
                tensors, metadata = load_tensors(path)
                again, metadata_again = load_tensors(copy)
            self.assertEqual(metadata.keys(), metadata_again.keys())
            self.assertEqual(tensors.keys(), again.keys())
            for name, array in tensors.items():
                self.assertEqual(array.dtype, again[name].dtype)
                self.assertEqual(array.tobytes(), again[name].tobytes(), f"{path}: {name}")

    def test_the_program_reads_what_is_written(self):
        for op in kvexact.OPERATIONS:
            self.assertTrue(kvexact.judge(generated(op, cases=1)[0], policy="poisoned").exit_status in (0, 3), op)

    def test_parameters_have_their_types(self):
        case = generated("sparse_attn", cases=1)[0]
        self.assertIsInstance(case.params["overlap"], bool)
        self.assertIsInstance(case.params["compress_ratio"], int)
        self.assertIsInstance(case.params["rms_norm_eps"], float)
        self.assertIn("spec", case.notes)

    def test_inputs_are_read_only_and_outputs_are_not(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "case.safetensors"
            kvexact.write_case(path, generated("indexer_fp8", cases=1)[0])
            case = kvexact.read_case(path)
        self.assertFalse(case.inputs["positions"].flags.writeable)
        self.assertTrue(case.outputs["kv_cache"].flags.writeable)

    def test_empty_and_bf16_tensors(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "t.safetensors"
            save_tensors(path, {"a": np.zeros((0, 3), np.int64), "b": np.array([1, 2, 3], np.uint16)})
            tensors, metadata = load_tensors(path)
        self.assertEqual(tensors["a"].shape, (0, 3))
        self.assertEqual(tensors["b"].tolist(), [1, 2, 3])
        self.assertEqual(metadata, {})


if __name__ == "__main__":
    unittest.main()
