# SPDX-License-Identifier: Apache-2.0
"""What the tests share."""

import os
import pathlib
import sys
import tempfile

import kvexact
from kvexact import binary, numpy_port

SOURCE = pathlib.Path(os.environ["KVEXACT_SOURCE"])


def generated(op, cases=4, max_configs=2, seed=1):
    """Cases of one operation, each with the numpy port's outputs in `recorded`."""
    with tempfile.TemporaryDirectory() as directory:
        done = binary.call("gen", "--op", op, "--cases", cases, "--max-configs", max_configs, "--seed", seed, "--out", directory)
        assert done.returncode == 0, done.stderr
        files = [line.split("  ")[0] for line in done.stdout.splitlines()]
        found = [kvexact.read_case(path) for path in files]
    for case in found:
        before = {name: array.copy() for name, array in case.outputs.items()}
        numpy_port.run(case)
        case.recorded, case.outputs = case.outputs, before
    return found


def verify(program, *arguments):
    """kvexact verify of a Python program in exec:."""
    return binary.call("verify", "--backend", f"exec:exec {sys.executable} {program}", "--quiet", *arguments)


def summary(done):
    """The line for scripts as a dictionary."""
    return dict(field.split("=", 1) for field in done.stdout.strip().splitlines()[-1].split())
