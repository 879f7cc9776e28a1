# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin, in a pytest of its own."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

TEST = """
import kvexact
import pytest
from kvexact import numpy_port


@pytest.mark.kvexact(op="indexer_fp8", cases=3, max_configs=1)
def test_right(kvexact_case):
    kvexact.assert_right(kvexact_case, numpy_port.run(kvexact_case), policy="poisoned")  # it writes in place


@pytest.mark.kvexact(op="indexer_q_fp8", cases=2, max_configs=1)
def test_wrong(kvexact_case):
    kvexact.assert_right(kvexact_case, kvexact_case.outputs)
"""


@unittest.skipUnless(__import__("importlib.util").util.find_spec("pytest"), "pytest is not installed")
class PytestPlugin(unittest.TestCase):
    def test_generated_cases_and_kept_failures(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "test_kernel.py"
            path.write_text(textwrap.dedent(TEST))
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-p", "kvexact.pytest_plugin", "-q", "--kvexact-seed", "5", str(path)],
                capture_output=True, text=True, cwd=directory,
                env={**os.environ, "KVEXACT_FAILURES": os.path.join(directory, "kept")},
            )  # fmt: skip
            kept = list((pathlib.Path(directory) / "kept").glob("*.safetensors"))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("test_wrong[indexer_q_fp8_5_000000]", done.stdout)
        self.assertIn("kvexact replay", done.stdout)
        self.assertRegex(done.stdout, r"2 failed, 3 passed")
        self.assertEqual(len(kept), 2)


if __name__ == "__main__":
    unittest.main()
