#!/usr/bin/env python3
"""Every public function says what its caller must know: the comment above it (or above the group it stands in) names
each parameter whose meaning its name does not tell, who frees what it gives, which errors a status may be, and its cost
where that is not obvious. This counts what can be counted."""
import os
import re
import sys

SOURCE = os.environ["SR_SOURCE"]
# Parameters that mean the same everywhere: the objects by their names, and what the top of specroute.h tells.
PLAIN = {"ctx", "context", "game", "agent", "options", "seed", "table", "structure", "graph", "plan", "parts", "spectrum", "dependence", "ensemble", "folds",
         "evaluation", "comparison", "judgment", "nodes", "input", "index", "path", "void", "page", "text"}
# Work whose cost does not follow from its name.
COSTLY = re.compile(r"_(build|compute|estimate|nystrom|fit|predict|votes|train|compare|evaluate|read|bag|cut|bootstrap)$")
DECLARATION = re.compile(r"^SR_API\s+(?:SR_EXPERIMENTAL\s+)?(?P<must>SR_MUST_CHECK\s+)?(?P<type>[\w\s]+?[\s*]+)(?P<name>sr_\w+)\((?P<parameters>[^;]*)\)[^;]*;", re.M)


def parameters(text):
    for item in re.split(r",(?![^()]*\))", " ".join(text.split())):
        pointer = re.search(r"\(\*(\w+)\)", item)
        name = pointer.group(1) if pointer else re.sub(r"\[.*", "", item).split()[-1].lstrip("*")
        yield name, item


def comment_above(text, start):
    """The comment that ends where the declaration begins, and whether the function before it shares it."""
    before = text[:start].rstrip()
    if before.endswith("*/"):
        return re.sub(r"\s*\n \* ?", " ", before[before.rindex("/*"):])
    return None


def functions(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    shared = ""
    end = 0
    for found in DECLARATION.finditer(text):
        own = comment_above(text, found.start())
        between = text[end:found.start()].strip()
        # A function without a comment of its own belongs to the group right above it.
        if own and re.match(r"/\* (The|As) same\b", own):
            own += " " + shared  # it speaks of the function above
        shared = own if own else (shared if not between else "")
        end = found.end()
        yield found, shared, text.count("\n", 0, found.start()) + 1


def faults_of(found, comment):
    name, kind = found["name"], found["type"].strip()
    if name.endswith(("_free", "_options_init")):
        return  # the same everywhere: told once, at the top of specroute.h
    words = set(re.findall(r"\w+", comment))
    given = list(parameters(found["parameters"]))
    if any(parameter == "bytes" for parameter, _ in given):
        words |= {"bytes", "count"}  # so many bytes
    if not comment:
        yield "has no comment"
        return
    if found["must"] and not re.search(r"\bErrors?\b", comment):
        yield "names no errors"
    if found["must"] and COSTLY.search(name) and not re.search(r"\bCost\b|[Ll]inear|O\(|[Cc]heap|Takes", comment):
        yield "names no cost"
    for parameter, item in given:
        out = re.match(r"(?!const).*\*\*", item)
        if out and found["must"] and not re.search(r"[Ff]ree|freed|[Vv]alid|[Oo]wns|constant", comment):
            yield f"does not say who frees {parameter}"
        if parameter not in PLAIN and parameter not in words and parameter.rstrip("s") not in words:
            yield f"does not name {parameter}"
    if kind.endswith("*") and not re.search(r"[Ff]ree|[Vv]alid|[Ll]ives|constant|for ever|NULL past", comment):
        yield "does not say how long its result lives"


def main():
    count, faults = 0, []
    folder = os.path.join(SOURCE, "include", "specroute")
    for header in sorted(os.listdir(folder)):
        for found, comment, line in functions(os.path.join(folder, header)):
            count += 1
            faults += [f"{header}:{line}: {found['name']} {fault}" for fault in faults_of(found, comment or "")]
    print("\n".join(faults) or f"{count} public functions say what a caller must know")
    return 1 if faults or count < 100 else 0


sys.exit(main())
