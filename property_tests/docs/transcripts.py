# SPDX-License-Identifier: Apache-2.0
"""transcripts.py KVEXACT CHECKOUT PAGE: is a page's output what its commands print?

Runs every indented line "$ COMMAND" of the page, in order, in one new directory. The indented lines behind it must be
what the command prints: a line "..." stands for any lines, " ..." at a line's end for its rest. Commands that show no
output must succeed.
"""
import os
import pathlib
import subprocess
import sys
import tempfile


def commands(page):
    """Pairs of a command and the lines that the page shows of its output."""
    found = []
    for line in page.read_text().splitlines():
        if line.startswith("    $ "):
            found.append((line[6:], []))
        elif line.startswith("    ") and found:
            found[-1][1].append(line[4:])
        elif line.strip():
            # Text ends a block: later indented lines belong to no command.
            found.append((None, []))
    return [(command, shown) for command, shown in found if command]


def matches(shown, line):
    if shown.endswith(" ..."):
        return line.startswith(shown[:-4])
    return line == shown


def check(command, shown, printed):
    at = 0
    skipping = False
    for line in shown:
        if line == "...":
            skipping = True
            continue
        while skipping and at < len(printed) and not matches(line, printed[at]):
            at += 1
        if at == len(printed) or not matches(line, printed[at]):
            sys.exit(f"$ {command}\nthe page shows:\n{line}\nthe command prints:\n" + "\n".join(printed))
        at += 1
        skipping = False
    if shown and not skipping and at != len(printed):
        sys.exit(f"$ {command}\nprints more than the page shows:\n{printed[at]}")


def main():
    kvexact, checkout, page = map(pathlib.Path, sys.argv[1:])
    environment = dict(os.environ, KVEXACT=str(checkout), PATH=f"{kvexact.parent}:{os.environ['PATH']}")
    compared = 0
    with tempfile.TemporaryDirectory() as directory:
        for command, shown in commands(page):
            result = subprocess.run(["sh", "-c", command], cwd=directory, env=environment, capture_output=True,
                                    text=True, check=False)
            if not shown and result.returncode != 0:
                sys.exit(f"$ {command}\nended with status {result.returncode}:\n{result.stderr}")
            check(command, shown, [line for line in result.stdout.splitlines() if line.strip()])
            compared += len(shown)
    if compared < 10:
        sys.exit(f"only {compared} lines to compare")
    print(f"{compared} lines compared")


if __name__ == "__main__":
    main()
