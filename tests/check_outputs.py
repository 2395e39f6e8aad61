#!/usr/bin/env python3
"""An output's ending decides its format or is refused before the work; devices stay devices; inputs are never written over; files
of parts say where the rows lie; names of any bytes come out as valid JSON, and never as escape sequences on a terminal."""
import csv
import json
import os
import stat
import subprocess
import sys
import tempfile

COMMAND = os.environ["SR_COMMAND"]
faults = []


def run(folder, *arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, cwd=folder)


def check(condition, what):
    if not condition:
        faults.append(what)


def endings(folder):
    data = ["field.csv", "--target", "y"]
    for arguments in (["train", *data, "-o", "out.model", "--report", "page.pdf"], ["diagnose", *data, "--report", "page.pdf"],
                      ["predict", "field.model", "field.csv", "-o", "out.xyz"], ["parts", *data, "-o", "out.html"],
                      ["plan", *data, "-o", "bags.txt"], ["simulate", "ar1:n=50", "-o", "out.docx"],
                      ["report", ".", "-o", "page.pdf"]):
        done = run(folder, *arguments)
        named = [word for word in arguments if "." in word][-1]
        check(done.returncode in (1, 2), f"{' '.join(arguments)}: exit {done.returncode}, expected a refusal")
        check(b"ending" in done.stderr, f"{' '.join(arguments)}: {done.stderr.decode()}")
        check(not os.path.exists(os.path.join(folder, named)), f"{' '.join(arguments)}: {named} was written")
        check(not os.path.exists(os.path.join(folder, "out.model")), f"{' '.join(arguments)}: did the work first")


def devices(folder):
    """What is no file is written through, whatever its name."""
    for arguments in (["simulate", "ar1:n=50"], ["predict", "field.model", "field.csv"],
                      ["train", "field.csv", "--target", "y", "--members", "5"]):
        done = run(folder, *arguments, "-o", "/dev/null")
        check(done.returncode == 0, f"{' '.join(arguments)} -o /dev/null: {done.stderr.decode()}")
        check(stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null was replaced")
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    done = run(folder, "simulate", "ar1:n=50", "-o", "pipe", "-q")
    lines = os.read(reader, 65536).splitlines()
    os.close(reader)
    check(done.returncode == 0 and len(lines) == 51, f"simulate -o pipe: {len(lines)} lines, {done.stderr.decode()}")
    check(stat.S_ISFIFO(os.stat(pipe).st_mode), "the pipe was replaced")


def inputs(folder):
    """An output that is an input under any name is refused before the work, and outputs are tried before it."""
    path = os.path.join(folder, "field.csv")
    os.symlink("field.csv", os.path.join(folder, "soft.csv"))
    os.link(path, os.path.join(folder, "hard.csv"))
    with open(path, "rb") as file:
        before = file.read()
    data = ["field.csv", "--target", "y"]
    for command in (["train", *data], ["predict", "field.model", "field.csv"], ["parts", *data], ["folds", *data],
                    ["plan", *data], ["train", *data, "-o", "never.model", "--held-out"]):
        for name in ("field.csv", "./field.csv", "soft.csv", "hard.csv", path):
            done = run(folder, *command, *([name] if command[-1] == "--held-out" else ["-o", name]))
            here = " ".join([*command, name])
            check(done.returncode == 2 and b"the input itself" in done.stderr, f"{here}: {done.returncode} {done.stderr.decode()}")
        done = run(folder, *command, *(["no/where.csv"] if command[-1] == "--held-out" else ["-o", "no/where.csv"]))
        check(done.returncode == 1 and b"no/where.csv" in done.stderr, f"{' '.join(command)}: {done.stderr.decode()}")
    with open(path, "rb") as file:
        check(file.read() == before, "field.csv was changed")
    check(not os.path.exists(os.path.join(folder, "never.model")), "the work was done before an output was tried")


def places(folder):
    done = run(folder, "parts", "field.csv", "--target", "y", "--graph", "space:8", "--coords", "coordinate1,coordinate2",
               "--parts", "4", "-o", "parts.csv", "-q")
    check(done.returncode == 0, done.stderr.decode())
    with open(os.path.join(folder, "parts.csv"), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    check(set(rows[0]) == {"part", "coordinate1", "coordinate2"}, f"parts.csv has the columns {list(rows[0])}")
    check((rows[21]["coordinate1"], rows[21]["coordinate2"]) == ("1", "1"), f"row 21 lies at {rows[21]}")


def names_of_any_bytes(folder):
    """Columns, classes, groups and files that are called anything."""
    evil = [b"\x1b[31mred", b"\xff\xfe", b"caf\xc3\xa9", b"\xc2\x9b0m", b"\xed\xa0\x80", b"bell\x07"]
    name = b"evil\x1b[2J.csv"
    with open(os.path.join(folder.encode(), name), "wb") as file:
        file.write(b",".join(evil[:4]) + b",y\xff\x1b]0;title\x07\n")
        for i in range(300):
            file.write(b"%d,%d,%d,%d,%s\n" % (i * 7 % 13, i * i % 11, (i * 31) % 17, i % 5, evil[i * 5 % 3]))
    target = [b"--target", b"5", b"--members", b"5"]
    runs = ([b"diagnose", name, b"--target", b"5"], [b"parts", name, b"--target", b"5", b"--parts", b"4"],
            [b"train", name, *target, b"-o", b"evil.model"], [b"compare", name, *target, b"--plan", b"uniform"],
            [b"predict", b"evil.model"], [b"predict", b"evil.model", name, b"-o", b"p.csv"],
            [b"diagnose", name, b"--target", b"\x1b[31mnone\xff"], [b"diagnose", b"no\x1b[1mfile\xff.csv"])
    for arguments in runs:
        for extra in ([], [b"--json"]):
            done = run(folder, *arguments, *extra)
            here = repr(b" ".join([*arguments, *extra]))
            check(done.returncode in (0, 1, 2, 3), f"{here}: exit {done.returncode}: {done.stderr!r}")
            for stream in (done.stderr, done.stdout if not extra else b""):
                text = stream.decode(errors="replace")
                loud = [c for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7f <= ord(c) < 0xa0]
                check(not loud, f"{here}: prints {loud} raw")
            if extra:
                try:
                    json.loads(done.stdout.decode("utf-8"))
                except ValueError as error:
                    faults.append(f"{here}: not JSON: {error}: {done.stdout[:200]!r}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        run(folder, "simulate", "grid:n=400,range=3,d=2", "-o", "field.csv", "-q")
        run(folder, "train", "field.csv", "--target", "y", "--plan", "uniform", "--members", "3", "-o", "field.model", "-q")
        endings(folder)
        devices(folder)
        inputs(folder)
        places(folder)
        names_of_any_bytes(folder)
    print("\n".join(faults) or "endings, places and names are as they should be")
    return 1 if faults else 0


sys.exit(main())
