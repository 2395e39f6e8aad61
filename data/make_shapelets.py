#!/usr/bin/env python3
"""Writes shapelets_TRAIN.ts.gz and shapelets_TEST.ts.gz: three shapes hidden in noise.

A case is a random walk pulled back to zero (AR(1), coefficient .7) of 64 to 80 steps, with one shape of
16 steps added at a random place: a bump, a dip behind a bump, or two quick waves. The class is the shape.
"""
import gzip
import math
import random

SHAPES = {
    "bump": [2.5 * math.sin(math.pi * (t + 0.5) / 16) for t in range(16)],
    "swing": [2.5 * math.sin(2 * math.pi * (t + 0.5) / 16) for t in range(16)],
    "waves": [2.0 * math.sin(4 * 2 * math.pi * (t + 0.5) / 16) for t in range(16)],
}
HEADER = """@problemName shapelets
@timeStamps false
@missing false
@univariate true
@equalLength false
@classLabel true bump swing waves
@data
"""


def case(shape, draw):
    length = draw.randint(64, 80)
    value, series = 0.0, []
    for _ in range(length):
        value = 0.7 * value + draw.gauss(0.0, 0.5)
        series.append(value)
    start = draw.randrange(length - 16)
    for t in range(16):
        series[start + t] += SHAPES[shape][t]
    return ",".join(f"{x:.4f}" for x in series) + ":" + shape


def write(part, cases, draw):
    lines = [case(list(SHAPES)[i % 3], draw) for i in range(cases)]
    draw.shuffle(lines)
    with open(f"shapelets_{part}.ts.gz", "wb") as file:
        with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
            packed.write((HEADER + "\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    stream = random.Random(20261117)
    write("TRAIN", 90, stream)
    write("TEST", 150, stream)
