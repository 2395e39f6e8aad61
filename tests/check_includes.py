#!/usr/bin/env python3
"""Each room includes only rooms below it. A public header counts as its room; cli/, experiments/, examples/ and bench/
see <specroute/specroute.h> alone (bench/ and the templates also look inside)."""
import os
import re
import sys

SOURCE = os.environ["SR_SOURCE"]

# What a room may include, with all that those may: the table of docs/architecture.md.
DIRECTLY = {
    "core": (),
    "data": ("core",), "stats": ("core",), "nn": ("core",),
    "simulate": ("data",), "graph": ("data",), "learner": ("data", "nn"),
    "spectrum": ("graph",), "partition": ("spectrum",), "dependence": ("graph",),
    "structure": ("partition", "dependence"), "plan": ("structure",),
    "ensemble": ("plan", "learner", "stats"), "evaluate": ("ensemble",), "train": ("evaluate",),
    "report": ("stats",), "replay": ("partition", "nn", "stats"),
    "describe": ("train", "report", "simulate", "replay"),
}
# Public headers that are not called after a room.
ROOM_OF_HEADER = {"export": "core", "method": "core"}
UMBRELLA = "specroute"
OUTSIDE = ("cli", "experiments", "examples")


def below(room):
    return {room}.union(*(below(other) for other in DIRECTLY[room]))


def includes(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if found:
                yield number, found.group(1), found.group(2)


def files(folder):
    for base, _, names in os.walk(os.path.join(SOURCE, folder)):
        for name in names:
            if name.endswith((".c", ".h", ".cpp")):
                yield os.path.join(base, name)


def room_of_header(name):
    header = name[len("specroute/"):-len(".h")]
    return ROOM_OF_HEADER.get(header, header)


def room_of_include(path, bracket, name):
    """The room of an include, or None where it is none of ours."""
    if name.startswith("specroute/"):
        return room_of_header(name)
    if bracket == "<":
        return None
    here = os.path.join(os.path.dirname(path), name)
    there = here if os.path.exists(here) else os.path.join(SOURCE, "src", name)
    return os.path.relpath(there, os.path.join(SOURCE, "src")).split(os.sep)[0]


def check_room(path, room, faults):
    if room not in DIRECTLY:
        faults.append(f"{path}: no room '{room}' is known to this check")
        return
    for number, bracket, name in includes(path):
        other = room_of_include(path, bracket, name)
        if other and other not in below(room):
            faults.append(f"{path}:{number}: {room} may not include {name}")


# One file calls the dense libraries: it claims their memory and keeps their threads.
DENSE_DOOR = os.path.join("src", "core", "dense.c")
DENSE = re.compile(r"\b(?:cblas_\w+|LAPACKE_\w+|openblas_\w+|blas_memory_\w+)\s*\(|#\s*include\s*<(?:cblas|lapacke)\.h>")


def check_door(path, faults):
    if os.path.relpath(path, SOURCE) == DENSE_DOOR:
        return
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            found = DENSE.search(line)
            if found:
                faults.append(f"{path}:{number}: {found.group().strip()}: BLAS and LAPACK are called through core/dense.h alone")


def check_outside(path, faults):
    template = f"{os.sep}templates{os.sep}" in path
    for number, bracket, name in includes(path):
        if name.startswith("specroute/") and name != "specroute/specroute.h":
            faults.append(f"{path}:{number}: include <specroute/specroute.h> only, not <{name}>")
        if bracket == '"' and not template and not os.path.exists(os.path.join(os.path.dirname(path), name)) and not any(
                os.path.exists(os.path.join(SOURCE, folder, name)) for folder in ("cli", "experiments")):
            faults.append(f"{path}:{number}: {name} is not a header of cli/ or experiments/")


def main():
    faults = []
    count = 0
    for folder in ("src", "cli", "experiments", "examples"):
        for path in files(folder):
            check_door(path, faults)
    for path in files("src"):
        check_room(path, os.path.relpath(path, os.path.join(SOURCE, "src")).split(os.sep)[0], faults)
        count += 1
    for path in files("include"):
        header = os.path.basename(path)[:-len(".h")]
        count += 1
        if header != UMBRELLA:
            check_room(path, ROOM_OF_HEADER.get(header, header), faults)
    for folder in OUTSIDE:
        for path in files(folder):
            check_outside(path, faults)
            count += 1
    print("\n".join(faults) or f"{count} files include in the allowed direction")
    return 1 if faults or count == 0 else 0


sys.exit(main())
