#!/usr/bin/env python3
"""One name, one meaning: no internal name or macro is defined twice, and no code compares the name of a method
with a literal (what others must know of a method is a flag or an enum of its operations table). One spelling: American."""
import json
import os
import re
import subprocess
import sys

SOURCE = os.environ["SR_SOURCE"]
COMMAND = os.environ["SR_COMMAND"]
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
# What an interface leaves open: each learner gives these its own body, and no other file looks inside.
OPAQUE = {"sr__training", "sr__member", "sr__encoder", "sr__encoded"}
# Macros that a file defines for the next include or for itself alone.
PASSING = re.compile(r"^(SR_ENTRY|SR_KERNEL\w*|[A-Z0-9_]+_H)$")


BRITISH = re.compile(
    r"(?:neighbo|colo|behavio|hono|favo)ur|labell(?:ed|ing)|centre(?:s|d)?\b|judgement"
    r"|(?:standard|normal|maxim|minim|penal|initial|general|factor|symmetr|winsor|orthogonal|memor|optim|summar|organ|regular"
    r"|random|real|recogn|vector|local|parallel|discret|quant|serial|synchron|emphas|categor|character|util|crystall)is(?:e|ing|ation)",
    re.I,
)


def files(*folders, endings=(".c", ".h")):
    for folder in folders:
        for base, _, names in os.walk(os.path.join(SOURCE, folder)):
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.join(base, name)


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return COMMENT.sub(lambda m: "\n" * m.group().count("\n"), file.read())


def definitions(text):
    """Internal names that a file gives a meaning to: types, bodies of structs, enumerators, functions with a body, macros."""
    for found in re.finditer(r"^#\s*define\s+(SR__?\w+)", text, re.M):
        yield "macro", found.group(1), found.start()
    for found in re.finditer(r"^\}\s*(sr__\w+);", text, re.M):
        yield "type", found.group(1), found.start()
    for found in re.finditer(r"^typedef\s+(?!(?:struct|union)\s+sr__\w+\s+sr__)[^{};]*?\b(sr__\w+);", text, re.M):
        yield "type", found.group(1), found.start()
    for found in re.finditer(r"^(?:struct|union|enum)\s+(sr__\w+)\s*\{", text, re.M):
        yield "struct", found.group(1), found.start()
    for body in re.finditer(r"\benum\s*\w*\s*\{([^}]*)\}", text):
        for found in re.finditer(r"(?:^|,)\s*(SR__\w+)", body.group(1)):
            yield "enumerator", found.group(1), body.start()
    for found in re.finditer(r"^(?!static|typedef|extern|#|\s)[\w *]*?\b(sr__\w+)\([^;{}]*\)\s*\{", text, re.M):
        yield "function", found.group(1), found.start()


def check_definitions(faults):
    seen = {}
    for path in files("src", "include"):
        text = text_of(path)
        kernel = path.endswith("_kernel.c")
        for kind, name, place in definitions(text):
            if PASSING.match(name) or (kernel and kind == "macro"):
                continue
            here = f"{os.path.relpath(path, SOURCE)}:{text.count(chr(10), 0, place) + 1}"
            # One file may give a name twice in the branches of an #if; the compiler refuses anything else.
            before = seen.get(name)
            if before and before[1].split(":")[0] != here.split(":")[0] and not (name in OPAQUE and "learner" in here):
                faults.append(f"{here}: {kind} {name} is also a {before[0]} of {before[1]}")
            seen[name] = (kind, here)
    return len(seen)


def method_names():
    answer = subprocess.run([COMMAND, "methods", "--json"], capture_output=True, text=True, check=True).stdout
    return {method["name"] for method in json.loads(answer)["methods"]}


def check_comparisons(names, faults):
    call = re.compile(r'\b(?:strn?cmp|strcasecmp|is_word|assert_never)\s*\([^;]*?"([^"]*)"')
    # Words that are also the name of a method, compared as something else: file, line of code.
    allowed = {
        ("cli/tables.c", "auto"),  # whether a file has a header
    }
    count = 0
    for path in files("src", "cli", "experiments"):
        text = text_of(path)
        relative = os.path.relpath(path, SOURCE)
        for found in call.finditer(text):
            count += 1
            if found.group(1) in names and (relative, found.group(1)) not in allowed:
                line = text.count("\n", 0, found.start()) + 1
                faults.append(f'{relative}:{line}: compares with the name of a method, "{found.group(1)}"')
    return count


def check_spelling(faults):
    for path in files("src", "include", "cli", "experiments", "examples", "docs", "bench", "python/specroute", "scripts",
                      endings=(".c", ".h", ".md", ".def", ".py", ".sh")):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                for found in BRITISH.finditer(line):
                    faults.append(f"{os.path.relpath(path, SOURCE)}:{number}: British spelling: {found.group()}")


def main():
    faults = []
    check_spelling(faults)
    defined = check_definitions(faults)
    names = method_names()
    compared = check_comparisons(names, faults)
    print("\n".join(faults) or f"{defined} names have one meaning; none of {compared} comparisons is with one of {len(names)} methods")
    return 1 if faults or not defined or not names else 0


sys.exit(main())
