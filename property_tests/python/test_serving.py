# SPDX-License-Identifier: Apache-2.0
"""kvexact.serve behind exec:: what a function may do, and what is said when it fails."""

import pathlib
import tempfile
import textwrap
import unittest

from support import summary, verify

PORT = """
import sys
import kvexact
from kvexact import numpy_port
"""


class Serving(unittest.TestCase):
    def run_program(self, body, *arguments):
        with tempfile.TemporaryDirectory() as directory:
            program = pathlib.Path(directory) / "backend.py"
            program.write_text(PORT + textwrap.dedent(body))
            return verify(program, "--op", "indexer_q_fp8", "--cases", "12", *arguments)

    def test_what_a_function_prints_does_not_disturb_the_protocol(self):
        done = self.run_program(
            """
            def run(case):
                print("compiling", flush=True)
                numpy_port.run(case)
            kvexact.serve(run)
            """
        )
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_returned_outputs_are_taken(self):
        done = self.run_program(
            """
            def run(case):
                numpy_port.run(case)
                outputs, case.outputs = case.outputs, None
                return outputs
            kvexact.serve(run)
            """
        )
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_unsupported_is_reported_apart(self):
        body = """
            def run(case):
                if case.inputs["index_weights"].dtype != "float32":
                    raise kvexact.Unsupported("needs fp32 weights")
                numpy_port.run(case)
            kvexact.serve(run)
            """
        done = self.run_program(body)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertGreater(int(summary(done)["unsupported"]), 0)
        self.assertIn("cases: needs fp32 weights", done.stdout)
        self.assertEqual(self.run_program(body, "--require-all").returncode, 3)

    def test_everything_unsupported_is_no_success(self):
        done = self.run_program(
            """
            def run(case):
                raise kvexact.Unsupported("nothing today")
            kvexact.serve(run)
            """
        )
        self.assertEqual(done.returncode, 3)
        self.assertEqual(summary(done)["verdict"], "none")

    def test_exception_names_itself_and_the_run_goes_on(self):
        done = self.run_program(
            """
            runs = 0
            def run(case):
                global runs
                runs += 1
                if runs == 1:
                    raise KeyError("tile")
                numpy_port.run(case)
            kvexact.serve(run)
            """
        )
        self.assertEqual(done.returncode, 1)
        self.assertEqual(summary(done)["crashed"], "1")
        self.assertIn("KeyError: 'tile'", done.stdout)

    def test_fatal_exception_costs_one_case(self):
        done = self.run_program(
            """
            class DeviceLost(Exception):
                pass
            def run(case):
                if case.params["num_actual"] % 2:
                    raise DeviceLost("illegal address")
                numpy_port.run(case)
            kvexact.serve(run, fatal=(DeviceLost,))
            """
        )
        self.assertEqual(done.returncode, 1)
        crashed = int(summary(done)["crashed"])
        self.assertGreater(crashed, 0)
        self.assertLess(crashed, 12)
        self.assertIn("exited with status 70", done.stdout)
        self.assertIn("illegal address", done.stdout)

    def test_writing_to_an_input_is_an_error(self):
        done = self.run_program(
            """
            def run(case):
                case.inputs["positions"][:] = 0
            kvexact.serve(run)
            """
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("read-only", done.stdout)

    def test_reported_damage_counts_as_touched(self):
        done = self.run_program(
            """
            def run(case):
                numpy_port.run(case)
                return kvexact.Outputs(case.outputs, ["positions"], ["q_fp8 (4 bytes behind its end)"])
            kvexact.serve(run)
            """
        )
        self.assertEqual(done.returncode, 1)
        self.assertEqual(summary(done)["touched"], "24")
        self.assertIn("q_fp8 (4 bytes behind its end)", done.stdout)

    def test_configurations_narrow_what_is_asked(self):
        done = self.run_program(
            """
            def run(case):
                assert not case.param("q_fnuz", False)
                numpy_port.run(case)
            kvexact.serve(run, configurations=[{"q_fnuz": False}])
            """
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("is not done with q_fnuz=true", done.stdout)


if __name__ == "__main__":
    unittest.main()
