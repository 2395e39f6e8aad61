#!/usr/bin/env python3
"""What others' trainers get: folds in three forms, counted as the file counts; models that say what they are."""
import csv
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["SR_COMMAND"]
ROWS = 1200
OTHER = {"-1": "1", "1": "-1"}


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

    def test_folds_of_a_map_tell_the_distance_that_they_keep(self):
        draw = random.Random(6)
        path, out = self.path("lattice.csv"), self.path("lattice-folds.csv")
        with open(path, "w", newline="") as file:
            rows = [(x, y, draw.gauss(0, 1), math.cos(x / 4) + math.cos(y / 5) > draw.gauss(0, 0.3)) for x in range(24) for y in range(24)]
            csv.writer(file).writerows([("east", "north", "a", "y"), *rows])
        for more, kept in ((("--buffer", 3), "3 units of the map"), (("--buffer", 0), "nothing")):
            made = run("folds", path, "--target", "y", "--coords", "east,north", "-o", out, *more)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertIn(f"{kept} kept free around them", made.stdout)
            said = json.loads(run("folds", path, "--target", "y", "--coords", "east,north", "-o", out, "--json", *more).stdout)
            self.assertEqual((said["buffer_distance"], said["distance_unit"], said["buffer"]), (more[1], "map", 0))
            self.assertGreater(said["reach"], 3)
            free = [line for line in text(out).splitlines() if line.endswith(",free")]
            self.assertEqual(bool(free), more[1] > 0)
        said, _ = self.folds("sorted.csv", ".csv")
        self.assertEqual((said["buffer_distance"], said["distance_unit"], said["reach"]), (None, None, None))

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

    def test_the_error_is_told_by_members(self):
        curve = self.train("--plan", "uniform", "--members", 9)["error"]["by_members"]
        self.assertEqual([point["members"] for point in curve], [1, 3, 5, 9])
        self.assertGreater(curve[0]["error"], curve[-1]["error"])
        # Its ends are ensembles of their own.
        for members, point in ((1, curve[0]), (9, curve[-1])):
            alone = self.train("--plan", "uniform", "--members", members)["error"]["honest"]
            self.assertAlmostEqual(point["error"], alone, places=9)
        said = self.train("--members", 40, "--report", self.path("curve.html"))
        self.assertEqual(said["error"]["by_members"][-1], {"members": 40, "error": said["error"]["honest"]})
        self.assertIn("Error on held-out rows against the number of members", text(self.path("curve.html")))
        self.assertRegex(run("show", self.path("h.model")).stdout, r"error where \d+, .*40 vote: 0\.\d{4}, ")

    def train(self, *more):
        made = run("train", self.path("sorted.csv"), "--target", "y", "--time", "when", "-o", self.path("h.model"), "--members", 20,
                   "--json", *more)
        self.assertEqual(made.returncode, 0, made.stderr)
        return json.loads(made.stdout)

    def judge(self, predictions, *more, data="sorted.csv"):
        return run("judge", self.path(predictions), self.path(data), "--target", "y", "--time", "when", *more)

    def write(self, name, lines):
        with open(self.path(name), "w", newline="") as file:
            csv.writer(file).writerows(lines)

    def truth(self):
        with open(self.path("sorted.csv"), newline="") as file:
            return [line["y"] for line in csv.DictReader(file)]

    def test_held_out_rows_are_written_and_their_metrics_are_those_of_train(self):
        said = self.train("--held-out", self.path("held.csv"))
        with open(self.path("held.csv"), newline="") as file:
            held = list(csv.DictReader(file))
        self.assertEqual(list(held[0]), ["row", "truth", "prediction", "p_-1", "p_1", "part", "fold"])
        self.assertEqual([int(line["row"]) for line in held], list(range(ROWS)))
        self.assertEqual([line["truth"] for line in held], self.truth())
        folds = json.loads(text(self.folds("sorted.csv", ".json")[1]))["folds"]
        for k, fold in enumerate(folds):
            self.assertEqual([int(line["row"]) for line in held if int(line["fold"]) == k], fold["test"])
        for line in held:
            self.assertAlmostEqual(float(line["p_-1"]) + float(line["p_1"]), 1, places=5)
            self.assertEqual(line["prediction"], "1" if float(line["p_1"]) > float(line["p_-1"]) else "-1")
        right = {c: [line["prediction"] == c for line in held if line["truth"] == c] for c in ("-1", "1")}
        balanced = sum(sum(r) / len(r) for r in right.values()) / 2
        brier = sum(2 * (float(line["p_1"]) - (line["truth"] == "1")) ** 2 for line in held) / ROWS
        self.assertAlmostEqual(said["metrics"]["balanced_accuracy"], balanced, places=9)
        self.assertAlmostEqual(said["metrics"]["brier"], brier, places=5)
        self.assertEqual(said["confusion"]["counts"][1][1], sum(right["1"]))
        shown = json.loads(run("show", self.path("h.model"), "--json").stdout)
        for key in ("metrics", "confusion", "calibration"):
            self.assertEqual(shown[key], said[key])
        judged = json.loads(self.judge("held.csv", "--json").stdout)
        self.assertEqual(judged["rows"], ROWS)
        for key, value in judged["metrics"].items():
            self.assertAlmostEqual(value, said["metrics"][key], places=9, msg=key)

    def test_held_out_rows_are_those_of_the_file(self):
        made = run("train", self.path("shuffled.csv"), "--target", "y", "--time", "when", "-o", self.path("s.model"), "--members", 20,
                   "--held-out", self.path("mixed.csv"), "-q")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.train("--held-out", self.path("plain_held.csv"))
        with open(self.path("plain_held.csv"), newline="") as file:
            plain = [line["prediction"] for line in csv.DictReader(file)]
        with open(self.path("mixed.csv"), newline="") as file:
            mixed = [line["prediction"] for line in csv.DictReader(file)]
        self.assertEqual([plain[row] for row in self.order], mixed)
        judged = self.judge("mixed.csv", "--json", data="shuffled.csv")
        self.assertEqual(judged.returncode, 0, judged.stderr)

    def test_judge_counts_errors_in_every_form_of_file(self):
        truth = self.truth()
        guess = [c if i % 5 else OTHER[c] for i, c in enumerate(truth)]
        wrong = sum(a != b for a, b in zip(truth, guess)) / ROWS
        forms = {"a": [["prediction"]] + [[c] for c in guess],
                 "b": [["row", "y_pred"]] + [[i, float(guess[i])] for i in reversed(range(ROWS))],
                 "c": [["index", "p_1"]] + [[i, 0.9 if c == "1" else 0.2] for i, c in enumerate(guess)],
                 "d": [["when", "y", "p_-1", "p_1"]] + [[i, c, int(c == "-1"), int(c == "1")] for i, c in enumerate(guess)],
                 "e": [[c] for c in guess]}
        for name, lines in forms.items():
            self.write("form.csv", lines)
            made = self.judge("form.csv", "--json")
            self.assertEqual(made.returncode, 0, name + made.stderr)
            said = json.loads(made.stdout)
            self.assertAlmostEqual(said["error"]["honest"], wrong, places=9, msg=name)
            self.assertLess(said["error"]["honest_low"], wrong)
            self.assertGreater(said["error"]["honest_high"], wrong)
            self.assertEqual(said["metrics"]["brier"] is None, name in "abe")
            self.assertEqual(sum(map(sum, said["confusion"]["counts"])), ROWS)
        spoken = self.judge("form.csv")
        self.assertIn("confusion", spoken.stdout)
        naive, honest = said["error"]["naive_low"], said["error"]["honest_low"]
        self.assertNotEqual(naive, honest)
        self.assertRegex(spoken.stdout, rf"naive: as if rows were independent +{naive:.4f} to")
        self.assertRegex(spoken.stdout, rf"honest: rows that depend on each other +{honest:.4f} to .* from \d+ spans")
        page = self.path("judged.html")
        self.assertEqual(self.judge("form.csv", "--report", page).returncode, 0)
        self.assertIn("how well it is known", text(page))
        piped = subprocess.run([COMMAND, "judge", "-", self.path("sorted.csv"), "--target", "y", "--json"], capture_output=True, text=True,
                               input="prediction\n" + "\n".join(guess) + "\n", timeout=60)
        self.assertAlmostEqual(json.loads(piped.stdout)["error"]["honest"], wrong, places=9)

    def test_errors_that_last_widen_the_interval(self):
        truth = self.truth()
        guess = [c if (i // 60) % 4 else OTHER[c] for i, c in enumerate(truth)]
        self.write("runs.csv", [["prediction"]] + [[c] for c in guess])
        error = json.loads(self.judge("runs.csv", "--json").stdout)["error"]
        self.assertAlmostEqual(error["honest"], 0.25, places=9)
        self.assertGreater(error["honest_high"] - error["honest_low"], 2 * (error["naive_high"] - error["naive_low"]))

    def test_some_rows_may_have_no_prediction(self):
        truth = self.truth()
        self.write("half.csv", [["row", "prediction"]] + [[i, truth[i]] for i in range(0, ROWS, 2)])
        self.assertEqual(json.loads(self.judge("half.csv", "--json").stdout)["rows"], ROWS // 2)
        self.write("gaps.csv", [["p_-1", "p_1"]] + [[0.5, 0.5] if i % 3 else ["", ""] for i in range(ROWS)])
        self.assertEqual(json.loads(self.judge("gaps.csv", "--json").stdout)["rows"], ROWS - ROWS // 3)

    def test_judge_names_what_is_wrong(self):
        cases = {"twice": ([["row", "prediction"], [3, 1], [3, 1]], "row 3 twice"),
                 "beyond": ([["row", "prediction"], [ROWS, 1], [1, 1]], f"row {ROWS}, expected 0 to {ROWS - 1}"),
                 "short": ([["prediction"], [1], [-1]], "2 predictions for 1200 rows"),
                 "class": ([["row", "prediction"], [0, "up"], [1, "down"]], "'up' is none of the 2 classes"),
                 "none": ([["row", "a", "b"], [0, 1, 2]], "column 'prediction'"),
                 "share": ([["row", "p_1"], [0, 1.5], [1, 0.5]], "prediction 1: the probability 'p_1' is 1.5")}
        for name, (lines, words) in cases.items():
            self.write(name + ".csv", lines)
            made = self.judge(name + ".csv")
            self.assertIn(made.returncode, (2, 3), name)
            self.assertIn(words, made.stderr)
        self.assertEqual(run("judge", self.path("short.csv"), self.path("sorted.csv")).returncode, 2)
        self.assertIn("no column 'nope'", self.judge("none.csv", "--prediction", "nope").stderr)

    def test_predict_tells_metrics_where_the_class_is_known(self):
        self.train()
        out = self.path("predicted.csv")
        said = json.loads(run("predict", self.path("h.model"), self.path("sorted.csv"), "-o", out, "--json").stdout)
        with open(out, newline="") as file:
            lines = list(csv.DictReader(file))
        self.assertFalse([name for name in lines[0] if name.startswith("p_")])
        wrong = sum(line["y"] != c for line, c in zip(lines, self.truth())) / ROWS
        self.assertAlmostEqual(said["error"], wrong, places=9)
        self.assertEqual(set(said["metrics"]), {"balanced_accuracy", "macro_f1", "auc", "brier", "log_loss", "ece"})
        judged = json.loads(self.judge("predicted.csv", "--json").stdout)
        self.assertAlmostEqual(judged["metrics"]["balanced_accuracy"], said["metrics"]["balanced_accuracy"], places=9)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=0))
