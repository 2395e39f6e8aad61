"""Reads a csv with pandas into float32 and prints seconds, values, their sum and peak memory (MB)."""
import resource
import sys
import time

import numpy
import pandas

start = time.perf_counter()
frame = pandas.read_csv(sys.argv[1], dtype=numpy.float32, engine="c")
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(seconds, frame.size, float(frame.to_numpy().sum(dtype=float)), peak)
