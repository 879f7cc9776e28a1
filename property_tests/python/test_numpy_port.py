# SPDX-License-Identifier: Apache-2.0
"""The numpy port is right, and its formats agree with exhaustive tables."""

import unittest

import kvexact
import numpy as np
from kvexact import binary, numpy_port
from support import SOURCE, summary, verify


class NumpyPort(unittest.TestCase):
    def test_generated_cases_of_every_operation(self):
        done = verify("-m kvexact.numpy_port", "--cases", "240", "--require-all")
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        counts = summary(done)
        for name in ("wrong", "touched", "unwritten", "unstable", "unsupported", "crashed"):
            self.assertEqual(counts[name], "0", name)
        self.assertGreater(int(counts["elements"]), 100000)

    def test_every_operation_is_served(self):
        self.assertEqual(set(numpy_port.RUN), set(kvexact.OPERATIONS))

    def test_inputs_of_recorded_cases(self):
        done = binary.call("replay", SOURCE / "golden" / "recorded", "--backend", f"exec:exec {__import__('sys').executable} -m kvexact.numpy_port", "--quiet")
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])

    def test_codes_round_to_nearest_even(self):
        # Every code is its own encoding; a middle goes to the even neighbour, one step beyond it to the nearer.
        for magnitudes in (numpy_port._E4M3FN, numpy_port._E4M3FNUZ, numpy_port._E2M1):
            codes = np.arange(len(magnitudes), dtype=np.uint8)
            np.testing.assert_array_equal(numpy_port.nearest_code(magnitudes, magnitudes), codes)
            middles = (magnitudes[1:] + magnitudes[:-1]) / 2
            even = np.where(codes[:-1] % 2 == 0, codes[:-1], codes[1:])
            np.testing.assert_array_equal(numpy_port.nearest_code(middles, magnitudes), even)
            above = np.nextafter(middles, np.float32(np.inf))
            np.testing.assert_array_equal(numpy_port.nearest_code(above, magnitudes), codes[1:])
            below = np.nextafter(middles, np.float32(0))
            np.testing.assert_array_equal(numpy_port.nearest_code(below, magnitudes), codes[:-1])
            self.assertEqual(numpy_port.nearest_code(np.float32([1e30]), magnitudes)[0], codes[-1])

    def test_scale_exponent_is_the_smallest_that_holds(self):
        for largest in (448, 224, 6):
            for k in range(-30, 31):
                amax = np.float32(largest * 2.0**k)
                self.assertEqual(numpy_port.scale_exponent(amax, largest), k)
                self.assertEqual(numpy_port.scale_exponent(np.nextafter(amax, np.float32(np.inf)), largest), k + 1)
                self.assertEqual(numpy_port.scale_exponent(np.nextafter(amax, np.float32(0)), largest), k)


if __name__ == "__main__":
    unittest.main()
