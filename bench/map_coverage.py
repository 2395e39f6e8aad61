"""Do the four intervals of a map hold the truth? Simulated maps, judged on fresh rows of each kind.

Run: python3 bench/map_coverage.py COMMAND [RUNS [MINUTES]]   adds runs to bench/results/map_coverage.jsonl; resumes
     python3 bench/map_coverage.py --page                     writes docs/map-coverage.md from it
     python3 bench/map_coverage.py --check                    fails where the page is out of date
Runs go round all settings, one each, so that a study that was stopped early has them all.
"""
import collections
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = ROOT / "bench/results/map_coverage.jsonl"
PAGE = ROOT / "docs/map-coverage.md"
SIDE, TORUS, FEATURES = 200.0, 256, 5

# name: rows of the sample, range of the fields, clusters (0: even), rows share places, regions, a class per cluster
SETTINGS = {
    "independent rows": (1200, 0.0, 0, False, 1, False),
    "even sample, range 12": (1200, 12.0, 0, False, 1, False),
    "even sample, range 35": (1200, 35.0, 0, False, 1, False),
    "40 clusters, range 12": (1200, 12.0, 40, False, 1, False),
    "120 polygons, one class each": (1200, 12.0, 120, True, 1, True),
    "6 regions, law shifted": (1500, 12.0, 90, True, 6, False),
}
QUESTIONS = ("pixels", "fields", "areas", "regions")


class Law:
    """Fields over the ground and the class of a row; regions have features of their own and move the law."""

    def __init__(self, np, random, setting):
        self.np, self.random = np, random
        self.rows, self.range, self.clusters, self.places, self.regions, self.one_class = setting
        self.fresh()

    def fresh(self):
        np, random = self.np, self.random
        if self.range == 0.0:
            self.maps = None
            return
        f = np.fft.fftfreq(TORUS) * 2 * np.pi
        s = (1 + (f[:, None] ** 2 + f[None, :] ** 2) * self.range ** 2) ** -0.75
        noise = np.fft.fft2(random.standard_normal((FEATURES + 1, TORUS, TORUS)))
        self.maps = np.fft.ifft2(noise * s / np.sqrt((s ** 2).mean())).real

    def new_regions(self, count):
        return self.random.standard_normal((count, 3)) * 0.6

    def draw(self, at, moods):
        np, random = self.np, self.random
        n = len(at)
        if self.maps is None:
            z = random.standard_normal((n, FEATURES + 1))
        else:
            i = np.round(at).astype(int) % TORUS
            z = self.maps[:, i[:, 0], i[:, 1]].T
        x = z[:, :FEATURES] + 0.05 * random.standard_normal((n, FEATURES))
        x[:, 0] += moods[:, 0]
        score = z[:, 0] + (0.7 + moods[:, 1]) * z[:, 1] * np.sign(z[:, 2]) + 1.2 * z[:, FEATURES] + moods[:, 2]
        return x, (score > 0).astype(int)

    def clustered(self, rows, clusters, moods, homes):
        """Rows in clusters, evenly dealt to regions that lie 1,000 apart."""
        np, random = self.np, self.random
        center = random.uniform(0, SIDE, (clusters, 2))
        region = np.arange(clusters) % len(moods)
        unit = np.repeat(np.arange(clusters), rows // clusters)
        spread = 2 * random.standard_normal((len(unit), 2))
        x, y = self.draw((center[unit] + spread) % SIDE, moods[region[unit]])
        if self.one_class:
            y = (np.bincount(unit, y) * 2 > np.bincount(unit)).astype(int)[unit]
        at = center[unit] + (0 if self.places else spread)
        return x, y, at + 1000.0 * homes[region[unit]][:, None]

    def sample(self, rows, moods, homes):
        if self.clusters:
            clusters = max(len(moods), self.clusters * rows // self.rows)
            return self.clustered(rows, clusters, moods, homes)
        at = self.random.uniform(0, SIDE, (rows, 2))
        x, y = self.draw(at, self.np.repeat(moods[:1], rows, 0))
        return x, y, at


def write(path, x, y, at):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([f"x{j + 1}" for j in range(FEATURES)] + ["east", "north", "class"])
        for row, place, label in zip(x, at, y):
            out.writerow([f"{v:.6g}" for v in row] + [f"{v:.9g}" for v in place] + ["ab"[label]])


def call(command, *arguments):
    done = subprocess.run([command, *arguments, "--json", "--threads", "1"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return json.loads(done.stdout)


def one_run(command, name, run, folder):
    import numpy as np

    random = np.random.default_rng([run, list(SETTINGS).index(name)])
    law = Law(np, random, SETTINGS[name])
    moods, homes = law.new_regions(law.regions) * (law.regions > 1), np.arange(law.regions)
    x, y, at = law.sample(2 * law.rows, moods, homes)
    half = np.zeros(len(y), bool)
    half[random.permutation(len(y))[: len(y) // 2]] = True
    fresh = {"pixels": (x[~half], y[~half], at[~half])}
    if law.clusters:
        fresh["fields"] = law.sample(4000, moods, homes)
    if law.regions > 1:
        fresh["regions"] = law.sample(law.rows * 4, law.new_regions(60), np.arange(60))
    else:
        parts = []
        for _ in range(1 if law.maps is None else 6):
            law.fresh()
            parts.append(law.sample(1200, moods, homes))
        fresh["areas"] = tuple(np.concatenate([p[k] for p in parts]) for k in range(3))
    path = {k: os.path.join(folder, k + ".csv") for k in ("train", "model", "said", *fresh)}
    write(path["train"], x[half], y[half], at[half])
    begun = time.process_time() + os.times().children_user
    told = call(command, "train", path["train"], "--target", "class", "--coords", "east,north", "-o", path["model"], "--plan", "uniform",
                "--no-importance", "--seed", str(run + 1))
    result = {"setting": name, "run": run, "seconds": round(time.process_time() + os.times().children_user - begun, 2), "questions": {}}
    for q in told["error"]["questions"]:
        if q["name"] not in QUESTIONS:
            continue
        truth = None
        if q["name"] in fresh:
            write(path[q["name"]], *fresh[q["name"]])
            truth = call(command, "predict", path["model"], path[q["name"]], "-o", path["said"])["error"]
        result["questions"][q["name"]] = {k: q[k] for k in ("estimate", "low", "high")} | {"truth": truth}
    return result


def study(command, runs, minutes):
    done = collections.Counter()
    if RUNS.exists():
        lines = [json.loads(line) for line in RUNS.read_text().splitlines()]
        done.update((r["setting"], r["run"]) for r in lines if "setting" in r)
    else:
        version = subprocess.run([command, "--version", "-v"], capture_output=True, text=True, check=True).stdout
        commit = next(line.split()[1] for line in version.splitlines() if line.startswith("commit"))
        RUNS.write_text(json.dumps({"command": "python3 bench/map_coverage.py build/release/specroute", "commit": commit}) + "\n")
    end = time.process_time() + os.times().children_user + 60 * minutes
    with tempfile.TemporaryDirectory() as folder, open(RUNS, "a") as out:
        for run in range(runs):
            for name in SETTINGS:
                if done[name, run]:
                    continue
                if time.process_time() + os.times().children_user > end:
                    return
                out.write(json.dumps(one_run(command, name, run, folder)) + "\n")
                out.flush()


def show(value, sign=False):
    return "-" if value is None or value != value else f"{value:{'+' if sign else ''}.3f}"


def mean(values):
    return sum(values) / len(values) if values else math.nan


def cell(answers):
    told = [a for a in answers if a["low"] is not None and a["truth"] is not None]
    if not told:
        return [show(None)] * 4 + [f"0 of {len(answers)}"]
    covered = [a["low"] <= a["truth"] <= a["high"] for a in told]
    return [show(mean([a["truth"] for a in told])), show(mean([a["estimate"] - a["truth"] for a in told]), True),
            show(mean(covered)), show(mean([a["high"] - a["low"] for a in told])), f"{len(told)} of {len(answers)}"]


def page():
    lines = [json.loads(line) for line in RUNS.read_text().splitlines()]
    head, runs = lines[0], lines[1:]
    pooled, by_setting = collections.defaultdict(list), collections.defaultdict(list)
    for r in runs:
        for name, a in r["questions"].items():
            if a["truth"] is not None:
                pooled[name].append(a)
                by_setting[r["setting"], name].append(a)
    text = ["# Coverage of the errors of a map", "",
            "Simulated maps of 1,200 or 1,500 rows and five features, fields with exponential covariance on a window of 200; plan uniform,",
            "100 trees, coordinates alone. **Truth** is the error of the delivered model on fresh rows: the other half of the sample",
            "(pixels), new clusters of the same map (fields), fresh maps of the same law (areas), sixty fresh regions (regions).",
            "**Covered** is the share of runs whose 95 % interval holds it, among those where an interval was given.", "",
            f"{len(runs)} runs, made with `{head['command']}` at commit {head['commit']};",
            "the same command adds more, `python3 bench/map_coverage.py --page` writes this page. The standard error of a coverage near .95 is .10",
            "with 5 runs, .05 with 20, .02 with 100, .01 with 500: cells with few runs only show gross faults.", "",
            "## All settings together", "", "| question | truth | bias | covered | width | intervals given |", "|---|---|---|---|---|---|"]
    text += [f"| {q} | " + " | ".join(cell(pooled[q])) + " |" for q in QUESTIONS if pooled[q]]
    text += ["", "## By setting", "", "| setting | question | truth | bias | covered | width | intervals given |", "|---|---|---|---|---|---|---|"]
    text += [f"| {s} | {q} | " + " | ".join(cell(by_setting[s, q])) + " |" for s in SETTINGS for q in QUESTIONS if by_setting[s, q]]
    return "\n".join(text) + "\n"


def main(arguments):
    if arguments == ["--page"]:
        PAGE.write_text(page())
    elif arguments == ["--check"]:
        if PAGE.read_text() != page():
            raise SystemExit(f"{PAGE} is out of date: python3 bench/map_coverage.py --page")
    elif arguments:
        study(arguments[0], int(arguments[1]) if len(arguments) > 1 else 500, float(arguments[2]) if len(arguments) > 2 else math.inf)
    else:
        raise SystemExit(__doc__)


main(sys.argv[1:])
