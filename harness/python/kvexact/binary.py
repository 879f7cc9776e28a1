# SPDX-License-Identifier: Apache-2.0
"""The kvexact program."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess


def find():
    """Path of the program: $KVEXACT_BINARY, the one that came with this package, or the one on PATH."""
    given = os.environ.get("KVEXACT_BINARY")
    if given:
        return given
    own = pathlib.Path(__file__).parent / "bin" / "kvexact"
    found = str(own) if own.exists() else shutil.which("kvexact")
    if not found:
        raise FileNotFoundError("the kvexact program is not on PATH; KVEXACT_BINARY can name it")
    return found


def call(*arguments):
    """Runs the program; returns its completed process with text output, whatever its exit status."""
    return subprocess.run([find(), *map(str, arguments)], capture_output=True, text=True)


def main():
    """The program under the name of this package's script."""
    path = find()
    os.execv(path, [path, *os.sys.argv[1:]])
