# SPDX-License-Identifier: Apache-2.0
"""program.py MODE: a program for exec: that keeps to the protocol, apart from what MODE names. Standard library alone.

It stores, in every output, the bytes that the output held before.
"""
import json
import os
import shutil
import signal
import sys
import time

mode = sys.argv[1]
HELLO = {
    "protocol": 1,
    "operations": ["indexer_q_fp8", "sparse_attn"],
    "name": "echo",
    "version": "7",
    "device": "paper",
    "policy": "seed",
    "budget": "tree32",
    "bit_exact": True,
}


DEEP = "[" * 400000 + "]" * 400000


def say(message):
    print(message if isinstance(message, str) else json.dumps(message), flush=True)


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    return {k: (e["dtype"], e["shape"], data[8 + size + e["data_offsets"][0] : 8 + size + e["data_offsets"][1]])
            for k, e in header.items()}


def write(path, tensors):
    header, offset = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(t[2] for t in tensors.values()))


def store(request):
    tensors = {k[: -len("_before")]: t for k, t in read(request["case"]).items() if k.endswith("_before")}
    name = sorted(tensors)[0]
    dtype, shape, data = tensors[name]
    if mode == "wrong-shape":
        tensors[name] = (dtype, [len(data)], data)
    if mode == "wrong-type":
        tensors[name] = ("I64", [len(data) // 8], data)
    if mode == "output-missing":
        del tensors[name]
    if mode == "output-extra":
        tensors["extra"] = ("U8", [1], b"x")
    if mode == "inverts":
        tensors[name] = (dtype, shape, bytes(b ^ 255 for b in data))
    if mode != "no-result":
        write(request["result"], tensors)
    if mode == "result-large":
        os.truncate(request["result"], 1 << 36)
    if mode == "result-directory":
        os.unlink(request["result"])
        os.mkdir(request["result"])
    if mode == "result-pipe":
        os.unlink(request["result"])
        os.mkfifo(request["result"])
    if mode == "removes-files":
        shutil.rmtree(os.path.dirname(request["case"]))
    if mode == "result-truncated":
        os.truncate(request["result"], os.path.getsize(request["result"]) - 1)


if mode == "no-hello":
    say("Loading kernels ...")
if mode == "hello-protocol":
    HELLO["protocol"] = 2
if mode == "hello-operation":
    HELLO["operations"] = ["attention"]
if mode == "hello-configuration":
    HELLO["configurations"] = [{"tile": 4}]
if mode == "configurations":
    HELLO["configurations"] = [{"op": "sparse_attn", "compress_ratio": [4, 128]}, {"op": "indexer_q_fp8"}]
if mode == "hello-nested":
    say('{"protocol": ' + DEEP + "}")
if mode == "exits-at-once":
    print("no such GPU", file=sys.stderr)
    sys.exit(9)
if mode == "hangs-at-once":
    time.sleep(1000)
say(HELLO)
for line in sys.stdin:
    request = json.loads(line)
    if mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "exits":
        print("out of memory", file=sys.stderr)
        sys.exit(3)
    if mode == "leaves-child":
        if os.fork() != 0:
            os._exit(3)
        time.sleep(1000)
    if mode == "nested":
        say('{"id": ' + DEEP + "}")
        continue
    if mode == "prints":
        say("compiling kernel 1 of 3")
    if mode == "malformed":
        say('{"id": ')
        continue
    store(request)
    reply = {"id": request["id"], "status": "ok"}
    if mode == "wrong-id":
        reply["id"] = "0"
    if mode == "odd-status":
        reply["status"] = "fine"
    if mode == "unsupported":
        reply.update(status="unsupported", message="needs sm_100")
    if mode == "error":
        print("launch failed: invalid argument", file=sys.stderr, flush=True)
        reply.update(status="error", message="cannot launch")
    if mode == "reports-damage":
        reply.update(written_inputs=["positions"], damaged_guards=["q_fp8 (1 bytes behind its end)"])
    say(reply)
