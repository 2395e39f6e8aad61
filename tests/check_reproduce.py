"""reproduce: results grow line by line, resume after a cut, a kill or an interrupt; report reads them."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

COMMAND = os.environ["SR_COMMAND"]
NAME = "claim-lfa"  # small units, no data


def run(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=300)


def keys(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [(line["case"], line["seed"]) for line in lines]


class Reproduce(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp())
        cls.folder = cls.root / "whole"
        result = run("reproduce", NAME, "--seeds", "1", "-o", str(cls.folder), "--json")
        assert result.returncode == 0, result.stderr
        cls.whole = json.loads(result.stdout)
        cls.file = cls.folder / f"{NAME}-quick.jsonl"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    def copy(self, name):
        folder = self.root / name
        shutil.copytree(self.folder, folder)
        return folder, folder / self.file.name

    def resume(self, folder, *more):
        result = run("reproduce", NAME, "--seeds", "1", "-o", str(folder), "--json", *more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_keys_and_lines(self):
        for key in ("name", "cells", "verdict", "seconds", "reason"):
            self.assertIn(key, self.whole)
        self.assertEqual(set(self.whole["cells"][0]) & {"row", "column", "paper", "measured", "sd", "n"},
                         {"row", "column", "paper", "measured", "sd", "n"})
        self.assertEqual(self.whole["run_now"], self.whole["units"])
        first = json.loads(self.file.read_text().splitlines()[0])
        for key in ("experiment", "parameters", "seed", "values", "commit", "build", "seconds"):
            self.assertIn(key, first)
        self.assertEqual(len(set(keys(self.file))), self.whole["units"])

    def test_finished_units_never_run_twice(self):
        before = self.file.read_bytes()
        self.assertEqual(self.resume(self.folder)["run_now"], 0)
        self.assertEqual(self.file.read_bytes(), before)

    def test_cut_and_torn_file(self):
        folder, file = self.copy("torn")
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(lines[:5]) + lines[5][:40])
        again = self.resume(folder)
        self.assertEqual(again["run_now"], self.whole["units"] - 5)
        self.assertEqual(again["cells"], self.whole["cells"])
        self.assertEqual(len(set(keys(file))), len(keys(file)))

    def test_foreign_files_are_not_erased(self):
        for number, text in enumerate((b"my notes, no newline", b"my notes\n", b'{"mine": 1}\n', b'{"mine": 1}')):
            folder = self.root / f"foreign{number}"
            folder.mkdir()
            file = folder / self.file.name
            file.write_bytes(text)
            result = run("reproduce", NAME, "--seeds", "1", "-o", str(folder), "--json")
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("not a result line", result.stderr)
            self.assertEqual(file.read_bytes(), text)

    def drift_verdict(self, name, rise):
        """The verdict of claim-drift on made-up results: excess risk .01 + rise(T) from nu = 0 to 8."""
        folder = self.root / name
        folder.mkdir()
        with open(folder / "claim-drift-quick.jsonl", "w", encoding="utf-8") as file:
            for tmix in (5, 10, 20, 50):
                for nu in (0, 1, 2, 4, 8):
                    for seed in range(1, 21):
                        values = {"divergence": nu * nu * 5000 / tmix,
                                  "excess": 0.01 + rise(tmix) * nu / 8 + 0.0001 * (seed % 2)}
                        file.write(json.dumps({"experiment": "claim-drift", "scale": "quick",
                                               "case": f"T={tmix} nu={nu} n=5000 d=5", "seed": seed, "parameters": {},
                                               "values": values, "seconds": 0, "commit": "none", "build": "none"}) + "\n")
        result = run("reproduce", "claim-drift", "-o", str(folder), "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        answer = json.loads(result.stdout)
        self.assertEqual(answer["run_now"], 0)
        return answer["verdict"]

    def test_drift_is_judged_by_the_rate_that_is_claimed(self):
        # nu T / n is .008 at T = 5 and .08 at T = 50. The same rise at every T, as least squares gives it, is no such rate.
        self.assertEqual(self.drift_verdict("flat", lambda tmix: 0.05), "not reproduced")
        self.assertEqual(self.drift_verdict("still", lambda tmix: 0.0), "not reproduced")
        self.assertEqual(self.drift_verdict("slow", lambda tmix: 0.03 + 0.0005 * tmix), "partly")
        self.assertEqual(self.drift_verdict("claimed", lambda tmix: 8 * tmix / 5000), "reproduced")

    def test_thread_count_and_order_do_not_matter(self):
        folder = self.root / "threads"
        self.assertEqual(self.resume(folder, "--threads", "1")["cells"], self.whole["cells"])
        file = folder / self.file.name
        file.write_text("".join(reversed(file.read_text().splitlines(keepends=True))))
        self.assertEqual(self.resume(folder)["cells"], self.whole["cells"])

    def start(self, folder):
        process = subprocess.Popen([COMMAND, "reproduce", NAME, "--seeds", "40", "-o", str(folder)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        file, deadline = folder / self.file.name, time.time() + 120
        while time.time() < deadline:
            if file.exists() and len(file.read_bytes().splitlines()) > self.whole["units"] + 2:
                return process, file
            time.sleep(0.02)
        process.kill()
        self.fail("no unit was finished")

    def test_kill(self):
        folder, _ = self.copy("kill")
        process, file = self.start(folder)
        process.kill()
        process.communicate()
        whole = [line for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]
        self.assertEqual(len(set(keys(self.file))), self.whole["units"])
        self.assertGreater(len(whole), self.whole["units"])
        self.assertEqual(self.resume(folder)["run_now"], 0)
        self.assertGreaterEqual(len(keys(file)), len(whole))

    def test_interrupt(self):
        folder, _ = self.copy("interrupt")
        process, file = self.start(folder)
        second = run("reproduce", NAME, "--seeds", "40", "-o", str(folder))
        self.assertEqual(second.returncode, 1)
        self.assertIn("another run is writing", second.stderr)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, error)
        self.assertIn("run again to go on", error)
        self.assertTrue(file.read_text().endswith("\n"))
        self.assertEqual(len(set(keys(file))), len(keys(file)))

    def test_bad_line(self):
        folder, file = self.copy("bad")
        lines = file.read_text().splitlines(keepends=True)
        file.write_text(lines[0] + "{\"case\": 1}\n" + "".join(lines[1:]))
        result = run("reproduce", NAME, "--seeds", "1", "-o", str(folder))
        self.assertEqual(result.returncode, 3)
        self.assertIn(f"{file.name}:2:", result.stderr)

    def test_wrong_usage(self):
        self.assertEqual(run("reproduce").returncode, 2)
        self.assertEqual(run("reproduce", "nothing-of-that-name").returncode, 2)
        self.assertEqual(run("report", str(self.root / "absent")).returncode, 3)

    def test_list(self):
        result = run("reproduce", "--list", "--json", "-o", str(self.folder))
        self.assertEqual(result.returncode, 0, result.stderr)
        listed = json.loads(result.stdout)["experiments"]
        self.assertIn(NAME, [e["name"] for e in listed])
        for e in listed:
            self.assertTrue(e["title"] and e["place"] and e["needs"])
            self.assertGreater(e["units"], 0)
            self.assertGreater(e["seconds"], 0)
            page = pathlib.Path(os.environ["SR_SOURCE"]) / "docs" / "methods" / f"experiment-{e['name']}.md"
            self.assertTrue(page.exists(), f"{page} is missing")

    def test_report(self):
        page, text = self.root / "report.html", self.root / "report.md"
        result = run("report", str(self.folder), "-o", str(page), "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        said = json.loads(result.stdout)
        self.assertEqual(said["pages"], 1)
        self.assertEqual(page.read_text().count("<svg"), said["plots"])
        self.assertEqual(run("report", str(self.folder), "-o", str(text)).returncode, 0)
        self.assertIn(self.whole["reason"][:40], text.read_text())
        self.assertRegex(page.read_text(), r"<footer>Made by specroute .* UTC with: specroute report .*</footer>")
        self.assertNotIn("Made by", text.read_text())


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=0))
