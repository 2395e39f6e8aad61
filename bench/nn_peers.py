#!/usr/bin/env python3
"""Training steps of the sequence nets beside PyTorch, in turn, one thread, processor time.

python3 bench/nn_peers.py BENCH_NN [--repeats 9] [--lengths 150,500] [--batches 16,32] [--compiled]

A step is forward with dropout, loss, backward, clipping and AdamW. The peer is the faster of PyTorch's default and
fused AdamW. Prints one JSON line per case: median seconds of a step, and the median and quartiles of the ratio."""
import argparse
import json
import os
import subprocess
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "data"))
from sequence_reference import Net, doubling_scan, loop_scan  # noqa: E402

torch.set_num_threads(1)


def step(net, optimizer, x, y):
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()


def case(program, kind, scan, name, length, batch, repeats, compiled):
    ours = subprocess.Popen([program, kind, str(length), str(batch)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run_ours(steps):
        ours.stdin.write(f"run {steps}\n")
        ours.stdin.flush()
        seconds, memory = ours.stdout.readline().split()
        return float(seconds), float(memory)

    x, y, peers = torch.randn(batch, 1, length), torch.randint(0, 2, (batch,)), []
    for fused in (False, True):
        torch.manual_seed(0)
        net = Net(kind, length, 1, 2, torch.compile(scan) if compiled else scan)
        peers.append((net, torch.optim.AdamW(net.parameters(), lr=1e-4, betas=(0.9, 0.99), weight_decay=0.05, fused=fused)))
        step(*peers[-1], x, y)
    steps, rows = (5 if kind == "transformer" else 2), []
    for repeat in range(repeats + 1):
        own, peer, memory = [run_ours(2 * steps)[0]], [], 0
        for net, optimizer in peers:
            start = time.process_time()
            for _ in range(steps):
                step(net, optimizer, x, y)
            peer.append((time.process_time() - start) / steps)
            seconds, memory = run_ours(2 * steps)
            own.append(seconds)
        if repeat:
            rows.append((np.mean(own), *peer))
    ours.stdin.close()
    ours.wait()
    rows = np.array(rows)
    faster = 1 + int(np.median(rows[:, 2]) < np.median(rows[:, 1]))
    low, middle, high = np.percentile(rows[:, faster] / rows[:, 0], [25, 50, 75])
    print(json.dumps({"bench": "nn", "case": f"{kind} step, L = {length}, batch {batch}", "threads": 1,
                      "us_seconds": round(np.median(rows[:, 0]), 6), "peer": f"PyTorch {torch.__version__} {name}".strip(),
                      "peer_seconds": round(np.median(rows[:, faster]), 5), "ratio": round(middle, 2),
                      "quartiles": [round(low, 2), round(high, 2)], "us_peak_mb": memory}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--lengths", default="150,500")
    parser.add_argument("--batches", default="16,32")
    parser.add_argument("--kinds", default="transformer,loop,doubling")
    parser.add_argument("--compiled", action="store_true", help="also Mamba's loop through torch.compile; takes minutes")
    a = parser.parse_args()
    peers = {"transformer": ("transformer", loop_scan, ""), "loop": ("mamba", loop_scan, "loop scan"),
             "doubling": ("mamba", doubling_scan, "doubling scan")}
    for key in a.kinds.split(","):
        for length in map(int, a.lengths.split(",")):
            for batch in map(int, a.batches.split(",")):
                case(a.program, *peers[key], length, batch, a.repeats, False)
    if a.compiled:
        case(a.program, "mamba", loop_scan, "compiled loop scan", 150, 16, a.repeats, True)


main()
