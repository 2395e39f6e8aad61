#!/usr/bin/env python3
"""What others' trainers get: folds in three forms, counted as the file counts; models that say what they are."""
import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["SR_COMMAND"]
ROWS = 1200


def run(*words):
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, timeout=120)


def text(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def npy(path):
    """A byte array of two dimensions, read without numpy."""
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[8:10], "little")
    header = eval(data[10:10 + length].decode())  # pylint: disable=eval-used
    rows, columns = header["shape"]
    assert header["descr"] == "|u1" and not header["fortran_order"]
    body = data[10 + length:]
    return [body[k * columns:(k + 1) * columns] for k in range(rows)]


class Evaluator(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = lambda _, name: os.path.join(cls.folder.name, name)
        source = os.path.join(cls.folder.name, "plain.csv")
        made = run("simulate", "ar1", "--n", ROWS, "--tmix", 10, "--d", 3, "-o", source, "-q")
        assert made.returncode == 0, made.stderr
        with open(source, newline="") as file:
            header, *lines = list(csv.reader(file))
        timed = [[str(i)] + line for i, line in enumerate(lines)]
        cls.order = list(range(ROWS))
        random.Random(5).shuffle(cls.order)
        for name, rows in (("sorted.csv", range(ROWS)), ("shuffled.csv", cls.order)):
            with open(os.path.join(cls.folder.name, name), "w", newline="") as file:
                csv.writer(file).writerows([["when"] + header] + [timed[i] for i in rows])

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def folds(self, data, ending, *more):
        path = self.path("folds" + ending)
        made = run("folds", self.path(data), "--target", "y", "--time", "when", "-o", path, "--json", *more)
        self.assertEqual(made.returncode, 0, made.stderr)
        return json.loads(made.stdout), path

    def test_every_row_is_tested_once_and_far_from_training(self):
        said, path = self.folds("sorted.csv", ".json")
        written = json.loads(text(path))
        self.assertEqual(len(written["folds"]), said["folds"])
        self.assertEqual(sorted(r for f in written["folds"] for r in f["test"]), list(range(ROWS)))
        self.assertGreater(said["buffer"], 0)
        for fold in written["folds"]:
            train, test = set(fold["train"]), set(fold["test"])
            self.assertFalse(train & test)
            for row in test:
                near = range(max(0, row - said["buffer"]), min(ROWS, row + said["buffer"] + 1))
                self.assertFalse(train.intersection(near))

    def test_three_forms_say_the_same(self):
        _, path = self.folds("sorted.csv", ".json")
        folds = json.loads(text(path))["folds"]
        roles = npy(self.folds("sorted.csv", ".npy")[1])
        table = {}
        with open(self.folds("sorted.csv", ".csv")[1], newline="") as file:
            for line in csv.DictReader(file):
                table[int(line["fold"]), int(line["row"])] = line["role"]
        for k, fold in enumerate(folds):
            for role, name in ((0, "train"), (1, "test")):
                self.assertEqual([r for r in range(ROWS) if roles[k][r] == role], fold[name])
                self.assertEqual([r for r in range(ROWS) if table[k, r] == name], fold[name])

    def test_rows_are_counted_as_in_the_file(self):
        plain = json.loads(text(self.folds("sorted.csv", ".json")[1]))["folds"]
        mixed = json.loads(text(self.folds("shuffled.csv", ".json")[1]))["folds"]
        for one, other in zip(plain, mixed):
            self.assertEqual(one["test"], sorted(self.order[row] for row in other["test"]))
            self.assertEqual(one["train"], sorted(self.order[row] for row in other["train"]))

    def test_other_endings_are_refused(self):
        made = run("folds", self.path("sorted.csv"), "--target", "y", "-o", self.path("folds.txt"))
        self.assertNotEqual(made.returncode, 0)
        self.assertIn(".csv|.npy|.json", made.stderr)
        self.assertFalse(os.path.exists(self.path("folds.txt")))

    def test_show_says_what_train_said(self):
        model = self.path("a.model")
        trained = run("train", self.path("sorted.csv"), "--target", "y", "--time", "when", "-o", model, "--members", 20, "--json")
        self.assertEqual(trained.returncode, 0, trained.stderr)
        shown = run("show", model, "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        before, after = json.loads(trained.stdout), json.loads(shown.stdout)
        for key in ("plan", "members", "error", "warnings"):
            self.assertEqual(before[key], after[key], key)
        again = self.path("again.csv")
        self.assertEqual(run("predict", model, self.path("sorted.csv"), "-o", again, "--proba").returncode, 0)
        page = self.path("a.html")
        self.assertEqual(run("show", model, "--report", page).returncode, 0)
        self.assertIn("<h1>The model", text(page))
        self.assertEqual(run("show", self.path("sorted.csv")).returncode, 3)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=0))
