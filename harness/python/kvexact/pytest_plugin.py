# SPDX-License-Identifier: Apache-2.0
"""pytest: generated cases as a fixture.

    @pytest.mark.kvexact(op="sparse_attn", cases=50, max_configs=6)
    def test_my_kernel(kvexact_case):
        kvexact.assert_right(kvexact_case, my_kernel(kvexact_case))
"""

from __future__ import annotations

import pathlib
import tempfile

import pytest

from kvexact import binary, read_case


def pytest_addoption(parser):
    group = parser.getgroup("kvexact")
    group.addoption("--kvexact-cases", type=int, default=None, help="cases a test, instead of what its marker says")
    group.addoption("--kvexact-seed", default="1", help="seed of the generated cases: a number")


def pytest_configure(config):
    config.addinivalue_line("markers", "kvexact(op=None, cases=20, max_configs=4): generated cases for kvexact_case")
    config.stash[_DIRECTORY] = tempfile.TemporaryDirectory(prefix="kvexact-cases-")


def pytest_unconfigure(config):
    config.stash[_DIRECTORY].cleanup()


_DIRECTORY = pytest.StashKey[tempfile.TemporaryDirectory]()


def _generate(config, op, cases, max_configs):
    """Files of the generated cases and their specs. Equal arguments give equal cases."""
    seed = config.getoption("--kvexact-seed")
    out = pathlib.Path(config.stash[_DIRECTORY].name) / f"{op or 'all'}_{seed}_{cases}_{max_configs}"
    operations = [] if op is None else [f"--op={name}" for name in ([op] if isinstance(op, str) else op)]
    done = binary.call("gen", *operations, "--seed", seed, "--cases", cases, "--max-configs", max_configs, "--out", out)
    if done.returncode != 0:
        raise pytest.UsageError(done.stderr.strip())
    return [line.split("  ", 1) for line in done.stdout.splitlines()]


def pytest_generate_tests(metafunc):
    if "kvexact_case" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker("kvexact")
    settings = dict(op=None, cases=20, max_configs=4)
    settings.update(marker.kwargs if marker else {})
    cases = metafunc.config.getoption("--kvexact-cases") or settings["cases"]
    generated = _generate(metafunc.config, settings["op"], cases, settings["max_configs"])
    names = [pathlib.Path(path).stem for path, _ in generated]
    metafunc.parametrize("kvexact_case", [path for path, _ in generated], ids=names, indirect=True)


@pytest.fixture
def kvexact_case(request):
    """A kvexact.Case: fresh outputs, read-only inputs."""
    return read_case(request.param)
