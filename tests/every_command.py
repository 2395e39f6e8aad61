"""Every command and learner of the program on small files: what the checks of memory and of interrupts run."""
import fcntl
import json
import os
import pty
import re
import subprocess
import termios
import threading

# Shows what is there; ends at once.
AT_ONCE = {"methods", "theory", "show"}
# Draws in a terminal.
IN_TERMINAL = ["rl", "play"]

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "experiments", "results")

# Options that make a learner cheap.
SMALL = {"rocket": ":kernels=500", "minirocket": ":features=840", "transformer": ":steps=2,width=16,blocks=1", "mamba": ":steps=2,width=16,blocks=1",
         "xgboost": ":rounds=10"}


def prepare(command, folder, rows):
    """Makes the files; `rows` sets how long the commands take."""
    def run(*arguments):
        subprocess.run([command, *arguments, "-q"], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    run("simulate", f"ar1:n={rows},tmix=20,d=5", "-o", "stream.csv")
    run("simulate", f"ar1:n={rows // 50},tmix=5,d=90", "-o", "wide.csv")
    make_results(os.path.join(folder, "results"), rows)
    run("simulate", f"grid:n={rows // 2},range=5,d=3", "-o", "field.csv")
    run("train", "stream.csv", "--target", "y", "--plan", "uniform", "--members", "10", "-o", "stream.model",
        "--held-out", "held.csv")
    run("simulate", f"ar1:n={rows},tmix=20,d=5", "-o", "stream.npy")
    with open(os.path.join(folder, "stream.csv"), encoding="ascii") as table, \
            open(os.path.join(folder, "stream.arff"), "w", encoding="ascii") as file:
        names = table.readline().strip().split(",")
        file.write("@relation stream\n" + "".join(f"@attribute {name} numeric\n" for name in names[:-1]) + "@attribute y {-1,1}\n@data\n")
        file.writelines(table)
    for ending, target in rasters(command):
        run("simulate", f"grid:n={rows // 2},range=5,d=3", "-o", "map" + ending)
        run("train", "map" + ending, "--target", target, "--plan", "uniform", "--members", "5", "--no-evaluation", "-o", f"map{ending}.model")
    with open(os.path.join(folder, "series.ts"), "w", encoding="ascii") as file:
        file.write("@problemName made\n@classLabel true 0 1\n@data\n")
        for i in range(max(rows // 200, 60)):
            values = ",".join(f"{(i * 7919 + t * (31 + 13 * (i % 2))) % 101 / 10}" for t in range(120))
            file.write(f"{values}:{i % 2}\n")


def make_results(folder, rows):
    """A result file as reproduce leaves it, of ever more seeds: what report takes its time for."""
    os.mkdir(folder)
    name = "table1-full.jsonl"
    with open(os.path.join(RESULTS, name), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        for copy in range(1 + rows // 30000):
            for line in lines:
                file.write(json.dumps({**line, "seed": line["seed"] + 1000 * copy}) + "\n")


def listed(command):
    """The names of the commands, by the program's own help."""
    text = subprocess.run([command, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  ([a-z0-9-]+(?: [a-z0-9-]+)?)  ", text.split("commands:")[1], re.M))


def rasters(command):
    """Endings of the rasters that this build reads and writes, and what the class is called there."""
    version = subprocess.run([command, "--version", "--json"], capture_output=True, text=True, check=True).stdout
    features = json.loads(version)["features"].split()
    return [named for library, *named in (("gdal", ".tif", "map_b4"), ("netcdf", ".nc", "y")) if library in features]


def learners(command):
    text = subprocess.run([command, "methods", "learners"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  ([a-z0-9]+) ", text, re.M)


def lines(command, rows, long):
    """Command lines that cover every command and every learner; `long`: none is done in a blink."""
    y = ["--target", "y"]
    place = ["--graph", "space:8", "--coords", "coordinate1,coordinate2"]
    out = [
        ["diagnose", "stream.csv", *y], ["diagnose", "field.csv", *y, *place],
        ["parts", "stream.csv", *y, "--graph", "features:8", "-o", "out.csv"],
        ["parts", "field.csv", *y, *place, "--parts", "64", "-o", "out.csv"],
        ["train", "stream.csv", *y, "--members", "20", "-o", "out.model", "--report", "out.html"],
        ["train", "field.csv", *y, *place, "--members", "10", "-o", "out.model"],
        ["compare", "stream.csv", *y, "--members", "10"],
        ["compare", "wide.csv", *y, "--members", "5", "--learners", "tree,ridge"],
        ["tune", "stream.csv", *y, "--tries", "3", "--members", "20" if long else "9"],
        ["judge", "held.csv", "stream.csv", *y],
        ["plan", "stream.csv", *y, "--members", "100", "-o", "out.npy"],
        ["folds", "stream.csv", *y, "-o", "out.csv"],
        ["predict", "stream.model", "stream.csv", "-o", "out.csv"],
        ["simulate", f"ar1:n={15 * rows}", "-o", "out.csv"], ["simulate", f"grid:n={3 * rows}", "-o", "out.csv"],
        ["reproduce", "claim-lfa" if long else "claim-minimax", "--scale", "quick", "-o", "out"],
        ["rl", "train", "--game", "breakout", "--steps", "20000" if long else "600", "-o", "out.agent"],
        ["rl", "compare", "--games", "breakout", "--samplers", "uniform,routed", "--steps", "4000" if long else "300",
         "-o", "out"],
        [*IN_TERMINAL, "breakout", "--player", "random", "--speed", "1000", "--most", "30"],
        ["report", "results", "-o", "out.html"],
        ["methods"], ["theory", "--tmix", "10", "--n", "1000"], ["show", "stream.model"],
    ]
    out += [["diagnose", "stream.npy"], ["parts", "stream.npy", "-o", "out.npy"], ["diagnose", "stream.arff", *y]]
    for ending, target in rasters(command):
        out += [["diagnose", "map" + ending, "--target", target], ["parts", "map" + ending, "--parts", "16", "-o", "out" + ending],
                ["predict", f"map{ending}.model", "map" + ending, "-o", "out" + ending]]
    of_tables = {"tree", "ridge", "xgboost"}
    for learner in learners(command):
        data = ["wide.csv", *y] if learner in of_tables else ["series.ts"]
        text = learner if long else learner + SMALL.get(learner, "")
        out.append(["train", *data, "--learner", text, "--members", "4", "-o", "out.model"])
    return out


def missing(command, run):
    """Commands of the program that no line covers."""
    return listed(command) - {" ".join(line[:2]) for line in run} - {line[0] for line in run} - AT_ONCE


class Terminal:
    """A terminal for commands that draw in one: what they draw is thrown away."""

    def __init__(self):
        self.main, self.side = pty.openpty()
        self.reader = threading.Thread(target=self.drain, daemon=True)
        self.reader.start()

    def take(self):
        """In the command, before it begins: this is the terminal of its session."""
        os.setsid()
        fcntl.ioctl(self.side, termios.TIOCSCTTY, 0)

    def drain(self):
        try:
            while os.read(self.main, 65536):
                pass
        except OSError:
            pass  # the command is gone, and the terminal with it

    def close(self):
        os.close(self.side)
        self.reader.join()
        os.close(self.main)
