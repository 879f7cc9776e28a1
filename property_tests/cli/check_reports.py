# SPDX-License-Identifier: Apache-2.0
"""check_reports.py KVEXACT SCHEMA CRASHING_LIBRARY RECORDED_CASES: reads what `kvexact` writes with other people's parsers.

Every command that reports, and runs of a right subject, a faulty one, one that crashes and one that supports nothing,
write all formats. The JSON
must meet the schema, the JUnit file its structure, the HTML page must be well-formed, self-contained and free of
scripts, and their counts must agree. Fails with the first thing that does not hold.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import jsonschema


def run(kvexact, words, directory):
    files = {kind: directory / f"report.{kind}" for kind in ("json", "junit", "markdown", "html")}
    command = [kvexact, *words]
    for kind, file in files.items():
        command += [f"--{kind}", str(file)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    last = result.stdout.splitlines()[-1]
    if not last.startswith("verdict="):  # a diagnosis, which ends otherwise; its page holds the line
        page = xml.fromstring(files["html"].read_text().split("\n", 1)[1])
        last = page.find("body/pre").text
    line = dict(word.split("=", 1) for word in last.split(" "))
    return result.returncode, line, {kind: file.read_text() for kind, file in files.items()}


def check_junit(text, status):
    """The structure that Jenkins, GitLab and the others share: testsuites / testsuite / testcase / one outcome."""
    root = xml.fromstring(text)
    assert root.tag == "testsuites", root.tag
    totals = collections.Counter()
    for suite in root:
        assert suite.tag == "testsuite" and suite.get("name"), suite.tag
        counts = collections.Counter()
        names = set()
        for case in suite:
            assert case.tag == "testcase" and case.get("classname") and case.get("name"), case.attrib
            assert case.get("name") not in names, f"twice: {case.get('name')}"
            names.add(case.get("name"))
            assert len(case) <= 1, "a test case has one outcome"
            counts["tests"] += 1
            for outcome in case:
                kind = {"failure": "failures", "error": "errors", "skipped": "skipped"}[outcome.tag]
                assert outcome.get("message"), outcome.tag
                counts[kind] += 1
        for kind in ("tests", "failures", "errors", "skipped"):
            assert int(suite.get(kind)) == counts[kind], (suite.get("name"), kind)
        totals += counts
    for kind in ("tests", "failures", "errors", "skipped"):
        assert int(root.get(kind)) == totals[kind], kind
    bad = totals["failures"] + totals["errors"] > 0
    assert bad == (status != 0), f"{totals} and status {status}"


def check_page(text):
    assert len(text) < 1_000_000, len(text)
    assert text.startswith("<!DOCTYPE html>\n")
    root = xml.fromstring(text.split("\n", 1)[1])
    tags = {element.tag for element in root.iter()}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form"}, tags
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on") and name not in ("src", "href"), (element.tag, name)
            assert "url(" not in value, value
    style = root.find("head/style").text
    assert "prefers-color-scheme: dark" in style and "url(" not in style and "@import" not in style
    return root


def check_html(text, line):
    root = check_page(text)
    verdict = [e for e in root.iter("span") if (e.get("class") or "").startswith("verdict")]
    assert [e.text for e in verdict] == [line["verdict"]]


def check_json(text, schema, line):
    report = json.loads(text)
    jsonschema.validate(report, schema, cls=jsonschema.Draft7Validator)
    for key, name in (("cases", "cases"), ("elements", "elements"), ("exact", "exact"), ("wrong", "wrong"),
                      ("touched", "touched_bytes"), ("unwritten", "unwritten")):
        assert int(line[key]) == report["total"][name], key
        assert report["total"][name] == sum(row[name] for row in report["rows"]), name
    return report


def check_markdown(text, line):
    assert text.startswith(f"## kvexact: {line['verdict']}\n"), text[:40]
    assert len(re.findall("^```+$", text, re.M)) % 2 == 0
    assert "<script" not in text


def check_times(kvexact):
    """Two implementations on every workload, the second twice as slow: as many points and bars as times."""
    names = subprocess.run([kvexact, "bench", "--list"], capture_output=True, text=True, check=True).stdout.split()
    with tempfile.TemporaryDirectory() as directory:
        files = [pathlib.Path(directory) / name for name in ("ours.jsonl", "<theirs>.jsonl")]
        for factor, file in enumerate(files, 1):
            rows = [{"kernel": "empty", "mode": "launch", "tokens": 0, "bytes": 0, "us": 2.5},
                    {"kernel": "copy", "mode": "1GiB", "tokens": 0, "bytes": 1 << 31, "us": 500.0}]
            for name in names:
                kernel, mode, tokens = name.split("/")
                rows.append({"kernel": kernel, "mode": mode, "tokens": int(tokens), "bytes": 0, "us": 80.0 * factor})
            file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        page = pathlib.Path(directory) / "times.html"
        command = [kvexact, "report", "bench", *map(str, files), "--html", str(page)]
        subprocess.run(command, check=True)
        root = check_page(page.read_text())
        for tag in ("circle", "rect"):
            found = collections.Counter(e.get("class") for e in root.iter(tag))
            assert found == {"p0": len(names), "p1": len(names)}, (tag, found)
        files[0].write_text('{"kernel": "empty"}\n')
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1, refused


def main():
    kvexact, schema_file, crashing, recorded = sys.argv[1:]
    schema = json.loads(pathlib.Path(schema_file).read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    check_times(kvexact)

    def verify(backend, *arguments):
        return ["verify", "--backend", backend, "--quiet", "--cases", "24", *arguments]

    def fault(name, *arguments):
        return verify("fault:" + name, "--shrink-time", "0", *arguments)

    shards = tempfile.TemporaryDirectory()
    parts = [f"{shards.name}/{i}.json" for i in range(3)]
    for i, part in enumerate(parts):
        subprocess.run([kvexact, *fault("rope-none", "--shard", f"{i}/3", "--json", part)], capture_output=True, check=False)
    spec = "op=sparse_attn requests=0+8"
    unsupported = str(pathlib.Path(crashing).with_name("unsupported.so"))
    runs = (
        ("right", 0, verify("host")),
        ("rope-sign", 1, verify("fault:rope-sign", "--shrink-time", "1s")),
        ("touched", 1, fault("store-next-slot")),
        ("crash", 1, verify(f"lib:{crashing}", "--shrink-time", "0")),
        ("unsupported", 3, verify("lib:" + unsupported, "--require-all")),
        ("recorded", 0, ["replay", recorded, "--recorded"]),
        ("unreadable", 2, ["replay", schema_file, "--recorded"]),
        ("selftest", 0, ["selftest", "--quiet"]),
        ("diagnosis", 1, ["diagnose", spec, "--backend", "fault:norm-none"]),
        ("merged", 1, ["report", "merge", *parts]),
        ("missing shard", 1, ["report", "merge", *parts[:2]]),
    )
    for name, expected, words in runs:
        with tempfile.TemporaryDirectory() as directory:
            status, line, texts = run(kvexact, words, pathlib.Path(directory))
            assert status == expected, (name, status)
            report = check_json(texts["json"], schema, line)
            check_junit(texts["junit"], status)
            check_html(texts["html"], line)
            check_markdown(texts["markdown"], line)
            # Read again, a report prints the same.
            again = pathlib.Path(directory) / "again.json"
            subprocess.run([kvexact, "report", "show", str(pathlib.Path(directory) / "report.json"), "--json", str(again)],
                           capture_output=True, check=False)
            assert again.read_text() == texts["json"], name
            if name == "rope-sign":
                studied = [failure for failure in report["failures"] if failure["studied"] and failure["map"]]
                assert any(failure["first_wrong_stage"] == "rope" for failure in studied)
                assert any(suspect.startswith("rope-sign: ") for f in studied for suspect in f["suspects"])
                assert "<path class=\"w\"" in texts["html"]
            print(f"{name}: status {status}, {len(texts['html'])} bytes of HTML")


if __name__ == "__main__":
    main()
