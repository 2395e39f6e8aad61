#!/usr/bin/env python3
"""Functions take few parameters: what belongs together is one struct. Counts every definition of src, cli and experiments.
Kernels work on plain pointers, as their levels want it. The limits only fall."""
import glob
import os
import re
import sys

SOURCE = os.environ["SR_SOURCE"]
MANY = 7
MOST = 55           # functions of MANY or more parameters, kernels left out
MOST_KERNELS = 28   # the same in *_kernel.c
LONGEST = 10        # parameters of one function
LONGEST_KERNEL = 11
DEFINITION = re.compile(r"^(?:[A-Za-z_][\w \*]*?[\s\*])([A-Za-z_]\w*)\(((?:[^(){};]|\([^()]*\))*)\)\s*\{", re.M)


def parameters(text):
    """How many a list names; commas of a function pointer's own list do not count."""
    if text.strip() in ("", "void"):
        return 0
    while re.search(r"\([^()]*\)", text):
        text = re.sub(r"\([^()]*\)", "", text)
    return text.count(",") + 1


def main():
    found = []
    for pattern in ("src/**/*.[ch]", "cli/*.c", "experiments/*.c"):
        for path in sorted(glob.glob(os.path.join(SOURCE, pattern), recursive=True)):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", "", file.read(), flags=re.S)
            for name, inside in DEFINITION.findall(text):
                if name not in ("if", "for", "while", "switch"):
                    found.append((parameters(inside), os.path.relpath(path, SOURCE), name))
    kernels = sorted((f for f in found if f[0] >= MANY and f[1].endswith("_kernel.c")), reverse=True)
    others = sorted((f for f in found if f[0] >= MANY and not f[1].endswith("_kernel.c")), reverse=True)
    print(f"{len(found)} functions: {len(others)} take {MANY} or more parameters (at most {MOST}), {len(kernels)} of kernels "
          f"(at most {MOST_KERNELS})")
    faults = [f"{path}: {name} takes {count}" for count, path, name in others if count > LONGEST]
    faults += [f"{path}: {name} takes {count}" for count, path, name in kernels if count > LONGEST_KERNEL]
    if len(others) > MOST or len(kernels) > MOST_KERNELS:
        faults += ["group the parameters of a new function in a struct:"]
        faults += [f"  {path}: {name} takes {count}" for count, path, name in others + kernels]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


sys.exit(main())
