#!/usr/bin/env python3
"""The same bytes on every machine: what OpenBLAS takes this processor for, and the vector level, change neither T nor
parts nor the choice of `auto` nor the models of trees and of small ridges."""
import json
import os
import platform
import subprocess
import sys
import tempfile

COMMAND = os.environ["SR_COMMAND"]
CORES = ["Haswell", "Zen", "Nehalem", "Prescott"]


def run(environment, *arguments):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"{environment} {' '.join(arguments)}: exit {done.returncode}\n{done.stderr.decode()}")
    return done.stdout


def without_seconds(value):
    if isinstance(value, dict):
        return {key: without_seconds(inner) for key, inner in value.items() if key != "seconds"}
    return [without_seconds(inner) for inner in value] if isinstance(value, list) else value


def read(path):
    with open(path, "rb") as file:
        return file.read()


def results(environment, folder):
    """What must not change, by name."""
    series, field = os.path.join(folder, "series.csv"), os.path.join(folder, "field.csv")
    place = ["--graph", "space:8", "--coords", "coordinate1,coordinate2"]
    found = {}
    for name, data, extra in (("series", series, []), ("field", field, place)):
        told = json.loads(run(environment, "diagnose", data, "--target", "y", "--json", *extra))
        found[f"{name}: diagnose"] = json.dumps(without_seconds(told), sort_keys=True).encode()
        parts = os.path.join(folder, "parts.csv")
        run(environment, "parts", data, "--target", "y", "--parts", "16", "-o", parts, "-q", *extra)
        found[f"{name}: parts"] = read(parts)
        for learner in ("tree", "ridge"):
            model = os.path.join(folder, "model")
            told = json.loads(run(environment, "train", data, "--target", "y", "--members", "6", "--learner", learner,
                                  "-o", model, "--json", *extra))
            found[f"{name}: {learner}, choice"] = json.dumps(told["plan"], sort_keys=True).encode()
            found[f"{name}: {learner}, model"] = read(model)
            predicted = os.path.join(folder, "predicted.csv")
            run(environment, "predict", model, data, "-o", predicted, "-q")
            found[f"{name}: {learner}, predictions"] = read(predicted)
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        run({}, "simulate", "ar1:n=2000,tmix=20,d=8", "-o", os.path.join(folder, "series.csv"), "--seed", "1", "-q")
        run({}, "simulate", "grid:n=1600,range=5,d=3", "-o", os.path.join(folder, "field.csv"), "--seed", "1", "-q")
        machines = [{"OPENBLAS_CORETYPE": core} for core in CORES] if platform.machine() == "x86_64" else [{}]
        machines += [{"SPECROUTE_ISA": level} for level in ("base", "v3")]
        machines.append({"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"})  # its exp and log without fused sums
        first = results(machines[0], folder)
        faults = [f"{name} differs between {machines[0]} and {machine}"
                  for machine in machines[1:] for name, value in results(machine, folder).items() if value != first[name]]
    print("\n".join(faults) or f"{len(first)} results are the same bytes on {len(machines)} machines")
    return 1 if faults else 0


sys.exit(main())
