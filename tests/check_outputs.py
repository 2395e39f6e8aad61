#!/usr/bin/env python3
"""An output's ending decides its format or is refused before the work; devices stay devices; inputs are never written over; files
of parts say where the rows lie; names of any bytes come out as valid JSON, and never as escape sequences on a terminal."""
import array
import ast
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


def all_files_of_a_run(folder):
    """Files that options name are inputs too, and no two outputs are one file."""
    with open(os.path.join(folder, "edges.csv"), "w", encoding="ascii") as file:
        file.writelines(f"{i} {i + 1}\n" for i in range(399))
    with open(os.path.join(folder, "bags.csv"), "w", encoding="ascii") as file:
        file.writelines(f"{member},{i}\n" for member in range(3) for i in range(member, 400, 2))
    with open(os.path.join(folder, "weights"), "w", encoding="ascii") as file:
        file.write("-1,2\n1,1\n")
    data = ["field.csv", "--target", "y"]
    runs = (["parts", *data, "--graph", "edges:edges.csv", "-o", "edges.csv"],
            ["parts", *data, "--graph", "edges:file=edges.csv", "-o", "./edges.csv"],
            ["train", *data, "--plan", "bags:bags.csv", "-o", "m", "--held-out", "bags.csv"],
            ["train", *data, "--plan", "bags", "--bags", "bags.csv", "-o", "m", "--held-out", "bags.csv"],
            ["train", *data, "--class-weight", "weights", "-o", "weights"],
            ["train", *data, "--predict-on", "bags.csv", "-o", "m", "--held-out", "bags.csv"],
            ["predict", "field.model", "edges.csv,field.csv", "-o", "field.csv"],
            ["predict", "field.model", "field.csv", "--labels", "edges.csv:fields", "-o", "edges.csv"])
    names = ("edges.csv", "bags.csv", "weights", "field.csv")
    before = {name: open(os.path.join(folder, name), "rb").read() for name in names}
    for arguments in runs:
        done = run(folder, *arguments)
        check(done.returncode == 2 and b"the input itself" in done.stderr, f"{' '.join(arguments)}: {done.returncode} {done.stderr.decode()}")
    for name, bytes_before in before.items():
        check(open(os.path.join(folder, name), "rb").read() == bytes_before, f"{name} was written over")
    os.symlink(".", os.path.join(folder, "here"))
    for arguments in (["-o", "rr", "--resume", "rr"], ["-o", "rr", "--resume", "here/rr"],
                      ["-o", "m", "--held-out", "z.csv", "--resume", "./z.csv"], ["-o", "m", "--report", "z.html", "--resume", "z.html"]):
        done = run(folder, "train", *data, "--plan", "uniform", "--members", "3", *arguments)
        check(done.returncode == 2 and b"name two files" in done.stderr, f"{' '.join(arguments)}: {done.returncode} {done.stderr.decode()}")
        check(not any(os.path.exists(os.path.join(folder, name)) for name in ("rr", "m", "z.csv")), f"{' '.join(arguments)}: wrote")


def names_of_outputs(folder):
    """A link that leads nowhere stays a link, standard output may be called so, a model has no other format's ending."""
    os.symlink("made.csv", os.path.join(folder, "leads.csv"))
    done = run(folder, "simulate", "ar1:n=50", "-o", "leads.csv", "-q")
    check(done.returncode == 0 and os.path.islink(os.path.join(folder, "leads.csv")), f"leads.csv: {done.stderr.decode()}")
    check(os.path.getsize(os.path.join(folder, "made.csv")) > 100, "what leads.csv leads to was not made")
    for to in (subprocess.PIPE, open(os.path.join(folder, "stdout.csv"), "wb")):
        done = subprocess.run([COMMAND, "simulate", "ar1:n=50", "-o", "/dev/stdout"], stdout=to, stderr=subprocess.PIPE, cwd=folder, check=False)
        written = done.stdout if to == subprocess.PIPE else open(os.path.join(folder, "stdout.csv"), "rb").read()
        check(done.returncode == 0 and len(written.splitlines()) == 51, f"-o /dev/stdout: {written[:200]!r} {done.stderr!r}")
    for name in ("m.pdf", "m.html", "m.csv", "m.csv.gz", "m.json", "m.tif"):
        done = run(folder, "train", "field.csv", "--target", "y", "--plan", "uniform", "--members", "3", "-o", name)
        check(done.returncode == 2 and b"ending" in done.stderr, f"train -o {name}: exit {done.returncode}")
        check(not os.path.exists(os.path.join(folder, name)), f"train wrote {name}")
    done = run(folder, "train", "no-file.csv", "--target", "y", "-o", "m" * 256)
    check(done.returncode == 1 and b"too long" in done.stderr, f"a name of 256 bytes: {done.returncode} {done.stderr.decode()}")


def arrays(folder):
    """An array holds the classes where they are numbers; text is refused."""
    for arguments, width in ((["simulate", "ar1:n=50,d=3"], 4), (["predict", "field.model", "field.csv"], 1),
                             (["predict", "field.model", "field.csv", "--proba"], 3)):
        done = run(folder, *arguments, "-o", "array.npy", "-q")
        with open(os.path.join(folder, "array.npy"), "rb") as file:
            file.seek(10)
            header = ast.literal_eval(file.readline().decode())
            values = array.array("f", file.read())
        check(done.returncode == 0 and header["shape"][1] == width, f"{' '.join(arguments)}: array.npy is {header}, {done.stderr.decode()}")
        classes = values[-header["shape"][0]:]
        check(set(classes) == {-1.0, 1.0}, f"{' '.join(arguments)}: classes {set(classes)}")
    with open(os.path.join(folder, "words.csv"), "w", encoding="ascii") as file:
        file.write("a,y\n" + "".join(f"{i * 7 % 13},{'no' if i * 7 % 13 < 6 else 'yes'}\n" for i in range(200)))
    run(folder, "train", "words.csv", "--target", "y", "--plan", "uniform", "--members", "3", "-o", "words.model", "-q")
    done = run(folder, "predict", "words.model", "words.csv", "-o", "words.npy")
    check(done.returncode == 1 and b"'no' is none; write csv" in done.stderr, f"classes of text to npy: {done.returncode} {done.stderr.decode()}")
    check(not os.path.exists(os.path.join(folder, "words.npy")), "words.npy was written")


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
            [b"train", name, *target, b"-o", b"evil.model", b"--report", b"evil.html", b"-v"], [b"compare", name, *target, b"--plan", b"uniform"],
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
    with open(os.path.join(folder, "evil.html"), "rb") as file:
        page = file.read()
    try:
        text = page.decode("utf-8")
        loud = [c for c in text if (ord(c) < 32 and c not in "\n\t\r") or 0x7f <= ord(c) < 0xa0]
        check(not loud, f"evil.html holds {loud[:5]} raw")
    except ValueError as error:
        faults.append(f"evil.html is not UTF-8: {error}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        run(folder, "simulate", "grid:n=400,range=3,d=2", "-o", "field.csv", "-q")
        run(folder, "train", "field.csv", "--target", "y", "--plan", "uniform", "--members", "3", "-o", "field.model", "-q")
        endings(folder)
        devices(folder)
        inputs(folder)
        all_files_of_a_run(folder)
        names_of_outputs(folder)
        arrays(folder)
        places(folder)
        names_of_any_bytes(folder)
    print("\n".join(faults) or "endings, places and names are as they should be")
    return 1 if faults else 0


sys.exit(main())
