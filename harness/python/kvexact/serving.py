# SPDX-License-Identifier: Apache-2.0
"""A Python function as a backend: kvexact verify --backend "exec:python my_backend.py"."""

from __future__ import annotations

import json
import os
import sys
import traceback

import numpy as np

from kvexact.case_file import read_case, save_tensors

PROTOCOL = 1
OPERATIONS = (
    "sparse_attn",
    "indexer_fp8",
    "indexer_mxfp4",
    "two_stage",
    "gather_split",
    "finalize",
    "indexer_q_fp8",
    "indexer_q_mxfp4",
)


class Unsupported(Exception):
    """Raised for a configuration that an implementation does not do; the text says which and why."""


class Outputs(dict):
    """Outputs, and what else a launch did: inputs that it wrote to, and buffers beside which it wrote."""

    def __init__(self, outputs, written_inputs=(), damaged_guards=()):
        super().__init__(outputs)
        self.written_inputs = list(written_inputs)
        self.damaged_guards = list(damaged_guards)


def _answer(run, request):
    case = read_case(request["case"])
    try:
        outputs = run(case)
    except Unsupported as reason:
        return {"status": "unsupported", "message": str(reason)}
    if outputs is None:
        outputs = case.outputs
    save_tensors(request["result"], {name: np.asarray(array) for name, array in outputs.items()})
    reply = {"status": "ok"}
    for key in ("written_inputs", "damaged_guards"):
        if getattr(outputs, key, None):
            reply[key] = getattr(outputs, key)
    return reply


def serve(run, operations=OPERATIONS, *, configurations=None, fatal=(), **about):
    """Answers the harness until it hangs up.

    run(case) gets a kvexact.Case. It writes into case.outputs and returns None, or returns a dictionary of arrays with
    the same names, types and shapes. Inputs are read-only. It raises Unsupported for what it does not do.

    `configurations` narrows what is asked: a list of dictionaries from parameter (or "op") to the values that are done,
    of which one must hold. `about`: name, version, device, policy ("poisoned", or "seed" if NaN and infinities are to
    be judged as well), budget, bit_exact. After an exception of a type in `fatal` this process ends (a GPU error that
    stays); the harness starts another.

    Standard output belongs to the protocol: what the function prints goes to standard error.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    hello = {"protocol": PROTOCOL, "operations": list(operations), **about}
    if configurations is not None:
        hello["configurations"] = configurations

    def say(message):
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    say(hello)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = _answer(run, request)
        except fatal:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(70)
        except Exception as error:  # the harness reports it and goes on
            traceback.print_exc()
            sys.stderr.flush()
            reply = {"status": "error", "message": f"{type(error).__name__}: {error}"}
        say({"id": request["id"], **reply})
