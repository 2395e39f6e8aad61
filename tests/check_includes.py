#!/usr/bin/env python3
"""Each room of src/ includes only rooms below it; cli/ and experiments/ see the public header only."""
import os
import re
import sys

SOURCE = os.environ["SR_SOURCE"]

# What a room may include, with all that those may include. A public header counts as its room.
BELOW = {
    "core": [],
    "data": ["core"], "stats": ["core"], "nn": ["core"],
    "simulate": ["data"], "graph": ["data"], "learner": ["data", "nn"],
    "spectrum": ["graph"], "partition": ["spectrum"], "dependence": ["graph"],
    "structure": ["partition", "dependence"], "plan": ["structure"],
    "ensemble": ["plan", "learner"], "evaluate": ["ensemble", "stats"], "train": ["evaluate"],
    "report": ["stats"], "describe": ["train", "report", "simulate"],
    "replay": ["partition", "nn", "stats"],
}


def below(room):
    return set(BELOW[room]).union(*[below(other) for other in BELOW[room]])


ALLOWED = {room: below(room) for room in BELOW}
PUBLIC = {"specroute", "method", "export"} | set(BELOW)


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


def public_rooms(room):
    """Public headers that a room may include: its own and those of the rooms below it."""
    return {room, "export", "method"} | ALLOWED[room]


def check_room(path, faults):
    room = os.path.relpath(path, os.path.join(SOURCE, "src")).split(os.sep)[0]
    if room not in ALLOWED:
        faults.append(f"{path}: no room '{room}' is known to this check")
        return
    for number, bracket, name in includes(path):
        if name.startswith("specroute/"):
            other = name[len("specroute/"):-2]
            if other not in public_rooms(room):
                faults.append(f"{path}:{number}: {room} may not include <{name}>")
        elif bracket == '"':
            here = os.path.join(os.path.dirname(path), name)
            there = os.path.relpath(here if os.path.exists(here) else os.path.join(SOURCE, "src", name),
                                    os.path.join(SOURCE, "src"))
            other = there.split(os.sep)[0]
            if other != room and other not in ALLOWED[room]:
                faults.append(f"{path}:{number}: {room} may not include {name}")


def check_outside(path, faults):
    for number, bracket, name in includes(path):
        if name.startswith("specroute/") and name != "specroute/specroute.h":
            faults.append(f"{path}:{number}: include <specroute/specroute.h> only, not <{name}>")
        if bracket == '"' and not os.path.exists(os.path.join(os.path.dirname(path), name)) and not any(
                os.path.exists(os.path.join(SOURCE, folder, name)) for folder in ("cli", "experiments")):
            faults.append(f"{path}:{number}: {name} is not a header of cli/ or experiments/")


def main():
    faults = []
    count = 0
    for path in files("src"):
        check_room(path, faults)
        count += 1
    for folder in ("cli", "experiments"):
        for path in files(folder):
            check_outside(path, faults)
            count += 1
    for header in os.listdir(os.path.join(SOURCE, "include", "specroute")):
        if header[:-2] not in PUBLIC:
            faults.append(f"include/specroute/{header} is not known to this check")
    print("\n".join(faults) or f"{count} files include in the allowed direction")
    return 1 if faults or count == 0 else 0


sys.exit(main())
