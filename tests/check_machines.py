#!/usr/bin/env python3
"""The same bytes on every machine: what OpenBLAS takes this processor for, and the vector level, change neither T nor
parts nor the choice of `auto` nor the models of trees and of small ridges. Where BLAS decides the last bits, of larger
ridges, of filters and of nets, nearly every row gets the same class (docs/methods/learner-*.md)."""
import json
import math
import os
import platform
import random
import subprocess
import sys
import tempfile

COMMAND = os.environ["SR_COMMAND"]
CORES = {"Haswell": "avx2", "Zen": "avx2", "Sandybridge": "avx", "Nehalem": "sse4_2", "Prescott": "pni",
         "SkylakeX": "avx512vl", "Cooperlake": "avx512_bf16"}  # what the processor must have
FEW_ROWS = 0.005  # share of the rows whose class may hang on the last bits


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


def cores():
    if platform.machine() != "x86_64":
        return []
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = next(line for line in file if line.startswith("flags")).split()
    return [core for core, flag in CORES.items() if flag in flags]


def write_classes(path):
    """Ten classes, values that are missing, weights."""
    draw = random.Random(5)
    with open(path, "w", encoding="utf-8") as file:
        file.write("a,b,c,d,e,f,w,y\n")
        level = [0.0] * 6
        for _ in range(2500):
            level = [0.8 * value + draw.gauss(0, 1) for value in level]
            label = int(5 + level[0] + level[1] + draw.gauss(0, 0.7)) % 10
            cells = ["" if draw.random() < 0.1 else f"{value:.3f}" for value in level]
            file.write(",".join(cells) + f",{draw.random() + 0.1:.4f},{label}\n")


def write_series(path):
    draw = random.Random(6)
    with open(path, "w", encoding="utf-8") as file:
        for k in range(300):
            values = [math.sin((0.2 + 0.05 * (k % 3)) * t + k) + draw.gauss(0, 0.7) for t in range(60)]
            file.write("\t".join([str(k % 3), *(f"{value:.4f}" for value in values)]) + "\n")


def more_results(environment, folder):
    """The kernels of many classes, of entropy, of weights, and of neighbors in many dimensions."""
    found, data = {}, os.path.join(folder, "classes.csv")
    common = [data, "--target", "y"]
    for name, extra in (("ten classes", []), ("entropy", ["--learner", "tree:criterion=entropy"]),
                        ("weights", ["--weight", "w"]), ("entropy, weights", ["--weight", "w", "--learner", "tree:criterion=entropy"])):
        model, predicted = os.path.join(folder, "model"), os.path.join(folder, "predicted.csv")
        run(environment, "train", *common, "--members", "4", "--plan", "uniform", "--no-evaluation", "-o", model, "-q", *extra)
        run(environment, "predict", model, data, "-o", predicted, "-q")
        found[f"{name}: model"], found[f"{name}: predictions"] = read(model), read(predicted)
    parts = os.path.join(folder, "parts.csv")
    run(environment, "parts", *common, "--graph", "features:10", "--parts", "32", "-o", parts, "-q")
    found["graph of features: 32 parts"] = read(parts)
    return found


def lattice_results(environment, folder):
    """T, parts and choice on a lattice with 10,000 cells, where `auto` has much to weigh."""
    place = ["--graph", "space:8", "--coords", "coordinate1,coordinate2"]
    parts = os.path.join(folder, "parts.csv")
    data, found = os.path.join(folder, "lattice.csv"), {}
    told = json.loads(run(environment, "diagnose", data, "--target", "y", "--json", *place))
    found["lattice: diagnose"] = json.dumps(without_seconds(told), sort_keys=True).encode()
    run(environment, "parts", data, "--target", "y", "--parts", "32", "-o", parts, "-q", *place)
    found["lattice: parts"] = read(parts)
    told = json.loads(run(environment, "train", data, "--target", "y", "--members", "4", "-o", os.path.join(folder, "model"),
                          "--json", *place))
    found["lattice: choice"] = json.dumps(told["plan"], sort_keys=True).encode()
    return found


def near_results(environment, folder):
    """Predicted classes of learners whose last bits are those of BLAS."""
    found = {}
    for name, data, kind in (("ridge", "wide.csv", ["--target", "y"]), ("rocket:kernels=300", "waves.tsv", ["--format", "ucr"]),
                             ("transformer:steps=30,width=16,blocks=1", "waves.tsv", ["--format", "ucr"])):
        data, model, predicted = (os.path.join(folder, file) for file in (data, "model", "predicted.csv"))
        run(environment, "train", data, *kind, "--learner", name, "--members", "3", "--plan", "uniform", "--no-evaluation",
            "-o", model, "-q")
        run(environment, "predict", model, data, *kind[:2 if "ucr" in kind else 0], "-o", predicted, "-q")
        found[name] = [line.split(b",")[0] for line in read(predicted).splitlines()[1:]]
    return found


def far_apart(first, other):
    """Learners that give more than a few rows another class."""
    return [name for name, labels in other.items()
            if sum(a != b for a, b in zip(labels, first[name])) > FEW_ROWS * len(labels)]


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, what in (("series", "ar1:n=2000,tmix=20,d=8"), ("field", "grid:n=1600,range=5,d=3"),
                           ("lattice", "grid:n=10000,range=5,d=3"), ("wide", "ar1:n=1500,tmix=5,d=80,noise=0.3")):
            run({}, "simulate", what, "-o", os.path.join(folder, name + ".csv"), "--seed", "1", "-q")
        write_classes(os.path.join(folder, "classes.csv"))
        write_series(os.path.join(folder, "waves.tsv"))
        machines = [{"OPENBLAS_CORETYPE": core} for core in cores()] or [{}]
        blas = len(machines)
        machines += [{"SPECROUTE_ISA": level} for level in ("base", "v3") if platform.machine() == "x86_64"]
        machines.append({"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"})  # its exp and log without fused sums
        every = [results(machine, folder) for machine in machines]
        for k, machine in enumerate(machines):
            if k == 0 or k >= blas:  # no BLAS in them
                every[k].update(more_results(machine, folder))
            if k < blas:
                every[k].update(lattice_results(machine, folder))
        first = every[0]
        faults = [f"{name} differs between {machines[0]} and {machine}"
                  for machine, found in zip(machines, every) for name, value in found.items() if value != first[name]]
        near = [near_results(machine, folder) for machine in machines[:blas]]
        faults += [f"{name}: more than {FEW_ROWS:.1%} of the rows differ between {machines[0]} and {machine}"
                   for machine, found in zip(machines, near) for name in far_apart(near[0], found)]
    print("\n".join(faults) or f"{len(first)} results are the same bytes on {len(machines)} machines")
    return 1 if faults else 0


sys.exit(main())
