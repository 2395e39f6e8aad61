"""Reads a csv with pandas into float32 and prints seconds, values, their sum, peak memory (MB) and
processor seconds."""
import resource
import sys
import time

import numpy
import pandas

start, start_cpu = time.perf_counter(), time.process_time()
frame = pandas.read_csv(sys.argv[1], dtype=numpy.float32, engine="c")
seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(seconds, frame.size, float(frame.to_numpy().sum(dtype=float)), peak, cpu)
