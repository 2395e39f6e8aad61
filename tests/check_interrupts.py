#!/usr/bin/env python3
"""SIGINT and SIGTERM end every command within 200 ms of processor time per thread, whatever it is doing, with exit 130,
and leave nothing half-written; a second signal ends it at once. Processor time, so that a busy machine fails nothing; so
this runs the release build (./test.sh does). SR_FULL=1 signals at many more moments."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import every_command

COMMAND = os.environ["SR_COMMAND"]
FULL = bool(os.environ.get("SR_FULL"))
ROWS = 150000
ALLOWED = 0.2    # processor seconds of a thread from the signal to the end
FIRST = 0.03     # processor seconds before the first signal: the program has begun
GROWTH = 1.25 if FULL else 2.2
LONGEST = 6.0 if FULL else 1.5
INTERRUPTED = 130


def used(pid):
    """Processor seconds of all threads, or None once it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return None if fields[0] == "Z" else (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return None


class Running:
    """A command whose processor time is watched."""

    def __init__(self, arguments, folder, **pipes):
        self.process = subprocess.Popen([COMMAND, *arguments], cwd=folder, stderr=subprocess.PIPE,
                                        **{"stdout": subprocess.DEVNULL, **pipes})

    def wait_for(self, seconds):
        """False where the command is done before it has used so much."""
        while True:
            now = used(self.process.pid)
            if now is None:
                return False
            if now >= seconds:
                return True
            time.sleep(0.002)

    def stop(self, number, times=1):
        """Exit code, processor seconds after the signal, last words."""
        before = used(self.process.pid) or 0.0
        for _ in range(times):
            os.kill(self.process.pid, number)  # send_signal would reap what is done already
            time.sleep(0.01)
        return self.end(before)

    def stop_or_kill(self, number):
        """One that does not answer is killed after a while."""
        killer = threading.Timer(20 * ALLOWED, os.kill, (self.process.pid, signal.SIGKILL))
        killer.start()
        result = self.stop(number)
        killer.cancel()
        return result

    def end(self, before=0.0):
        said = self.process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.stderr.close()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return self.process.returncode, usage.ru_utime + usage.ru_stime - before, said


def clean(folder, files):
    """Removes what a run made; says what should not be there."""
    made = set(os.listdir(folder)) - files
    for name in made:
        path = os.path.join(folder, name)
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    return {name for name in made if not name.startswith("out")}


def judge(here, result, number, faults, threads=1):
    code, seconds, said = result
    if code not in (INTERRUPTED, -number, 0):
        faults.append(f"{here}: exit {code}\n{said[-300:]}")
    if seconds > threads * ALLOWED + 0.02:  # a clock tick of /proc, and one of rounding
        faults.append(f"{here}: went on for {seconds:.2f} s")
    return seconds / threads


def signal_at_many_moments(folder, files, faults):
    lines = every_command.lines(COMMAND, ROWS, long=True)
    faults += [f"no line tries {name}" for name in every_command.missing(COMMAND, lines)]
    signals, worst, met = 0, 0.0, set()
    for index, line in enumerate(lines):
        if line[:2] == every_command.IN_TERMINAL:
            met.add(line[0])
            continue  # it sleeps between its steps: see signal_while_playing
        after, point = FIRST, 0
        while after <= LONGEST:
            number = signal.SIGTERM if (index + point) % 3 == 2 else signal.SIGINT
            threads = 1 + (index + point) % 2
            here = f"{' '.join(line)}, {threads} threads, {signal.Signals(number).name} after {after:.2f} s"
            # What is slow at a moment is slow there each time; a hiccup of the machine is not.
            for _ in range(3):
                running = Running([*line, "--threads", str(threads)], folder)
                if not running.wait_for(after):
                    running.end()
                    clean(folder, files)
                    found = None
                    break
                found = []
                seconds = judge(here, running.stop(number), number, found, threads)
                left = clean(folder, files)
                if left:
                    found.append(f"{here}: leaves {left}")
                if not found or not all("went on for" in fault for fault in found):
                    break
            if found is None:
                break
            faults += found
            worst = max(worst, seconds)
            met.add(line[0])
            signals += 1
            point += 1
            after *= GROWTH
    faults += [f"{name}: no signal met it running" for name in
               {line[0] for line in lines} - met - every_command.AT_ONCE]
    return signals, worst


def signal_while_reading(folder, faults):
    """Waiting for more input is left at once."""
    fifo = os.path.join(folder, "pipe.csv")
    os.mkfifo(fifo)
    for line in (["diagnose", "-"], ["train", "-", "--target", "y", "-o", "out.model"], ["predict", "stream.model", "-"],
                 ["parts", "pipe.csv", "-o", "out.csv"], ["folds", "pipe.csv", "-o", "out.csv"]):
        number = signal.SIGTERM if line[0] == "train" else signal.SIGINT
        running = Running(line, folder, stdin=subprocess.PIPE)
        writer = running.process.stdin if "-" in line else open(fifo, "wb")
        writer.write(b"a,y\n" + b"1,0\n2,1\n" * 100)
        writer.flush()
        time.sleep(0.3)
        judge(f"{' '.join(line)} reads", running.stop(number), number, faults)
        for end in {writer, running.process.stdin}:
            end.close()
    os.unlink(fifo)


def signal_while_writing(folder, faults):
    """So is waiting for a reader: of a pipe that is full, and of a FIFO that nobody has opened."""
    fifo = os.path.join(folder, "pipe.csv")
    for lines, open_reader in (([["simulate", "ar1:n=20000", "-o", "pipe.csv"], ["predict", "stream.model", "stream.csv", "-o", "pipe.csv"]], True),
                               ([["simulate", "ar1:n=50", "-o", "pipe.csv"], ["predict", "pipe.csv", "stream.csv", "-o", "out.csv"]], False)):
        for line in lines:
            os.mkfifo(fifo)
            reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK) if open_reader else None
            running = Running(line, folder)
            time.sleep(2.0)
            start = time.monotonic()
            result = running.stop_or_kill(signal.SIGINT)
            here = f"{' '.join(line)} waits for {'room' if open_reader else 'the other side'}"
            judge(here, result, signal.SIGINT, faults)
            if result[0] != INTERRUPTED or time.monotonic() - start > 5 * ALLOWED:
                faults.append(f"{here}: exit {result[0]} after {time.monotonic() - start:.1f} s: {result[2][-200:]}")
            if reader is not None:
                os.close(reader)
            os.unlink(fifo)
    running = Running(["simulate", "ar1:n=20000"], folder, stdout=subprocess.PIPE)
    time.sleep(2.0)
    result = running.stop_or_kill(signal.SIGINT)
    if result[0] != INTERRUPTED:
        faults.append(f"a full standard output: exit {result[0]}: {result[2][-200:]}")
    running.process.stdout.close()


def signal_while_playing(folder, faults):
    """A game that waits for its player is left at once, between two steps and at full speed."""
    for speed, number in (("1", signal.SIGINT), ("2", signal.SIGTERM), ("1000", signal.SIGINT)):
        terminal = every_command.Terminal()
        line = [*every_command.IN_TERMINAL, "breakout", "--speed", speed]
        running = Running(line, folder, stdin=terminal.side, stdout=terminal.side, preexec_fn=terminal.take)
        time.sleep(0.3 if speed != "1000" else 0.03)
        start = time.monotonic()
        result = running.stop(number)
        judge(f"{' '.join(line)} is played", result, number, faults)
        if result[0] == 0 and speed != "1000":
            faults.append(f"{' '.join(line)}: a signal ends it as if nothing had happened")
        if time.monotonic() - start > 5 * ALLOWED:  # asleep, not at work: by the clock, with room for a busy machine
            faults.append(f"{' '.join(line)}: slept on for {time.monotonic() - start:.2f} s")
        terminal.close()


def main():
    if os.environ.get("SR_BUILD_TYPE", "Release") != "Release" or os.environ.get("SR_SANITIZE"):
        print("runs on a release build")
        return 77
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where it is ignored, as behind nohup, commands would begin so
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        every_command.prepare(COMMAND, folder, ROWS)
        files = set(os.listdir(folder))
        signals, worst = signal_at_many_moments(folder, files, faults)
        signal_while_reading(folder, faults)
        signal_while_writing(folder, faults)
        signal_while_playing(folder, faults)
        running = Running(["compare", "stream.csv", "--target", "y", "--threads", "1"], folder)
        if not running.wait_for(0.3):
            faults.append("compare was done before two signals came")
        judge("two signals", running.stop(signal.SIGINT, times=2), signal.SIGINT, faults)
        endless = Running(["train", "stream.csv", "--target", "y", "--plan", "bags", "--bags", "/dev/zero", "-o", "out.model"], folder)
        code, seconds, said = endless.end()
        if code in (0, 2, INTERRUPTED) or seconds > 5.0:
            faults.append(f"--bags /dev/zero: exit {code} after {seconds:.1f} s: {said[-200:]}")
    print("\n".join(faults) or f"{signals} signals: at most {worst:.2f} s of work afterwards")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
