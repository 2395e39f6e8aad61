#!/usr/bin/env python3
"""How far `specroute train` walks through the house: distinct calls, switches of file and calls into a room above.

A call is a distinct pair (caller, callee). Functions of core/ and made files are looked through: what the thread pool runs counts as called by
whoever started the loop; so is the interface of bags, data/bag.h and what hands a bag over, which plans fill and learners
read. A kernel is one file at every level; the lowest level runs, so that the count does not hang on the
machine. Housekeeping (getters, release, set-up, failing, printing) is left out. It builds
the library once with -finstrument-functions, so it belongs to the full tests: SR_FULL=1. SR_UPDATE=1 writes what was counted
into docs/architecture.md."""
import os
import random
import re
import subprocess
import sys
import tempfile

SOURCE = os.environ["SR_SOURCE"]
AIM_CALLS, AIM_SWITCHES = 600, 160
# What stands: the walk does not grow unseen. Lower them as it gets shorter.
MOST_CALLS, MOST_SWITCHES = 1178, 357
HOUSEKEEPING = re.compile(r"(_get|_free|_close|_clear|_release|_init|_abort|_view|free_\w+)$|^(free|release|job_free|fail_|sr__fail|"
                          r"cli_(say|text|given|integer|real|flag|list|finish|fail))")
HAND_OVER = ("sr__bag_hand_over", "read_bag", "read_pieces", "read_whole")  # of src/plan: they call whoever reads the bag


def include_table():
    """DIRECTLY of check_includes.py, and what lies outside src/."""
    with open(os.path.join(SOURCE, "tests", "check_includes.py"), encoding="utf-8") as file:
        text = file.read()
    table = {}
    exec(re.search(r"^DIRECTLY = \{.*?^\}", text, re.M | re.S).group(), table)  # pylint: disable=exec-used
    return {**table["DIRECTLY"], "experiments": ("describe",), "cli": ("experiments",)}


TABLE = include_table()


def passed_through(place):
    return place[1].startswith(("src/core/", "..")) or place[1] == "src/data/bag.h" or place[0] in HAND_OVER


def file_of(folder, path):
    """The file of the tree; a kernel's one of each level is the kernel itself."""
    made = re.match(r"(\w+)_kernel_c_\w+\.c$", os.path.basename(path))
    if not path.startswith(os.path.join(folder, "kernels")) or not made:
        return os.path.relpath(path, SOURCE)
    flat = made.group(1) + "_kernel.c"
    for base, _, names in os.walk(os.path.join(SOURCE, "src")):
        for name in names:
            if os.path.relpath(os.path.join(base, name), os.path.join(SOURCE, "src")).replace(os.sep, "_") == flat:
                return os.path.relpath(os.path.join(base, name), SOURCE)
    return flat


def below(room):
    return set(TABLE.get(room, ())).union(*(below(other) for other in TABLE.get(room, ())))


def run(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


def build(folder):
    """The command with every function traced, by the project's own build."""
    flags = "-finstrument-functions -g -O0 -w"
    run("cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_FLAGS={flags}",
        "-DBUILD_SHARED_LIBS=OFF")
    run("cmake", "--build", folder, "--target", "specroute_objects", "-j2")
    objects = []
    for base, _, names in os.walk(folder):
        objects += [os.path.join(base, name) for name in names if name.endswith(".c.o") and "specroute_objects" in base]
    sources = [os.path.join(SOURCE, d, n) for d in ("cli", "experiments") for n in os.listdir(os.path.join(SOURCE, d)) if n.endswith(".c")]
    trace = os.path.join(folder, "trace.o")
    run("cc", "-c", "-g", "-O0", os.path.join(SOURCE, "tests", "walk", "trace.c"), "-o", trace)
    libraries = subprocess.run(["pkg-config", "--libs", "jansson", "netcdf", "hdf5-serial", "gdal"], capture_output=True, text=True, check=False)
    if libraries.returncode:
        sys.exit(77)
    ninja = open(os.path.join(folder, "build.ninja"), encoding="utf-8").read()
    optional = [f"-l{name}" for name in ("arpack", "xgboost") if f"SR_HAVE_{name.upper()}" in ninja]
    run("cc", "-std=c17", "-D_GNU_SOURCE", *flags.split(), "-no-pie", *(f"-I{os.path.join(SOURCE, d)}" for d in ("include", "cli", "experiments")),
        *sources, *objects, trace, "-o", os.path.join(folder, "walked"), *libraries.stdout.split(), *optional,
        "-llapacke", "-lopenblas", "-lz", "-lpthread", "-lm")


def make_rows(path):
    random.seed(1)
    x = [0.0] * 3
    with open(path, "w", encoding="ascii") as file:
        file.write("a,b,c,class\n")
        for _ in range(2000):
            x = [0.95 * v + random.gauss(0, 0.3) for v in x]
            label = "up" if x[0] + 0.3 * random.gauss(0, 1) > 0 else "down"
            file.write(",".join(f"{v:.5f}" for v in x) + f",{label}\n")


def calls(folder, plan, *options):
    """Each call without housekeeping, and how often it was made."""
    trace = os.path.join(folder, "trace.txt")
    make_rows(os.path.join(folder, "rows.csv"))
    run(os.path.join(folder, "walked"), "train", "rows.csv", "--target", "class", "-o", "walk.model", "--threads", "1", "-q", "-m", "10",
        "--plan", plan, *options, cwd=folder, env=dict(os.environ, WALK_TRACE=trace, SPECROUTE_ISA="base"))
    with open(trace, encoding="utf-8") as file:
        rows = [line.split() for line in file]
    addresses = sorted({a for row in rows for a in row[1:] if a != "(nil)"})
    text = run("addr2line", "-f", "-e", os.path.join(folder, "walked"), *addresses).split("\n")
    place = {a: (text[2 * i], file_of(folder, text[2 * i + 1].split(":")[0])) for i, a in enumerate(addresses)}
    found = {}
    for times, callee, *above in rows:
        caller = next((place[a] for a in above if a != "(nil)" and not passed_through(place[a])), None)
        if caller and not passed_through(place[callee]):
            found[caller, place[callee]] = found.get((caller, place[callee]), 0) + int(times)
    return {pair: times for pair, times in found.items() if not any(HOUSEKEEPING.search(place[0]) for place in pair)}


def room(path):
    words = path.split(os.sep)
    return words[1] if words[0] == "src" else words[0]


def switches_of(walked):
    return sum(a[1] != b[1] for a, b in walked)


def counted(walked):
    """A table of the walk by the room of the callee."""
    rooms = sorted({room(callee[1]) for plan in walked for _, callee in walked[plan]})
    lines = ["| calls into | " + " | ".join(f"`--plan {plan}`" for plan in walked) + " |", "|---|" + "---|" * len(walked)]
    for name in rooms:
        lines.append(f"| {name} | " + " | ".join(str(sum(room(b[1]) == name for _, b in walked[plan])) for plan in walked) + " |")
    lines.append("| **all** | " + " | ".join(f"**{len(walked[plan])}**" for plan in walked) + " |")
    lines.append("| switches of file | " + " | ".join(str(switches_of(walked[plan])) for plan in walked) + " |")
    return "\n".join(lines)


def write_page(table):
    path = os.path.join(SOURCE, "docs", "architecture.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    made = re.sub(r"(<!-- walk -->\n).*?(<!-- end -->)", lambda m: m.group(1) + table + "\n" + m.group(2), text, flags=re.S)
    with open(path, "w", encoding="utf-8") as file:
        file.write(made)


def main():
    if os.environ.get("SR_FULL") != "1":
        print("part of the full tests: SR_FULL=1")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        walks = {plan: calls(folder, plan) for plan in ("auto", "uniform")}
        walked = walks["auto"]
        # Rows whose neighbors must be searched, with all that is told of them: one graph.
        searched = calls(folder, "auto", "--graph", "features:k=5", "--report", "page.html")
    switches = switches_of(walked)
    upward = sorted({f"{room(a[1])}:{a[0]} -> {room(b[1])}:{b[0]}" for a, b in walked if room(a[1]) in below(room(b[1]))})
    graphs = sum(times for (_, callee), times in searched.items() if callee == ("build_features", "src/graph/build_features.c"))
    print(f"{len(walked)} calls (at most {MOST_CALLS}, aim {AIM_CALLS}), {switches} file switches (at most {MOST_SWITCHES}, aim "
          f"{AIM_SWITCHES}), {len(upward)} upward (0), "
          f"{graphs} graphs built (1)")
    print(counted(walks))
    if os.environ.get("SR_UPDATE"):
        write_page(counted(walks))
    print("\n".join(upward))
    return 1 if len(walked) > MOST_CALLS or switches > MOST_SWITCHES or upward or not walked or graphs != 1 else 0


sys.exit(main())
