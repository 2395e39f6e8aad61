#!/usr/bin/env python3
"""train, predict, compare and plan as a user meets them: keys, files, exit codes, damaged models, interrupts."""
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

COMMAND = os.environ["SR_COMMAND"]


def run(*arguments, **more):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False, **more)


def parsed(*arguments):
    result = run(*arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def wait_for_handler(process):
    """Until the command catches SIGINT: before that the shell's own answer would be tested."""
    for _ in range(600):
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            caught = next((line for line in file if line.startswith("SigCgt")), "SigCgt: 0")
        if int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1:
            return
        time.sleep(0.05)


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.data = cls.path("x.csv")
        cls.model = cls.path("m.model")
        assert run("simulate", "ar1", "--n", "600", "--d", "3", "--tmix", "5", "-o", cls.data).returncode == 0
        cls.trained = parsed("train", cls.data, "--target", "y", "-o", cls.model, "-m", "15", "--plan", "routed")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def test_train_gives_the_keys_that_programs_rely_on(self):
        self.assertEqual(self.trained["plan"]["name"], "routed")
        self.assertIn("part_share", self.trained["plan"]["parameters"])
        self.assertEqual(self.trained["members"], 15)
        for key in ("honest", "honest_low", "honest_high", "naive"):
            self.assertIsInstance(self.trained["error"][key], float)
        for key in ("mean_pairwise", "variance_of_margin"):
            self.assertIsInstance(self.trained["covariance"][key], float)
        seconds = self.trained["seconds"]
        steps = ("read", "structure", "choice", "fit", "evaluate")
        for key in steps:
            self.assertGreater(seconds[key], 0, key)
        self.assertLessEqual(sum(seconds[key] for key in steps), seconds["total"])
        self.assertEqual(set(self.trained["importance"]), {"x1", "x2", "x3"})

    def test_the_page_says_what_was_held_out(self):
        page = run("train", self.data, "--target", "y", "-o", self.path("p.model"), "-m", "15").stdout
        for word in ("plan ", "honest", "held out", "naive", "covariance", "features", "time"):
            self.assertIn(word, page)

    def test_predictions_have_class_names_and_shares(self):
        out = self.path("out.csv")
        result = parsed("predict", self.model, self.data, "-o", out, "--proba")
        self.assertEqual(result["rows"], 600)
        self.assertLess(result["error"], 0.4)
        with open(out, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0]), ["y", "p_-1", "p_1"])
        self.assertTrue(all(abs(float(r["p_-1"]) + float(r["p_1"]) - 1) < 1e-5 for r in rows))
        with open(self.data, encoding="utf-8") as file:
            truth = [r["y"] for r in csv.DictReader(file)]
        wrong = sum(r["y"] != y for r, y in zip(rows, truth)) / 600
        self.assertAlmostEqual(wrong, result["error"], places=9)

    def test_columns_are_matched_by_name(self):
        with open(self.data, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        shuffled = self.path("shuffled.csv")
        with open(shuffled, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ["x3", "extra", "x1", "x2"], extrasaction="ignore")
            writer.writeheader()
            writer.writerows({**row, "extra": 1} for row in rows)
        plain = run("predict", self.model, self.data).stdout
        self.assertEqual(run("predict", self.model, shuffled).stdout, plain)
        missing = self.path("missing.csv")
        with open(missing, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ["x3", "x1"], extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
        result = run("predict", self.model, missing)
        self.assertEqual(result.returncode, 3)
        self.assertIn("'x2'", result.stderr)

    def test_a_model_describes_itself(self):
        self.assertEqual(run("predict", self.model).returncode, 2)
        self.assertEqual(run("predict", self.model, self.data, "--json").returncode, 2)
        self.assertIn("honest", run("show", self.model).stdout)
        self.assertEqual(parsed("show", self.model)["error"], self.trained["error"])

    def test_damaged_models_are_refused(self):
        with open(self.model, "rb") as file:
            whole = file.read()
        damaged = self.path("damaged.model")
        for at in range(0, len(whole), max(1, len(whole) // 12)):
            for content in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:]):
                with open(damaged, "wb") as file:
                    file.write(content)
                result = run("predict", damaged, self.data)
                self.assertEqual(result.returncode, 3, at)
                self.assertTrue(result.stderr.strip())
        self.assertEqual(run("predict", self.path("absent"), self.data).returncode, 3)

    def test_threads_do_not_change_the_model(self):
        models = []
        for threads in ("1", "2", "8"):
            path = self.path(f"t{threads}.model")
            self.assertEqual(run("train", self.data, "--target", "y", "-o", path, "-m", "15", "--threads", threads,
                                 "-q").returncode, 0)
            with open(path, "rb") as file:
                models.append(file.read())
        self.assertEqual(models[0], models[1])
        self.assertEqual(models[0], models[2])

    def test_compare_gives_rows_and_tests(self):
        result = parsed("compare", self.data, "--target", "y", "--plans", "uniform,routed:part_share=0.2", "-m", "8")
        self.assertEqual([row["plan"] for row in result["rows"]], ["uniform", "routed:part_share=0.2"])
        self.assertEqual(len(result["wilcoxon"]), 1)
        self.assertIn(result["best"]["plan"], ("uniform", "routed:part_share=0.2"))

    def test_plan_writes_bags_that_come_back(self):
        bags = self.path("bags.csv")
        result = parsed("plan", self.data, "--target", "y", "--plan", "circular", "-m", "4", "-o", bags)
        self.assertEqual(result["rows_per_bag"], {"min": 600, "mean": 600.0, "max": 600})
        trained = parsed("train", self.data, "--target", "y", "--plan", "bags", "--bags", bags, "-o",
                         self.path("b.model"), "--no-importance")
        self.assertEqual(trained["members"], 4)

    def test_wrong_usage(self):
        for arguments in (["train", self.data, "-o", self.model], ["train", self.data, "--target", "y"],
                          ["train", self.data, "--target", "y", "-o", self.path("u"), "--plan", "nothing"],
                          ["plan", self.data], ["compare", self.data]):
            self.assertEqual(run(*arguments).returncode, 2, arguments)

    def test_interrupted_or_killed_training_leaves_the_old_model(self):
        data, model = self.path("large.csv"), self.path("kept.model")
        self.assertEqual(run("simulate", "ar1", "--n", "20000", "--d", "5", "-o", data).returncode, 0)
        with open(self.model, "rb") as source, open(model, "wb") as target:
            old = source.read()
            target.write(old)
        for sent, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
            process = subprocess.Popen([COMMAND, "train", data, "--target", "y", "-o", model, "-m", "5000", "-q"],
                                       stderr=subprocess.DEVNULL)
            wait_for_handler(process)
            time.sleep(0.3)
            process.send_signal(sent)
            self.assertEqual(process.wait(timeout=60), code)
            with open(model, "rb") as file:
                self.assertEqual(file.read(), old)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
