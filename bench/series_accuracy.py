#!/usr/bin/env python3
"""Accuracy of the learners on series on the default splits of the UCR archive, and the memory they take, through the real
command.

  bench/series_accuracy.py COMMAND ARCHIVE [METHOD ...]   adds what is missing to bench/results/series_accuracy.jsonl
  bench/series_accuracy.py COMMAND --memory [ROWSxLENGTH METHOD]...   into bench/results/series_memory.jsonl
  bench/series_accuracy.py COMMAND ARCHIVE --ece      adds to bench/results/series_ece.jsonl
  bench/series_accuracy.py COMMAND --windows          writes bench/results/series_windows.jsonl from the recording that ships
  bench/series_accuracy.py --page     writes docs/series.md from all of them, and what docs/guide/learners.md says of the recording
  bench/series_accuracy.py --check    fails where the page is out of date

ARCHIVE holds NAME/NAME_TRAIN.tsv.gz and reference_accuracy.csv (dataset,method,accuracy,source); sets that INDEX.tsv does
not call full are left out, smallest sets come first. ROCKET is compared with tsml-eval's figures, whose
features are scaled as ours, and with its authors'; the others with the mean of their sources. transformer and mamba run on four sets,
FordA as far as it is there, in two forms: all rows, all steps, augmentation (that of the levels beside it), and their defaults."""
import collections
import csv
import gzip
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ACCURACY, MEMORY, PAGE = (ROOT / p for p in ("bench/results/series_accuracy.jsonl", "bench/results/series_memory.jsonl", "docs/series.md"))
ECE, WINDOWS, GUIDE = (ROOT / p for p in ("bench/results/series_ece.jsonl", "bench/results/series_windows.jsonl", "docs/guide/learners.md"))
# Those on which the temperature was first tried.
ECE_SETS = ("ItalyPowerDemand", "MedicalImages", "SwedishLeaf", "FordA", "CBF", "Strawberry", "MiddlePhalanxTW", "ECG5000", "FacesUCR", "CricketX")
RECORDING = "data/eeg_eye_state.csv.gz"
WINDOW = ("--target", "class", "--window", "64", "--stride", "8")
# Learner, vote, name and source of the published figures, how close the mean over sets is to come.
METHODS = {
    "rocket": ("rocket", "hard", "ROCKET", "angus924", .003),
    "minirocket": ("minirocket", "hard", "MiniRocket", "", .003),
    "quant": ("quant:trees=200", "soft", "QUANT", "", .005),
    "tsf": ("tsf", "soft", "TSF", "", .01),
}
NETS = ("transformer", "mamba")
# What the same configuration reached in PyTorch and in a prototype: transformer, mamba.
REACHED = {"FordA": (".92-.93", ".94"), "TwoPatterns": (".999", "1.000"), "GunPoint": (".97-.99", ".99-1.00"),
           "Wafer": (".977-.990", ".995")}
# The configuration of these levels, and the defaults, which hold rows out to stop early and to choose the augmentation.
FORMS = {"fixed": ":augment=yes,validation=0", "default": ""}
# Aims of speed, from the records beside peers: file, what it is called, the cases (a pattern, a vector level), what is compared
# (times as fast as the peer; or milliseconds at most) and the aim.
AIMS = [
    ("series", "ROCKET, transform, 100 values or more", r"^rocket transform \d+ x \d{3,} ", "", "ratio", 30),
    ("series", "ROCKET, transform, 24 values", r"^rocket transform \d+ x 24 beside", "", "ratio", 20),
    ("series", "MiniRocket, transform", r"^minirocket transform", "", "ratio", 4),
    ("series", "MiniRocket, whole numbers, transform", r"^minirocket-whole transform", "", "ratio", 7),
    ("series", "ROCKET, fit, features held", r"^rocket fit .* held", "", "ratio", 12),
    ("series", "ROCKET, fit, features made twice", r"^rocket fit .* streamed", "", "ratio", 9),
    ("series", "MiniRocket, fit", r"^minirocket fit", "", "ratio", 2),
    ("series", "ROCKET, one series of 500 values", r"^rocket transform \d+ x 500 beside", "", "predict_one_ms", 1.5),
    ("series", "MiniRocket, one series of 500 values", r"^minirocket transform \d+ x 500 beside", "", "predict_one_ms", .3),
    ("intervals", "Time Series Forest, fit", r"^tsf .* fit", "", "ratio", 20),
    ("intervals", "Time Series Forest, predict", r"^tsf .* predict", "", "ratio", 50),
    ("intervals", "QUANT, end to end, AVX2", r"^quant .* all", "v3", "ratio", 25),
    ("intervals", "QUANT, predict, AVX2", r"^quant .* predict", "v3", "ratio", 12),
    ("intervals", "QUANT, end to end, plain x86-64", r"^quant .* all", "base", "ratio", 8),
    ("intervals", "QUANT, predict, plain x86-64", r"^quant .* predict", "base", "ratio", 8),
    ("nn", "transformer, a training step", r"^transformer", "", "ratio", 2.5),
    ("nn", "transformer, a step of 16 series (hoped for)", r"^transformer .* batch 16", "", "ratio", 3),
    ("nn", "Mamba, a step, beside PyTorch's loop", r"^mamba .*\d loop scan", "", "ratio", 7),
    ("nn", "Mamba, beside its scan by doubling", r"^mamba .* doubling scan", "", "ratio", 20),
    ("nn", "Mamba, beside its compiled loop", r"^mamba .* compiled loop", "", "ratio", 5),
]
LIMITS = {(10000, 1000): 1024, (100000, 500): 4096}  # MB


# ---- running ------------------------------------------------------------------------------------

def run(*arguments, log=None):
    """What the command printed, its processor seconds and its peak in MB; `log` gets what it said on the way."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(arguments, stdout=out, stderr=log, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"{' '.join(arguments)} ended with {child.returncode}")
        out.seek(0)
        return json.load(out), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def add(path, line):
    if not path.exists():
        commit = subprocess.run(["git", "describe", "--always"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        path.write_text(json.dumps({"command": f"bench/series_accuracy.py { {ACCURACY: 'COMMAND ARCHIVE', MEMORY: 'COMMAND --memory', ECE: 'COMMAND ARCHIVE --ece', WINDOWS: 'COMMAND --windows'}[path]}",
                                    "commit": commit}) + "\n")
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def forget(path, key):
    """Leaves out the lines of earlier runs of the same."""
    head, lines = read(path)
    if head:
        kept = [line for line in lines if any(line[name] != value for name, value in key.items())]
        path.write_text("".join(json.dumps(line) + "\n" for line in (head, *kept)))


def read(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return (lines[0], lines[1:]) if lines else ({}, [])


def measure(command, archive, name, options):
    train, test = (str(archive / name / f"{name}_{part}.tsv.gz") for part in ("TRAIN", "TEST"))
    with tempfile.TemporaryDirectory() as folder:
        model = folder + "/one.model"
        _, fit, _ = run(command, "train", train, "--plan", "whole", *options, "--no-evaluation", "-o", model, "--threads", "1",
                        "--json")
        result, predict, _ = run(command, "predict", model, test, "-o", folder + "/out.csv", "--threads", "1", "--json")
        return {"accuracy": round(1 - result["error"], 6), "fit_seconds": round(fit, 2), "predict_seconds": round(predict, 2)}


def published(archive):
    found = collections.defaultdict(list)
    for row in csv.DictReader((archive / "reference_accuracy.csv").open()):
        for name, (_, _, method, source, _) in METHODS.items():
            if row["method"] == method and source in row["source"]:
                found[row["dataset"], name].append(float(row["accuracy"]))
    return {key: sum(values) / len(values) for key, values in found.items()}


def sets_of(archive):
    rows = list(csv.DictReader((archive / "INDEX.tsv").open(), delimiter="\t"))
    rows.sort(key=lambda row: int(row["n_train"]) * int(row["length_seen"]))
    return [row["dataset"] for row in rows if row["status"] == "full"]


def note_sources(archive, known):
    """Into the file: which sets have a published figure, and the second source of ROCKET's."""
    if not ACCURACY.exists():
        return
    head, lines = read(ACCURACY)
    second = {row["dataset"]: float(row["accuracy"]) for row in csv.DictReader((archive / "reference_accuracy.csv").open())
              if row["method"] == "ROCKET" and "tsml-eval" in row["source"]}
    head["sets"] = {method: sorted(name for name in sets_of(archive) if (name, method) in known) for method in METHODS}
    for line in lines:
        if line["method"] == "rocket" and line["set"] in second:
            line["tsml"] = second[line["set"]]
    ACCURACY.write_text("".join(json.dumps(line) + "\n" for line in (head, *lines)))


def accuracy(command, archive, methods):
    known = published(archive)
    note_sources(archive, known)
    done = {(line["set"], line["method"], line.get("form")) for line in read(ACCURACY)[1]}
    jobs = [(name, method, None) for name in sets_of(archive) for method in METHODS if (name, method) in known]
    jobs += [(name, method, form) for form in FORMS for name in REACHED for method in NETS]
    for name, method, form in jobs:
        if (methods and method not in methods) or (name, method, form) in done:
            continue
        if method in NETS:
            options = ["--learner", method + FORMS[form], "--members", "1", "--vote", "soft"]
        else:
            learner, vote = METHODS[method][:2]
            options = ["--learner", learner, "--members", "200" if method == "tsf" else "1", "--vote", vote]
        line = {"set": name, "method": method, **({"form": form} if form else {}), **measure(command, archive, name, options)}
        if method in METHODS:
            line["published"] = round(known[name, method], 6)
        add(ACCURACY, line)
    note_sources(archive, known)


# ---- probabilities ------------------------------------------------------------------------------

def calibration_error(right, sure, bins=15):
    """The mean distance of accuracy and confidence over even bins of the confidence."""
    total, error = len(right), 0.0
    for b in range(bins):
        inside = [i for i in range(total) if b / bins < sure[i] <= (b + 1) / bins or (b == 0 and sure[i] == 0)]
        error += abs(sum(right[i] for i in inside) - sum(sure[i] for i in inside)) / total
    return error


def answers(path):
    """The class and the shares of each line, and their names."""
    with open(path) as file:
        rows = list(csv.DictReader(file))
    names = [name[2:] for name in rows[0] if name.startswith("p_")]
    return names, [[float(row["p_" + name]) for name in names] for row in rows]


def probabilities(command, archive):
    done = {line["set"] for line in read(ECE)[1]}
    for name in ECE_SETS:
        if name in done:
            continue
        train, test = (str(archive / name / f"{name}_{part}.tsv.gz") for part in ("TRAIN", "TEST"))
        with gzip.open(test, "rt") as file:
            truth = [line.split("\t", 1)[0] for line in file]
        with tempfile.TemporaryDirectory() as folder:
            model, out = folder + "/one.model", folder + "/out.csv"
            told, _, _ = run(command, "train", train, "--plan", "whole", "--learner", "minirocket:int16=yes", "--members", "1",
                             "--no-evaluation", "-o", model, "--threads", "1", "--json")
            run(command, "predict", model, test, "-o", out, "--proba", "--threads", "1", "--json")
            names, shares = answers(out)
        own, line = told["left_out"][0], {"set": name, "vote": told["vote"]}
        right = [names[p.index(max(p))] == label for p, label in zip(shares, truth)]
        # The shares are softmax(score / temperature); their powers are softmax(score).
        plain = [[math.exp(own["temperature"] * math.log(max(x, 1e-45) / max(p))) for x in p] for p in shares]
        sure = {"hard": [1.0] * len(right), "plain": [max(p) / sum(p) for p in plain], "soft": [max(p) for p in shares]}
        line.update(accuracy=round(sum(right) / len(right), 6), temperature=own["temperature"],
                    **{key: round(calibration_error(right, value), 6) for key, value in sure.items()})
        add(ECE, line)


# ---- windows of a recording ---------------------------------------------------------------------

def windows(command):
    """One member judged by single windows and by whole parts, beside the last 30 % of the recording, and the command of the guide."""
    WINDOWS.unlink(missing_ok=True)
    with gzip.open(ROOT / RECORDING, "rt") as file:
        head, *rows = file.read().splitlines()
    cut = int(.7 * len(rows))
    with tempfile.TemporaryDirectory() as folder:
        first, last, model = folder + "/first.csv", folder + "/last.csv", folder + "/one.model"
        for path, part in ((first, rows[:cut]), (last, rows[cut:])):
            pathlib.Path(path).write_text("\n".join([head, *part]) + "\n")
        for judged in ("rows", "parts"):
            how = ("--learner", f"minirocket:judged_by={judged}", "--plan", "whole", "--members", "1", "--no-evaluation", "-o", model,
                   "--threads", "1", "--json")
            whole, _, _ = run(command, "train", str(ROOT / RECORDING), *WINDOW, *how)
            run(command, "train", first, *WINDOW, *how)
            future, _, _ = run(command, "predict", model, last, *WINDOW, "-o", folder + "/out.csv", "--threads", "1", "--json")
            add(WINDOWS, {"judged_by": judged, "left_out": whole["left_out"][0], "last": round(future["error"], 6)})
        told, _, _ = run(command, "train", str(ROOT / RECORDING), *WINDOW, "--learner", "minirocket", "-m", "5", "--plan", "uniform",
                         "-o", model, "--threads", "1", "--json")
        add(WINDOWS, {"guide": {key: told["error"][key] for key in ("naive", "honest")}, "left_out": told["left_out"]})


def guide(text):
    """The guide with what its command tells, as it was recorded."""
    found = next((line for line in read(WINDOWS)[1] if "guide" in line), None)
    start, end = "<!-- recording -->\n", "<!-- end recording -->"
    before, _, rest = text.partition(start)
    _, _, after = rest.partition(end)
    if not found or not rest:
        return text
    own = [one["error"] for one in found["left_out"]]
    said = (f"On the EEG recording that ships with the project the command below tells {found['guide']['honest']:.3f} as the honest error and\n"
            f"{found['guide']['naive']:.3f} as the one on windows that share values with those of training; its members, which leave out whole\n"
            f"parts, tell {sum(own) / len(own):.3f} ([windows](../series.md#windows-of-a-recording)).\n")
    return before + start + said + end + after


def simulate(path, rows, length):
    """Noise, and a wave in one of the two classes; two digits, from a pool that is read at random places."""
    draw = random.Random(1)
    pool = [draw.gauss(0, 1) for _ in range(1 << 16)]
    wave = [.3 * math.sin(t / 5) for t in range(length)]
    plain = [f"{x:.2f}" for x in pool]
    with open(path, "w") as file:
        for i in range(rows):
            at = draw.randrange(len(pool) - length)
            values = plain[at:at + length] if i % 2 else (f"{x + w:.2f}" for x, w in zip(pool[at:at + length], wave))
            file.write(f"{i % 2 + 1}\t" + "\t".join(values) + "\n")


def memory(command, arguments):
    for size, method in zip(arguments[::2], arguments[1::2]):
        rows, length = map(int, size.split("x"))
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
            path = folder + "/simulated_TRAIN.tsv"
            simulate(path, rows, length)
            _, seconds, peak = run(command, "train", path, "--plan", "whole", "--learner", method, "--members", "1", "--no-evaluation",
                                   "-o", folder + "/one.model", "--threads", "1", "-v", "--json", log=log)
            log.seek(0)
            said = re.search(r": up to (\d+) MB", log.read())
        told = subprocess.run([command, "--version", "-v"], capture_output=True, text=True, check=True).stdout
        forget(MEMORY, {"rows": rows, "length": length, "method": method})
        add(MEMORY, {"rows": rows, "length": length, "method": method, "peak_mb": round(peak), "seconds": round(seconds, 1),
                     **({"said_mb": round(int(said[1]) * 1e6 / 2**20)} if said else {}),
                     "commit": re.search(r"(?m)^commit +(\S+)", told)[1]})


# ---- the page -----------------------------------------------------------------------------------

def spread(values):
    mean = sum(values) / len(values)
    error = math.sqrt(sum((x - mean) ** 2 for x in values) / (len(values) - 1) / len(values)) if len(values) > 1 else math.nan
    return mean, error


def against(lines, name, key):
    """A line of the table: how far a method is from figures, and whether the mean comes within its aim."""
    rows = [line for line in lines if line["method"] == name and key in line]
    differences = [line["accuracy"] - line[key] for line in rows]
    mean, error = spread(differences)
    aim = METHODS[name][-1]
    return (f"{len(rows)} | {mean:+.4f} | {error:.4f} | {aim:g} | {'yes' if abs(mean) <= aim else '**no**'} | "
            f"{sum(map(abs, differences)) / len(rows):.4f} |")


def rocket_sources(lines):
    """Which source's penalties are ours, and the set that parts the two."""
    rows = [line for line in lines if line["method"] == "rocket"]
    pig = next((line for line in rows if line["set"] == "PigAirwayPressure" and "tsml" in line), None)
    if not pig:
        return []
    both = [line for line in rows if "tsml" in line]
    means = [spread([line["accuracy"] - line[key] for line in lines if line["set"] != pig["set"]])[0]
             for lines, key in ((both, "tsml"), (rows, "published"))]
    return ["", "Two published ROCKETs differ by the scale of their features: tsml-eval divides columns by their deviation, as is done here, and",
            "the authors by their norm, which makes each penalty n times as large. So tsml-eval is the source to compare with; the authors'",
            "figures stand beside it. Our walk goes on to 10^6, past tsml-eval's 10^3, but not where a class has fewer than three cases: on",
            f"PigAirwayPressure, with two cases a class, it ends there as tsml-eval's does ({pig['accuracy']:.3f} here, {pig['tsml']:.3f} there), and the authors'",
            f"goes on ({pig['published']:.3f}). Without that one set the mean differences are {means[0]:+.4f} and {means[1]:+.4f}."]


def speed_rows():
    text = ["", "## Speed: aims and what was recorded", "",
            "The least of all recorded cases of a line, in times as fast as the peer, and the most; of one series the milliseconds, at most so",
            "many. Each case stands in the [benchmarks](benchmarks.md) with its machine: [series](benchmarks.md#series) beside aeon with Numba and",
            "scikit-learn's ridge, [intervals](benchmarks.md#intervals) beside aeon, [nn](benchmarks.md#nn) beside PyTorch; one thread each.", "",
            "| what | cases | aim | least | most | met |", "|---|---:|---:|---:|---:|---|"]
    for file, what, pattern, level, key, aim in AIMS:
        lines = read(ROOT / f"bench/results/{file}.jsonl")[1]
        values = [line[key] for line in lines if re.search(pattern, f"{line.get('case')} beside {line.get('peer')}")
                  and (not level or line.get("isa") == level)]
        if not values:
            continue
        unit = " ms" if key.endswith("ms") else "x"
        met = max(values) <= aim if key.endswith("ms") else min(values) >= aim
        text.append(f"| {what} | {len(values)} | {aim:g}{unit} | {min(values):.3g}{unit} | {max(values):.3g}{unit} | {'yes' if met else '**no**'} |")
    return text


def ece_rows():
    lines = read(ECE)[1]
    if not lines:
        return []
    text = ["", "## Probabilities", "", "MiniRocket (int16), one member, default splits: calibration error (15 bins) of counted votes, of softmax(score), and of",
            "softmax(score / temperature), the temperature from rows that the member left out; the last is what `--vote auto` gives.", "",
            "| set | accuracy | hard | soft, no temperature | soft | temperature |", "|---|---:|---:|---:|---:|---:|"]
    text += [f"| {e['set']} | {e['accuracy']:.3f} | {e['hard']:.3f} | {e['plain']:.3f} | {e['soft']:.3f} | {e['temperature']:.3g} |" for e in lines]
    means = [sum(e[key] for e in lines) / len(lines) for key in ("hard", "plain", "soft")]
    return text + ["| mean | | " + " | ".join(f"{x:.3f}" for x in means) + " | |"]


def window_rows():
    lines = [line for line in read(WINDOWS)[1] if "judged_by" in line]
    if not lines:
        return []
    return ["", "## Windows of a recording", "", "EEG eye state, windows of 64 rows, one every 8, MiniRocket, one member on all of them. *Left out*: the error that the member finds on",
            "what it leaves out, which also chooses its penalty; *last 30 %*: the same learner trained on the first 70 % of the recording.", "",
            "| left out | error | penalty | last 30 % |", "|---|---:|---:|---:|"] + [
            f"| {'single windows' if e['judged_by'] == 'rows' else 'whole parts'} | {e['left_out']['error']:.3f} | {e['left_out']['penalty']:.3g} | {e['last']:.3f} |" for e in lines]


def absent(head, lines):
    """Full sets with a published figure that a method was not run on."""
    found = {(line["set"], line["method"]) for line in lines}
    missing = {m: [name for name in names if (name, m) not in found] for m, names in head.get("sets", {}).items()}
    return [f"- {m} was not run on {', '.join(names)}." for m, names in missing.items() if names]


def page():
    head, lines = read(ACCURACY)
    text = ["# Learners on series: accuracy and memory", "",
            f"Made by `{head.get('command')}` and `... --memory`; first line recorded at commit {head.get('commit')}; `bench/series_accuracy.py --page`",
            "writes this page. Seconds are processor time of one thread on a busy machine. Speed beside other programs: [benchmarks](benchmarks.md).", "",
            "## Default splits of the UCR archive beside published figures", "",
            "One fit each, seed 1. ROCKET beside each of its sources, the others beside the mean of theirs. *Met*: the mean difference is no",
            "larger than the aim, either way.", "",
            "| learner | sets | mean difference | standard error | aim | met | mean absolute |", "|---|---:|---:|---:|---:|---|---:|"]
    for method in METHODS:
        sources = (("tsml", ", beside tsml-eval"), ("published", ", beside its authors")) if method == "rocket" else (("published", ""),)
        for key, source in sources:
            if any(line["method"] == method and key in line for line in lines):
                text.append(f"| {method}{source} | {against(lines, method, key)}")
    text += rocket_sources(lines)
    nets = [line for line in lines if line["method"] in NETS]
    if nets:
        text += ["", "## Transformer and Mamba, one member", "",
                 "One fit each, seed 1. FordA has 576 of its 3,601 training cases here. *fixed*: all rows, 600 steps, augmentation, the",
                 "configuration of the levels beside it; *default*: 15 % of the rows are held out to stop early, to choose the augmentation and",
                 "to set the temperature; then all rows train anew. *Short*: how far a fit stays below the least that was reached elsewhere.", "",
                 "| set | learner | form | accuracy | reached elsewhere | short | seconds to fit |", "|---|---|---|---:|---|---:|---:|"]
        order = {(name, method, form): level for name, levels in REACHED.items() for method, level in zip(NETS, levels) for form in FORMS}
        for line in sorted(nets, key=lambda line: list(order).index((line["set"], line["method"], line["form"]))):
            key = line["set"], line["method"], line["form"]
            short = float(order[key].split("-")[0]) - line["accuracy"]
            text.append("| " + " | ".join(key) + f" | {line['accuracy']:.3f} | {order[key]} | {f'{short:.4f}' if short > 0 else ''} | {line['fit_seconds']:.0f} |")
    text += speed_rows() + ece_rows() + window_rows()
    sizes = read(MEMORY)[1]
    if sizes:
        text += ["", "## Memory", "", "Simulated series read from a text file; peak of the whole command, reading included. *Said*: the bound that the learner",
                 "writes to the log before it begins; the program and its libraries, some 50 MB, come on top.", "",
                 "| cases x length | learner | peak, MB | said, MB | aim, MB | seconds | commit |", "|---|---|---:|---:|---:|---:|---|"]
        text += [f"| {m['rows']:,} x {m['length']:,} | {m['method']} | {m['peak_mb']:,} | {m.get('said_mb', '')} | {LIMITS.get((m['rows'], m['length']), '')} | {m['seconds']:g} "
                 f"| {m.get('commit', read(MEMORY)[0]['commit'])} |" for m in sorted(sizes, key=lambda m: (m["length"] < 1000, m["method"]))]
    text += ["", "## Every set", "", *absent(head, lines), "", "| set | " + " | ".join(f"{m} | published" for m in METHODS) + " |", "|---|" + "---:|" * (2 * len(METHODS))]
    table = {(line["set"], line["method"]): line for line in lines if line["method"] in METHODS}
    for name in sorted({line["set"] for line in table.values()}):
        cells = [f"{table[name, m]['accuracy']:.4f} | {table[name, m]['published']:.4f}" if (name, m) in table else " | " for m in METHODS]
        text.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def main(arguments):
    if arguments == ["--page"]:
        PAGE.write_text(page())
        GUIDE.write_text(guide(GUIDE.read_text()))
    elif arguments == ["--check"]:
        if PAGE.read_text() != page() or GUIDE.read_text() != guide(GUIDE.read_text()):
            sys.exit(f"{PAGE} is out of date: bench/series_accuracy.py --page")
    elif arguments[1:] == ["--windows"]:
        windows(arguments[0])
    elif arguments[2:] == ["--ece"]:
        probabilities(arguments[0], pathlib.Path(arguments[1]))
    elif arguments[1:2] == ["--memory"]:
        memory(arguments[0], arguments[2:] or ["10000x1000", "rocket", "10000x1000", "minirocket", "10000x1000", "quant:trees=200",
                                               "100000x500", "minirocket", "100000x500", "quant:trees=200", "100000x500", "rocket"])
    elif len(arguments) > 1:
        accuracy(arguments[0], pathlib.Path(arguments[1]), arguments[2:])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
