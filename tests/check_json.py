#!/usr/bin/env python3
"""docs/reference/json.md against what the commands write with --json on small simulated tables: every key that comes is on the page with its
type, a key without a "when" stands in every object of its place, and one with a "when" comes in one of the runs at least.

A section of the page is a command or an object that several commands have; a row whose type is a link takes the keys of that section, and so
does a section that says "All keys of [model](#model), and"."""
import json
import os
import re
import subprocess
import sys
import tempfile

SOURCE, COMMAND = os.environ["SR_SOURCE"], os.environ["SR_COMMAND"]
sys.path.insert(0, os.path.join(SOURCE, "tests"))
import every_command  # pylint: disable=wrong-import-position

KINDS = {bool: "flag", int: "whole", float: "number", str: "text", list: "list", dict: "object", type(None): "null"}
VERSION, FAILED = "specroute --version", "Where a command fails"
Y, PLACE = ["--target", "y"], ["--graph", "space:8", "--coords", "coordinate1,coordinate2"]
FEW = ["--members", "5", "--plan", "uniform"]
NET = ["--learner", "mamba:steps=2,width=16,blocks=1,scaling=training", "--members", "2", "--plan", "uniform"]


def runs():
    """Command lines by section of the page."""
    out = [
        ["diagnose", "stream.csv", *Y], ["diagnose", "field.csv", *Y, *PLACE],
        ["parts", "stream.csv", *Y, "--graph", "features:8", "-o", "out.csv"], ["parts", "stream.csv", *Y, "-o", "out.csv"],
        ["train", "uneven.csv", *Y, "--members", "20", "--forward", "-o", "auto.model"], ["train", "field.csv", *Y, *PLACE, *FEW, "-o", "field.model"],
        ["train", "stream.csv", *Y, *FEW, "--no-evaluation", "-o", "bare.model"],
        ["train", "stream.csv", *Y, "--plan", "choose", "--members", "5", "-o", "choose.model"],
        ["train", "stream.csv", *Y, "--plan", "routed", "--members", "5", "--no-importance", "-o", "routed.model"],
        ["train", "series.ts", "--learner", "minirocket:features=840", *FEW, "-o", "series.model"], ["train", "series.ts", *NET, "-o", "net.model"],
        ["compare", "stream.csv", *Y, "--members", "5", "--plans", "uniform,routed", "--naive"],
        ["tune", "stream.csv", *Y, "--tries", "2", "--members", "5"], ["judge", "held.csv", "stream.csv", *Y],
        ["plan", "stream.csv", *Y, "--members", "5", "-o", "out.npy"], ["plan", "stream.csv", *Y, *FEW, "-o", "out.npy"],
        ["folds", "stream.csv", *Y, "-o", "out.csv"], ["folds", "field.csv", *Y, *PLACE, "-o", "out.csv"],
        ["predict", "stream.model", "stream.csv", "-o", "out.csv"], ["predict", "stream.model", "rows.csv", "-o", "out.csv"],
        ["predict", "net.model", "series.ts", "--along", "40", "-o", "out.csv"],
        ["show", "auto.model"], ["show", "routed.model"], ["show", "net.model"], ["show", "series.model"], ["show", "bare.model"],
        ["show", "auto.model", "--partial-dependence", "x1", "--data", "uneven.csv"],
        ["simulate", "ar1:n=200", "-o", "out.csv"], ["theory", "--tmix", "10", "--n", "1000"], ["methods"],
        ["reproduce", "claim-minimax", "--scale", "quick", "-o", "out"], ["reproduce", "--list"],
        ["rl", "train", "--game", "breakout", "--steps", "300", "-o", "out.agent"],
        ["rl", "compare", "--games", "breakout", "--samplers", "uniform", "--steps", "300", "-o", "out"],
        [*every_command.IN_TERMINAL, "breakout", "--player", "random", "--speed", "1000", "--most", "5"],
        ["report", "results", "-o", "out.html"],
    ]
    if any(ending == ".tif" for ending, _ in every_command.rasters(COMMAND)):
        out.append(["predict", "map.tif.model", "map.tif", "--tile", "500", "-o", "out.tif"])
    names = every_command.listed(COMMAND)
    return [(" ".join(line[:2]) if " ".join(line[:2]) in names else line[0], line) for line in out] + [
        (VERSION, ["--version"]), (FAILED, ["diagnose", "broken.csv"]), (FAILED, ["diagnose"])]


def prepare(folder):
    every_command.prepare(COMMAND, folder, 1500)
    # Rows on which an offset of the vote is worth something.
    subprocess.run([COMMAND, "simulate", "ar1:n=2000,d=20,tmix=1,noise=0.3,delta=0.6", "--seed", "7", "-o", "uneven.csv", "-q"], cwd=folder,
                   check=True)
    lines = {}
    with open(os.path.join(folder, "stream.csv"), encoding="ascii") as file:
        lines["stream"] = file.read().splitlines()
    # Without the target, and with a line that is too short.
    lines["rows"] = [line.rsplit(",", 1)[0] for line in lines["stream"]]
    lines["broken"] = lines["stream"] + ["1,2"]
    for name in ("rows", "broken"):
        with open(os.path.join(folder, name + ".csv"), "w", encoding="ascii") as file:
            file.write("\n".join(lines[name]) + "\n")


# ---- the page ------------------------------------------------------------------------------------

class Key:
    """One row of the page."""

    def __init__(self, type_text, when):
        self.when = when
        self.null = type_text.endswith(" or null")
        text = type_text.removesuffix(" or null")
        self.depth = text.count("list of ")
        text = text.replace("list of ", "")
        link = re.fullmatch(r"\[.*\]\(#(.*)\)", text)
        self.link = link and link.group(1)
        self.kinds = {"object"} if link else set(text.split(" or "))
        self.seen = False


def read_page():
    """For each section its keys by their path, and the sections whose keys it takes as well."""
    with open(os.path.join(SOURCE, "docs", "reference", "json.md"), encoding="utf-8") as file:
        parts = re.split(r"^#{2,3} (.*)\n", file.read(), flags=re.M)
    page = {}
    for title, text in zip(parts[1::2], parts[2::2]):
        keys = {path: Key(kind.strip(), when.strip())
                for path, kind, when in re.findall(r"^\| `([^`]+)` \|([^|]+)\|[^|]*\|([^|]*)\|", text, re.M)}
        page[title] = keys, re.findall(r"^All keys of \[.*?\]\(#(.*?)\)", text, re.M)
    return page


def expand(page, title, path=""):
    """The keys of a section with those that it links to, below `path`."""
    by_anchor = {name.replace(" ", "-"): name for name in page}
    keys, more = page[title]
    out = {}
    for anchor in more:
        out.update(expand(page, by_anchor[anchor], path))
    for name, key in keys.items():
        here = path + name
        out[here] = Key.__new__(Key)
        out[here].__dict__.update(key.__dict__)
        if key.link:
            out.update(expand(page, by_anchor[key.link], here + "[]" * key.depth + "."))
    return out


# ---- what comes ----------------------------------------------------------------------------------

def check(keys, value, path, faults):
    """An object at `path` against the keys right below it."""
    below = {name[len(path):]: key for name, key in keys.items() if name.startswith(path) and re.fullmatch(r"\w+", name[len(path):])}
    for name, inner in value.items():
        known = "NAME" if "NAME" in below else name
        if known not in below:
            faults.add(f"{path}{name} is not on the page")
            continue
        key = below[known]
        key.seen = True
        check_value(keys, key, inner, path + known, faults)
    for name, key in below.items():
        if name != "NAME" and not key.when and name not in value:
            faults.add(f"{path}{name} does not come, and has no \"when\"")


def check_value(keys, key, value, path, faults, depth=0):
    kind = KINDS[type(value)]
    if kind == "null":
        if not key.null:
            faults.add(f"{path} is null")
    elif depth < key.depth:
        if kind != "list":
            faults.add(f"{path} is {kind}, not a list")
            return
        for inner in value:
            check_value(keys, key, inner, path + "[]", faults, depth + 1)
    elif kind not in key.kinds:
        faults.add(f"{path} is {kind}, not {' or '.join(sorted(key.kinds))}")
    elif kind == "object":
        check(keys, value, path + ".", faults)


def answer(folder, line):
    """What the command writes; rl play draws in a terminal of its own."""
    terminal = every_command.Terminal() if line[:2] == every_command.IN_TERMINAL else None
    done = subprocess.run([COMMAND, *line, "--json"], cwd=folder, capture_output=True, text=True, check=False,
                          stdin=terminal and terminal.side, preexec_fn=terminal and terminal.take)
    if terminal:
        terminal.close()
    try:
        return json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{' '.join(line)}: no JSON: {done.stdout[:200]} {done.stderr[:500]}")


def main():
    page = read_page()
    keys, faults = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        for title, line in runs():
            if title not in keys:
                if title not in page:
                    sys.exit(f"the page has no section '{title}'")
                keys[title] = expand(page, title)
            found = set()
            value = answer(folder, line)
            if title != FAILED and set(value.get("error", ()) if isinstance(value.get("error"), dict) else ()) & {"code"}:
                sys.exit(f"{' '.join(line)}: {value}")
            check(keys[title], value, "", found)
            faults.setdefault(title, set()).update(found)
    no_tif = not any(ending == ".tif" for ending, _ in every_command.rasters(COMMAND))
    for title, known in keys.items():
        faults[title] |= {f"{path} never comes" for path, key in known.items() if not key.seen and not (no_tif and path == "tiles")}
    for title in every_command.listed(COMMAND) - set(keys):
        faults[title] = {"no run of this command"}
    lines = [f"{title}: {fault}" for title in sorted(faults) for fault in sorted(faults[title])]
    print("\n".join(lines) or f"{sum(len(known) for known in keys.values())} keys of {len(keys)} sections")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
