#!/usr/bin/env python3
"""Every sh and C block of README.md and docs/guide runs as it is written, on data that ships or on what a line of the page
makes. Blocks marked no-run are counted; those in Python are run by python/tests/test_pages.py. On the release build
(./test.sh does)."""
import collections
import os
import sys
import tempfile

import pages

COMMAND = os.environ["SR_COMMAND"]
SOURCE = os.environ.get("SR_SOURCE", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(os.path.abspath(COMMAND))


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
                fault = None
                if not block.runs:
                    counts["shown" if block.language == "text" else "marked no-run"] += 1
                elif block.language == "sh":
                    counts["run by sh"] += 1
                    fault = pages.run_shell(block, folder, COMMAND)
                elif block.language == "c":
                    counts["run by C"] += 1
                    fault = pages.run_c(block, folder, COMMAND, SOURCE, BUILD, [])
                else:
                    counts[f"in {block.language}"] += 1
                if fault:
                    faults.append(f"{block.place}: {fault}")
    print("\n".join(faults) or "blocks: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return 1 if faults or counts["run by sh"] < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
