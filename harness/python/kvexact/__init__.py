# SPDX-License-Identifier: Apache-2.0
"""Judges KV-cache compression and indexer-Q kernels from Python. Guide: docs/backends.md of kvexact."""

from kvexact.case_file import Case, read_case, write_case
from kvexact.judging import Report, assert_right, check, judge, judge_file, record
from kvexact.serving import OPERATIONS, Outputs, Unsupported, serve
from kvexact.tensors import case_of, to_numpy

__all__ = [
    "Case",
    "OPERATIONS",
    "Outputs",
    "Report",
    "Unsupported",
    "assert_right",
    "case_of",
    "check",
    "judge",
    "judge_file",
    "read_case",
    "record",
    "serve",
    "to_numpy",
    "write_case",
]
