#!/usr/bin/env python3
"""rl train, compare and play as a user meets them: JSON, resuming after an interrupt, the terminal given back."""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

COMMAND = os.environ["SR_COMMAND"]
SLOW = bool(os.environ.get("SR_SANITIZE"))  # sanitized kernels are some fifty times slower
SMALL = ("--heads", "2", "--batch", "4", "--start", "20", "--capacity", "300", "--epsilon-steps", "50")


def run(*arguments, cwd=None):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=300, cwd=cwd)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def good(self, *arguments):
        result = run(*arguments, "--json", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def bad(self, code, words, *arguments):
        result = run(*arguments, cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertRegex(result.stderr, words)

    def interrupted(self, *arguments, when):
        """Starts the command, sends SIGINT once it catches the signal and when() holds, gives what it said."""
        process = subprocess.Popen([COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   cwd=self.folder)
        limit = time.time() + 120
        while not (catches(process.pid) and when()) and process.poll() is None and time.time() < limit:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=120)
        return process.returncode, error


def catches(pid):
    """Whether the process has set its handler of SIGINT: on a busy machine that takes a while."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            caught = next(line for line in file if line.startswith("SigCgt"))
    except (OSError, StopIteration):
        return False
    return int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1


class Train(Folder):
    LINE = ("rl", "train", "--game", "breakout", "--sampler", "routed:block=9", "--steps", "120", *SMALL)

    def test_json(self):
        got = self.good(*self.LINE, "--episodes", "3", "--seed", "4")
        for key in ("game", "sampler", "steps", "return", "target_variance", "steps_per_second", "records", "seconds"):
            self.assertIn(key, got)
        self.assertEqual((got["game"], got["sampler"], got["steps"]), ("breakout", "routed:block=9", 120))
        self.assertLessEqual({"iqm", "low", "high", "mean", "episodes"}, set(got["return"]))
        self.assertLessEqual(got["return"]["low"], got["return"]["high"])
        targets = got["target_variance"]
        self.assertAlmostEqual(targets["frozen"], targets["within"] + targets["between"], places=9)
        self.assertIsNotNone(targets["run_mean"])
        self.assertGreater(got["steps_per_second"], 0)

    def test_flags_come_from_the_registries(self):
        got = self.good("rl", "train", "--game", "pong", "--skip", "2", "--sampler", "routed", "--block", "7",
                        "--steps", "60", "--episodes", "2", *SMALL)
        self.assertEqual((got["game"], got["sampler"]), ("pong:skip=2", "routed:block=7"))
        self.bad(2, "no game 'breakot'; did you mean 'breakout'", "rl", "train", "--game", "breakot")
        self.bad(2, "did you mean 'routed'", "rl", "train", "--sampler", "rooted")
        self.bad(2, "--block is an option of routed", "rl", "train", "--sampler", "uniform", "--block", "7")
        self.bad(2, "heads is '99'", "rl", "train", "--heads", "99")

    def test_an_interrupted_run_goes_on_bit_for_bit(self):
        steps = "150" if SLOW else "6000"
        line = ("rl", "train", "--game", "pong", "--sampler", "per", "--steps", steps, "--heads", "2", "--start", "30",
                "--capacity", "500", "--batch", "8", "--episodes", "2", "--seed", "7")
        whole = self.good(*line, "-o", "whole.agent")
        part = self.folder / "part.agent"
        code, error = self.interrupted(*line, "-o", "part.agent", "--checkpoint", "1e-6", when=part.exists)
        if code != 0:  # else it was faster than the signal
            self.assertEqual(code, 130, error)
            self.assertRegex(error, r"interrupted at step \d+ of \d+: all of it is in part.agent")
        rest = self.good(*line, "-o", "part.agent")
        self.assertEqual(rest["steps"], int(steps))
        self.assertEqual(rest["records"], whole["records"])
        self.assertEqual(rest["return"], whole["return"])
        self.assertEqual((self.folder / "part.agent").read_bytes(), (self.folder / "whole.agent").read_bytes())
        again = self.good("rl", "train", "-o", "part.agent", "--episodes", "2", "--seed", "7")
        self.assertEqual((again["resumed_at"], again["sampler"]), (int(steps), "per"))

    def test_going_on_with_more_steps(self):
        """The plan is that of the last command, not of the first."""
        self.good("rl", "train", "--game", "pong", "--steps", "40", *SMALL[:6], "--episodes", "2", "-o", "a.agent")
        size = (self.folder / "a.agent").stat().st_size
        code, error = self.interrupted("rl", "train", "-o", "a.agent", "--steps", "100000000", "--checkpoint", "1e-6",
                                       when=lambda: (self.folder / "a.agent").stat().st_size != size)
        self.assertEqual(code, 130, error)
        self.assertRegex(error, r"interrupted at step \d+ of 100000000: all of it is in a.agent;")
        step = int(re.search(r"at step (\d+) of", error).group(1))
        rest = self.good("rl", "train", "-o", "a.agent", "--steps", str(step), "--episodes", "2")  # no more is asked for
        self.assertEqual((rest["steps"], rest["resumed_at"]), (step, step))

    def test_an_interrupt_without_a_file_loses_nothing(self):
        begun = time.time()
        code, error = self.interrupted("rl", "train", "--game", "breakout", "--steps", "100000000", "--capacity", "500",
                                       *SMALL[:6], when=lambda: time.time() > begun + 1.0)
        self.assertEqual(code, 130, error)
        name = re.search(r"all of it is in (\S+);", error).group(1)
        self.assertEqual(name, "breakout-uniform-1.agent")
        self.assertGreater((self.folder / name).stat().st_size, 1000)

    def test_an_interrupt_of_the_evaluation_keeps_the_agent(self):
        trained = self.folder / "a.agent"  # with no checkpoints it is written once, when training has ended
        code, error = self.interrupted("rl", "train", "--game", "breakout", "--steps", "64", *SMALL, "--episodes", "100000",
                                       "--checkpoint", "0", "-o", "a.agent", when=trained.exists)
        self.assertEqual(code, 130, error)
        self.assertIn("interrupted at step 64 of 64: all of it is in a.agent;", error)
        rest = self.good("rl", "train", "-o", "a.agent", "--episodes", "2")
        self.assertEqual((rest["steps"], rest["resumed_at"]), (64, 64))

    def test_another_agent_in_the_file_is_refused(self):
        self.good(*self.LINE, "--episodes", "2", "-o", "a.agent")
        self.bad(2, "a.agent: the agent has game breakout, not pong", "rl", "train", "--game", "pong", "-o", "a.agent")
        self.bad(2, "the agent has heads 2, not 3", "rl", "train", "--heads", "3", "-o", "a.agent")
        self.bad(2, "the agent has seed 1, not 9", "rl", "train", "--seed", "9", "-o", "a.agent")
        (self.folder / "b.agent").write_text("not an agent")
        self.bad(3, "b.agent", "rl", "train", "-o", "b.agent")

    def test_report(self):
        self.good(*self.LINE, "--episodes", "2", "--report", "page.md")
        page = (self.folder / "page.md").read_text()
        self.assertIn("Return in training", page)
        self.assertIn("it grows with their mean", page)


class Compare(Folder):
    LINE = ("rl", "compare", "--games", "breakout,pong:skip=2", "--samplers", "uniform,routed:block=9,fifth", "--seeds",
            "2", "--steps", "60", "--episodes", "2", *SMALL)

    def test_rows_resume_and_page(self):
        got = self.good(*self.LINE, "-o", "d", "--report", "page.md")
        self.assertEqual((got["units"], got["run_now"], len(got["rows"])), (12, 12, 6))
        for row in got["rows"]:
            self.assertEqual(row["n"], 2)
            self.assertLessEqual({"game", "sampler", "steps", "return", "target_variance", "steps_per_second"}, set(row))
        lines = [json.loads(line) for line in (self.folder / "d" / "rl-compare-full.jsonl").read_text().splitlines()]
        seeds = [line["seed"] for line in lines]
        self.assertEqual(sorted(seeds), [1] * 6 + [2] * 6)
        page = (self.folder / "page.md").read_text()
        for words in ("IQM", "P(better than uniform)", "smallest that shows", "mean y"):
            self.assertIn(words, page)
        again = self.good(*self.LINE, "-o", "d", "--threads", "1")
        self.assertEqual((again["run_now"], again["cells"]), (0, got["cells"]))

    def test_breadth_first_and_interrupts(self):
        line = ("rl", "compare", "--games", "breakout", "--samplers", "uniform,routed:block=9", "--seeds", "3",
                "--steps", "150" if SLOW else "6000", "--episodes", "2", *SMALL, "--threads", "1")
        file = self.folder / "d" / "rl-compare-full.jsonl"
        code, error = self.interrupted(*line, "-o", "d",
                                       when=lambda: file.exists() and len(file.read_text().splitlines()) >= 2)
        self.assertEqual(code, 130, error)
        texts = file.read_text().splitlines()
        done = len(texts)
        self.assertEqual([json.loads(text)["seed"] for text in texts], [1, 1, 2, 2, 3, 3][:done])
        self.assertLessEqual(len(list((self.folder / "d").glob("*.agent"))), 1)  # of the run under way
        rest = self.good(*line, "-o", "d")
        self.assertEqual(rest["run_now"], rest["units"] - done)
        self.assertEqual(list((self.folder / "d").glob("*.agent")), [])
        whole = self.good(*line, "-o", "e")

        def values(folder):
            texts = (self.folder / folder / "rl-compare-full.jsonl").read_text().splitlines()
            rows = [json.loads(text) for text in texts]
            return {(r["case"], r["seed"]): {k: v for k, v in r["values"].items() if k not in ("steps-per-second", "cut-share")}
                    for r in rows}
        self.assertEqual(values("d"), values("e"))
        self.assertEqual(whole["units"], 6)

    def test_one_seed_has_no_interval(self):
        line = ("rl", "compare", "--games", "montezuma", "--samplers", "uniform,fifth", "--seeds", "1", "--steps", "60",
                "--episodes", "2", *SMALL, "-o", "d")
        got = self.good(*line)
        text = run(*line, cwd=self.folder)
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn("[–]", text.stdout)
        self.assertNotIn("verdict", text.stdout)  # there is none
        for row in got["rows"]:
            self.assertEqual((row["return"]["low"], row["return"]["high"]), (None, None))
        self.assertFalse([cell for cell in got["cells"] if "low" in cell])
        self.assertEqual([cell for cell in got["cells"] if cell["column"] in ("random play", "written player")], [])

    def test_a_page_draws_every_sampler(self):
        names = "uniform,uniform-more,per,rem,routed,fifth,contiguous,half-rate"
        self.good("rl", "compare", "--games", "montezuma", "--samplers", names, "--seeds", "1", "--steps", "60",
                  "--episodes", "2", *SMALL, "-o", "d", "--report", "page.html")
        page = (self.folder / "page.html").read_text()
        self.assertIn("Performance profiles (2 of 2)", page)
        plots = "".join(re.findall(r"<svg.*?</svg>", page, re.S))
        for name in names.split(","):
            self.assertIn(f">{name}<", plots)

    def test_refusals(self):
        self.bad(2, "names uniform twice", "rl", "compare", "--samplers", "uniform,uniform")
        self.bad(2, "no sampler 'x'", "rl", "compare", "--samplers", "x")
        self.bad(2, "no command 'rl paly'", "rl", "paly")
        self.assertEqual(run("rl").returncode, 2)
        self.assertIn("rl compare", run("rl", "--help").stdout)


PYTHON = os.environ.get("SPECROUTE_PYTHON", "python3")


def has_emulator():
    try:
        return subprocess.run([PYTHON, "-c", "import ale_py, numpy"], capture_output=True, timeout=120).returncode == 0
    except OSError:
        return False


def children(pid):
    found = []
    for file in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += file.read_text(encoding="ascii").split()
        except OSError:
            pass
    return found


def read_piece(terminal, wait):
    """What a terminal drew within `wait` seconds: None where nothing came, b"" where it is closed."""
    if not select.select([terminal], [], [], wait)[0]:
        return None
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


@unittest.skipUnless(has_emulator(), "no ale-py for SPECROUTE_PYTHON or python3")
class Emulator(Folder):
    """Ctrl-C at a terminal goes to every process of the foreground group, the emulator's too."""

    def at_terminal(self, *arguments, when):
        """Presses Ctrl-C once when() holds; gives the exit code and what was said."""
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(COMMAND, [COMMAND, *arguments], {**os.environ, "NO_COLOR": "1"})
        seen, pressed, limit = b"", False, time.time() + 240
        while time.time() < limit:
            piece = read_piece(master, 0.05)
            if piece == b"":
                break
            seen += piece or b""
            if not pressed and catches(pid) and when(pid):
                os.write(master, b"\x03")
                pressed = True
        else:
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        os.close(master)
        self.assertTrue(pressed, seen)
        return os.waitstatus_to_exitcode(status), seen.decode(errors="replace")

    def test_train_keeps_the_agent(self):
        line = ("rl", "train", "--game", "ale:pong", "--steps", "100000", *SMALL, "--start", "100000", "-o", "a.agent",
                "--checkpoint", "1e-6")
        code, seen = self.at_terminal(*line, when=lambda pid: (self.folder / "a.agent").exists())
        self.assertEqual(code, 130, seen)
        step = int(re.search(r"interrupted at step (\d+) of 100000: all of it is in a.agent;", seen).group(1))
        self.assertGreater(step, 0)
        self.bad(2, "the agent has heads 2, not 3", "rl", "train", "-o", "a.agent", "--heads", "3")  # it is whole

    def test_compare_and_reproduce_go_on(self):
        line = ("rl", "compare", "--games", "ale:pong", "--samplers", "uniform,fifth", "--seeds", "1", "--steps", "100000",
                *SMALL, "--start", "100000", "-o", "d")
        code, seen = self.at_terminal(*line, when=children)
        self.assertEqual(code, 130, seen)
        self.assertIn("run again to go on", seen)
        self.assertGreaterEqual(len(list((self.folder / "d").glob("*.agent"))), 1)  # the runs under way
        code, seen = self.at_terminal("reproduce", "atari-emulator", "-o", "e", when=children)
        self.assertEqual(code, 130, seen)
        self.assertIn("run again to go on", seen)


class Play(unittest.TestCase):
    """The game on a pseudo-terminal: what it draws, and that its modes come back on every way out."""

    def play(self, *arguments, keys=b"", signals=(), soon_over=False):
        master, slave = pty.openpty()
        before = termios.tcgetattr(slave)  # while nobody else has the terminal
        pid = os.fork()
        if pid == 0:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for stream in range(3):
                os.dup2(slave, stream)
            os.execve(COMMAND, [COMMAND, "rl", "play", *arguments], {**os.environ, "NO_COLOR": "1"})
        seen, raw, limit, sent, over = b"", None, time.time() + 60, False, False
        while time.time() < limit:
            piece = read_piece(master, 0.05)
            if piece == b"":
                break
            seen += piece or b""
            if not sent and b"score" in seen:
                raw = termios.tcgetattr(slave)
                over = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
                sent = True
                if keys:
                    os.write(master, keys)
                for number in signals:
                    os.kill(pid, number)
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                while piece := read_piece(master, 0.2):
                    seen += piece
                break
        else:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            self.fail("the game did not end")
        after = termios.tcgetattr(slave)
        os.close(slave)
        os.close(master)
        if not over and not soon_over:  # else the modes were back before they could be looked at
            self.assertFalse(raw[3] & (termios.ICANON | termios.ECHO), "keys come one by one")
        self.assertEqual(after, before, "the modes came back")
        self.assertIn(b"\033[?25h\033[?1049l", seen)
        return os.waitstatus_to_exitcode(status), seen.decode(errors="replace")

    def test_quit(self):
        code, seen = self.play("breakout", keys=b"q")
        self.assertEqual(code, 0)
        self.assertIn("##", seen)  # bricks
        self.assertRegex(seen, "breakout: score 0 after [0-9]+ steps, left")

    def test_interrupts(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            code, seen = self.play("pong", signals=[number])
            self.assertEqual(code, 130, seen)
        code, seen = self.play("pong", keys=b"\x03")  # from the keyboard
        self.assertEqual(code, 130, seen)
        code, seen = self.play("pong", signals=[signal.SIGINT, signal.SIGINT])
        self.assertEqual(code, 130, seen)

    def test_to_the_end(self):
        code, seen = self.play("breakout", "--player", "random", "--speed", "1000", "--seed", "3", soon_over=True)
        self.assertEqual(code, 0)
        self.assertRegex(seen, "score [0-9]+ after [0-9]+ steps, over")

    def test_keys_move(self):
        code, seen = self.play("breakout", "--most", "3", "--speed", "20", keys=b"\033[D\033[D", soon_over=True)
        self.assertEqual(code, 0)
        self.assertRegex(seen, "after 3 steps, left")

    def test_json_and_refusals(self):
        code, seen = self.play("pong", "--player", "script", "--most", "5", "--speed", "20", "--json", soon_over=True)
        got = json.loads(seen[seen.index('{"game"'):].splitlines()[0])
        self.assertEqual((got["game"], got["steps"], got["over"]), ("pong", 5, False))
        result = subprocess.run([COMMAND, "rl", "play", "breakout"], capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, start_new_session=True, timeout=60)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, "rl play draws in a terminal")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
