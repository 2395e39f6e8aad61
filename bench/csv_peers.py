"""Reads a csv with a peer and prints seconds, values, their sum, peak memory (MB) and processor seconds:

    csv_peers.py pandas|polars|pyarrow THREADS FILE

pandas and polars are told that all columns are float32; pyarrow gets its own choice, which is double. One thread is one
core, so that helpers of a library do not work beside it."""
import os
import resource
import sys
import time

peer, threads, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
os.environ["POLARS_MAX_THREADS"] = str(threads)
if threads == 1:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import numpy

if peer == "pandas":
    import pandas

    def read():
        return pandas.read_csv(path, dtype=numpy.float32, engine="c")
elif peer == "polars":
    import polars

    with open(path, encoding="utf-8") as file:
        kinds = {name: polars.Float32 for name in file.readline().strip().split(",")}

    def read():
        return polars.read_csv(path, schema_overrides=kinds)
else:
    import pyarrow
    import pyarrow.csv

    pyarrow.set_cpu_count(threads)

    def read():
        return pyarrow.csv.read_csv(path, read_options=pyarrow.csv.ReadOptions(use_threads=threads > 1))

start, start_cpu = time.perf_counter(), time.process_time()
table = read()
seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
if peer == "pyarrow":
    values, total = table.num_rows * table.num_columns, sum(column.to_numpy().sum() for column in table.columns)
else:
    values, total = table.shape[0] * table.shape[1], float(table.to_numpy().sum(dtype=float))
print(seconds, values, total, peak, cpu)
