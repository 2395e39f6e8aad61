#!/usr/bin/env python3
"""Every sh, C and R block of README.md and docs/guide runs as it is written, on data that ships or on what a line of the page
makes; those in Python are run by python/tests/test_pages.py. Blocks that build or install run with SR_FULL=1, those of R where
Rscript is, which SR_FULL=1 asks for. On the release build (./test.sh does)."""
import collections
import os
import shutil
import sys
import tempfile

import pages

COMMAND = os.environ["SR_COMMAND"]
SOURCE = os.environ.get("SR_SOURCE", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(os.path.abspath(COMMAND))
FULL = bool(os.environ.get("SR_FULL"))


def run(block, folder):
    """What is counted, and the fault or None."""
    if block.way == "tree":
        return ("run in a tree", pages.run_in_tree(block, folder, SOURCE)) if FULL else ("left to SR_FULL=1", None)
    if block.way == "terminal":
        return "run in a terminal", pages.run_in_terminal(block, folder, COMMAND)
    if block.language == "sh":
        return "run by sh", pages.run_shell(block, folder, COMMAND)
    if block.language == "c":
        return "run by C", pages.run_c(block, folder, COMMAND, SOURCE, BUILD, [])
    if block.language == "r" and (FULL or shutil.which("Rscript")):
        return "run by R", pages.run_r(block, folder, COMMAND)
    return {"r": "of R, and no Rscript is here", "text": "shown"}.get(block.language, f"in {block.language}"), None


def main():
    if os.environ.get("SR_BUILD_TYPE", "Release") != "Release" or os.environ.get("SR_SANITIZE"):
        faults = [fault for page in pages.pages(SOURCE) for fault in pages.blocks(SOURCE, page)[1]]
        print("\n".join(faults) or "blocks are well marked; they run on a release build")
        return 1 if faults else 77
    faults, counts = [], collections.Counter()
    for page in pages.pages(SOURCE):
        blocks, wrong = pages.blocks(SOURCE, page)
        faults += wrong
        with tempfile.TemporaryDirectory() as folder:
            pages.prepare(SOURCE, folder)
            for block in blocks:
                what, fault = run(block, folder)
                counts[what] += 1
                if fault:
                    faults.append(f"{block.place}: {fault}")
    print("\n".join(faults) or "blocks: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return 1 if faults or counts["run by sh"] < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
