# SPDX-License-Identifier: Apache-2.0
"""Judging outputs that the caller has."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import tempfile

from kvexact import binary
from kvexact.case_file import Case, write_case
from kvexact.tensors import case_of, copy_with_strides, to_numpy


@dataclasses.dataclass
class Report:
    """What the program found: the text for people, the JSON report and its sums."""

    text: str
    json: dict
    exit_status: int

    @property
    def right(self):
        return self.exit_status == 0

    @property
    def counts(self):
        """exact, allowed, wrong, touched_bytes, unwritten, tightness_percent, ... of all elements."""
        return self.json["total"]

    def __str__(self):
        return self.text


def judge_file(path, *, policy="seed", budget=None):
    """Judges the outputs recorded in a case file. Raises ValueError for a file that cannot be used."""
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory) / "report.json"
        options = ["--policy", policy] + (["--budget", budget] if budget else [])
        done = binary.call("replay", path, "--recorded", "--quiet", "--json", report, *options)
        if done.returncode not in (0, 1, 3) or not report.exists():
            raise ValueError(done.stderr.strip() or f"kvexact exits {done.returncode}")
        return Report(done.stdout, json.loads(report.read_text()), done.returncode)


def judge(case, **options):
    """Judges case.recorded."""
    if case.recorded is None:
        raise ValueError("the case has no recorded outputs")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "case.safetensors")
        write_case(path, case)
        report = judge_file(path, **options)
    # What would repeat it is gone with the file.
    report.text = "\n".join(line for line in report.text.split("\n") if path not in line)
    return report


def check(op, tensors, outputs, *, before=None, policy="seed", budget=None, **parameters):
    """Judges what a launch stored in the caller's own tensors (numpy, torch, DLPack), element by element.

    `outputs` are the output tensors after the launch, `before` copies of what they held before it; without `before` bytes
    that must not change cannot be told from others, and an element that was not written counts as what it holds. The other
    arguments are those of kvexact.case_of. Returns a Report.
    """
    case = case_of(op, tensors, outputs if before is None else before, outputs, **parameters)
    return judge(case, policy=policy, budget=budget)


def _kept_file(stem):
    directory = pathlib.Path(os.environ.get("KVEXACT_FAILURES", "kvexact-failures"))
    directory.mkdir(parents=True, exist_ok=True)
    handle, path = tempfile.mkstemp(prefix=f"{stem}-", suffix=".safetensors", dir=directory)
    os.close(handle)
    return path


def assert_right(case, outputs=None, *, policy="seed", budget=None):
    """Fails, with the report as its text, unless `outputs` are right for `case`; None: those in case.outputs.

    The case with these outputs is kept in $KVEXACT_FAILURES (default: kvexact-failures) when it fails, and the text says
    how to judge it again.
    """
    after = {name: to_numpy(array) for name, array in (case.outputs if outputs is None else outputs).items()}
    recorded = Case(case.op, case.params, case.inputs, case.before or case.outputs, after, case.notes)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "case.safetensors")
        write_case(path, recorded)
        report = judge_file(path, policy=policy, budget=budget)
        if report.exit_status in (0, 3):
            return report
        kept = _kept_file(case.op)
        shutil.move(path, kept)
    raise AssertionError(f"{report.text.replace(path, kept)}\nkept: kvexact replay {kept} --recorded --policy {policy}")


def record(launcher, describe, directory):
    """The launcher, wrapped: every call also writes a case file with the tensors before and after it.

    describe(*args, **kwargs) returns (op, tensors, outputs, parameters) of a call, the arguments of kvexact.case_of.
    Returns the wrapped launcher; its attribute `files` lists what was written. A call that fails writes nothing.
    """
    files = []

    def wrapped(*args, **kwargs):
        op, tensors, outputs, parameters = describe(*args, **kwargs)
        before = {name: copy_with_strides(tensor) for name, tensor in outputs.items()}
        inputs = {name: copy_with_strides(tensor) for name, tensor in tensors.items()}
        result = launcher(*args, **kwargs)
        case = case_of(op, inputs, before, outputs, **parameters)
        os.makedirs(directory, exist_ok=True)
        path = os.path.join(directory, f"{op}_{len(files):06d}.safetensors")
        write_case(path, case)
        files.append(path)
        return result

    wrapped.files = files
    return wrapped

