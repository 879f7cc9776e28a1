# SPDX-License-Identifier: Apache-2.0
"""The Python example of docs/backends.md, by the commands that stand there, in an empty directory."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import kvexact
from kvexact import binary
from support import SOURCE, summary


def documented_commands():
    """The indented lines from the export of PYTHONPATH to the first verify."""
    lines = [line.strip() for line in (SOURCE / "docs" / "backends.md").read_text().splitlines() if line.startswith("    ")]
    first = next(i for i, line in enumerate(lines) if line.startswith("export PYTHONPATH"))
    last = next(i for i, line in enumerate(lines) if i > first and line.startswith("kvexact verify"))
    return lines[first : last + 1]


class Example(unittest.TestCase):
    def test_from_an_empty_directory_to_a_judged_kernel(self):
        commands = documented_commands()
        self.assertEqual(len(commands), 3, commands)
        commands[-1] += " --cases 60 --quiet"
        path = os.path.dirname(binary.find())
        with tempfile.TemporaryDirectory() as directory:
            done = subprocess.run(
                ["/bin/sh", "-ec", "\n".join(commands)], capture_output=True, text=True, cwd=directory,
                env={"PATH": f"{path}:{os.environ['PATH']}", "KVEXACT": str(SOURCE), "HOME": directory},
            )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(summary(done)["verdict"], "right")
        self.assertGreater(int(summary(done)["exact"]), 10000)

    def test_package_directory_is_the_documented_one(self):
        self.assertEqual(pathlib.Path(kvexact.__file__).parent, SOURCE / "harness" / "python" / "kvexact")


if __name__ == "__main__":
    unittest.main()
