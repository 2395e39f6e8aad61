#!/usr/bin/env python3
"""Every command and learner ends under every limit on its memory: with success or with exit 5 and a word, no later than a
second of processor time after the moment at which it would have been done, and leaves no file behind. Sanitizers need more
address space than any limit leaves, so this runs the release build (./test.sh does). SR_FULL=1 tries many more limits."""
import os
import resource
import subprocess
import sys
import tempfile

import every_command

COMMAND = os.environ["SR_COMMAND"]
FULL = bool(os.environ.get("SR_FULL"))
ROWS = 5000
# Megabytes above what loads the program: most commands need few.
STEPS = (*range(0, 40), *range(40, 240, 10)) if FULL else (0, 6, 16, 40, 100)
OUT_OF_MEMORY = 5
WITHIN = 1.0  # processor seconds: a failed allocation is the end, nothing is tried again and again


def limited(arguments, folder, megabytes=None, seconds=None):
    """Exit code, messages and processor seconds under limits on memory and on processor time."""
    terminal = every_command.Terminal() if arguments[:2] == every_command.IN_TERMINAL else None

    def limit():
        if terminal:
            terminal.take()
        if megabytes:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        if seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run([COMMAND, *arguments], stdin=terminal.side if terminal else subprocess.DEVNULL,
                              stdout=terminal.side if terminal else subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
                              check=False, preexec_fn=limit, timeout=600)
    except subprocess.TimeoutExpired:
        return "asleep for ever", "", 0.0
    finally:
        if terminal:
            terminal.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, done.stderr.decode(errors="replace"), used


def remove(folder, names):
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            remove(path, os.listdir(path))
            os.rmdir(path)
        else:
            os.unlink(path)


def main():
    if os.environ.get("SR_BUILD_TYPE", "Release") != "Release" or os.environ.get("SR_SANITIZE"):
        print("runs on a release build")
        return 77
    faults, failed, ran = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        every_command.prepare(COMMAND, folder, ROWS)
        files = set(os.listdir(folder))
        lines = every_command.lines(COMMAND, ROWS, long=False)
        faults += [f"no line tries {name}" for name in every_command.missing(COMMAND, lines)]
        first = next(megabytes for megabytes in range(20, 2000, 5) if limited(["--version"], folder, megabytes)[0] == 0)
        for line in lines:
            code, said, free = limited(line, folder)
            if os.environ.get("SR_VERBOSE"):
                print(f"{free:.2f} s: {' '.join(line)}", flush=True)
            remove(folder, set(os.listdir(folder)) - files)
            if code:
                faults.append(f"without a limit: {' '.join(line)}: exit {code}\n{said[-400:]}")
                continue
            for more in STEPS:
                code, said, used = limited(line, folder, first + more, int(1.5 * free + 2.0))
                ran += 1
                failed += code == OUT_OF_MEMORY
                here = f"{first + more} MB: {' '.join(line)}"
                if code not in (0, OUT_OF_MEMORY):
                    faults.append(f"{here}: exit {code} after {used:.2f} s ({free:.2f} s without a limit)\n{said[-400:]}")
                if code == OUT_OF_MEMORY and used > free + WITHIN:
                    faults.append(f"{here}: exit 5 only after {used:.2f} s ({free:.2f} s without a limit)")
                if code == OUT_OF_MEMORY and "memory" not in said:
                    faults.append(f"{here}: does not speak of memory: {said}")
                left = set(os.listdir(folder)) - files
                if code and left - {"out"}:  # what reproduce has done so far is kept
                    faults.append(f"{here}: leaves {left}")
                remove(folder, left)
    if failed * 20 < ran:
        faults.append(f"only {failed} of {ran} limits were low enough to run out of memory")
    print("\n".join(faults) or f"{ran} runs under limits: {failed} ended with exit 5, the others with 0")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
