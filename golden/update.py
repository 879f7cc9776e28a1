#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rewrites what is generated in this directory: vectors/scales.txt, cases/ and MANIFEST.

With --check writes nothing and exits 1 unless everything is as it would be written, the hand-derived tables agree with
exact arithmetic, and the directory is within its size.
"""
import argparse
import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))
sys.dont_write_bytecode = True

from derive import block_cases, driven_cases, nonfinite_cases, scales, tables  # noqa: E402

LIMIT = 6_000_000


def generated():
    """Path to contents of every generated file but MANIFEST."""
    files = {ROOT / "vectors/scales.txt": scales.text().encode()}
    for module in (block_cases, driven_cases, nonfinite_cases):
        files |= {ROOT / f"cases/{name}.safetensors": data for name, data in module.cases()}
    return files


def contents():
    """Path to contents of all files that MANIFEST lists, as they would be."""
    files = generated()
    for path in sorted(p for p in ROOT.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
        if path not in files and path.name != "MANIFEST" and path.parent.name != "cases":
            files[path] = path.read_bytes()
    return files


def manifest(files):
    lines = [f"{hashlib.sha256(data).hexdigest()}  {path.relative_to(ROOT)}" for path, data in sorted(files.items())]
    return ("\n".join(lines) + "\n").encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    tables.check()
    files = contents()
    total = sum(map(len, files.values()))
    files[ROOT / "MANIFEST"] = manifest(files)
    stale = [p for p in ROOT.glob("cases/*") if p not in files]
    differing = [p for p, data in files.items() if not p.exists() or p.read_bytes() != data]
    if not check:
        for path in stale:
            path.unlink()
        for path in differing:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(files[path])
    for path in sorted(stale + differing):
        print(f"golden/{path.relative_to(ROOT)}: {'differs from what golden/update.py writes' if check else 'written'}")
    print(f"golden: {len(files)} files, {total} of {LIMIT} bytes")
    return 1 if total > LIMIT or (check and stale + differing) else 0


if __name__ == "__main__":
    sys.exit(main())
