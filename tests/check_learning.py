#!/usr/bin/env python3
"""rl train learns Breakout and Pong on grids: returns that random play (0.29 and -5.4) and a sampler or an optimizer gone wrong
do not reach. Minutes with sanitizers, so they are left out there; ./test.sh runs it without."""
import json
import os
import subprocess
import sys

COMMAND = os.environ["SR_COMMAND"]
LINE = ("--heads", "1", "--capacity", "20000", "--steps", "10000", "--start", "500", "--epsilon-steps", "4000",
        "--target-every", "250", "--learning-rate", "1e-3", "--seed", "3", "--json")
GOALS = {"breakout": 3.5, "pong": 2}  # 12 times random play; more points won than lost


def main():
    if os.environ.get("SR_SANITIZE"):
        print("learning takes minutes with sanitizers")
        return 77
    faults = []
    for game, goal in GOALS.items():
        result = subprocess.run([COMMAND, "rl", "train", "--game", game, *LINE], capture_output=True, text=True, timeout=900)
        if result.returncode != 0:
            faults.append(result.stderr)
            continue
        reached = json.loads(result.stdout)["return"]["mean"]
        print(f"{game}: {reached:.2f} after 10,000 steps")
        if not reached >= goal:
            faults.append(f"{game}: a return of {reached:.2f}, not {goal} and more")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
