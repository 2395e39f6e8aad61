#!/usr/bin/env python3
"""Verdicts of the experiments on the UCR archive, from made-up results: each must be able to come out. A small archive
is run, resumed and concluded from."""
import gzip
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["SR_COMMAND"]
SETS = ("Adiac", "Beef", "Car", "CBF", "Coffee", "ECG200", "FaceAll", "Fish", "GunPoint", "Ham", "Wafer", "Yoga")
METHODS = ("rf", "lag-thin", "auto-block", "stationary", "tsf", "rf-spectral", "rocket", "rocket-routed", "rf-routed",
           "rf-spectral-size", "rf-routed-size", "rocket-routed-size", "rocket-uniform", "arsenal", "minirocket", "quant", "auto")
FIVE = ("FordA", "StarLightCurves", "Wafer", "TwoPatterns", "GunPoint")


class Verdicts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.random = random.Random(7)

    def write(self, file, rows):
        text = "".join(json.dumps({"case": case, "seed": 1, "values": values}) + "\n" for case, values in rows)
        (self.folder / f"{file}-quick.jsonl").write_text(text)

    def conclude(self, name, *more):
        result = subprocess.run([COMMAND, "reproduce", name, "-o", str(self.folder), "--json", *more], capture_output=True,
                                text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def archive(self, sets, gain, noise=0.002, lag1=None, partial=(), missing=()):
        """gain(method, lag1): accuracy above a level of the set."""
        rows = []
        for s, name in enumerate(sets):
            level, own = self.random.uniform(0.5, 0.8), lag1(s) if lag1 else self.random.uniform(0.2, 0.99)
            for method in METHODS:
                if (name, method) in missing:
                    continue
                value = level + gain(method, own) + self.random.gauss(0, noise)
                values = {"cv": value, "default": value}
                if method == "rf":
                    values.update(lag1=own, partial=int(name in partial))
                rows.append((f"set={name} method={method}", values))
        self.write("ucr", rows)

    def test_ucr(self):
        gains = {"reproduced": {"rf-spectral": 0.033, "rocket-routed": 0.009},
                 "partly": {"rf-spectral": 0.033, "rocket-routed": -0.01},
                 "not reproduced": {"rf-spectral": -0.1, "rocket-routed": 0.0}}
        for verdict, gain in gains.items():
            self.archive(SETS, lambda method, _, g=gain: g.get(method, 0.0))
            got = self.conclude("ucr")
            self.assertEqual((got["verdict"], got["run_now"]), (verdict, 0), got["reason"])
        self.archive(SETS, lambda method, _: {"rf-spectral": 0.02}.get(method, 0.0), noise=0.2)
        self.assertEqual(self.conclude("ucr")["verdict"], "cannot be tested here")
        self.archive(SETS[:2], lambda method, _: 0.0)
        self.assertEqual(self.conclude("ucr")["verdict"], "cannot be tested here")

    def test_each_gain_has_its_own_control(self):
        gains = {"rf-spectral": -0.10, "rf-spectral-size": -0.12, "rf-routed": 0.05, "rf-routed-size": 0.01,
                 "rocket-routed": 0.03, "rocket-routed-size": 0.02}
        self.archive(SETS, lambda method, _: gains.get(method, 0.0), noise=0.0)
        got = self.conclude("ucr")
        cells = {cell["row"]: cell["measured"] for cell in got["cells"] if cell["column"] == "points"}
        self.assertAlmostEqual(cells["forest: spectral routing over bootstrap"], -10, 4)
        self.assertAlmostEqual(cells["forest: spectral routing over bags as small"], 2, 4)
        self.assertAlmostEqual(cells["forest: routed over bags as small"], 4, 4)
        self.assertAlmostEqual(cells["ROCKET: routed over bags as small"], 1, 4)
        self.assertRegex(got["reason"], r"forest by -10\.00 points .*; \+2\.00 \[.*ROCKET by \+3\.00 .*; \+1\.00 \[")
        scatter = self.conclude("ucr-scatter")
        self.assertIn("spectral routing minus bags as small", {cell["row"] for cell in scatter["cells"]})
        self.archive(SETS, lambda method, _: 0.0, missing={(name, "rf-spectral-size") for name in SETS})
        self.assertIn("bags as small were not measured", self.conclude("ucr")["reason"])

    def test_means_are_over_common_sets(self):
        self.archive(SETS, lambda method, _: 0.0, noise=0.0, missing={(name, "quant") for name in SETS[5:]}, partial=SETS[:1])
        got = self.conclude("ucr")
        cells = [cell for cell in got["cells"] if cell["table"].startswith("Mean accuracy")]
        self.assertEqual({cell["n"] for cell in cells}, {4})  # five, one of them partial
        self.assertEqual(len({round(cell["measured"], 6) for cell in cells}), 1)
        self.assertIn("over the 4 sets", cells[0]["table"])
        page = self.page()
        self.assertIn("Adiac \\*", page)
        self.assertRegex(page, r"Not all cases of Adiac are in this folder; left out of means and gains")

    def test_one_set_is_no_sets(self):
        self.archive(SETS[:1], lambda method, _: 0.0)
        self.assertTrue(self.conclude("ucr")["reason"].startswith("1 set was measured"))

    def test_every_pair_is_shown(self):
        self.archive(SETS, lambda method, _: 0.02 * METHODS.index(method), noise=0.0001)
        got = self.conclude("ucr-cd")
        pairs = [cell for cell in got["cells"] if cell["table"].startswith("Signed-rank p")]
        self.assertEqual(len(pairs), 28)
        self.assertTrue(all(0 < cell["measured"] <= 1 for cell in pairs))

    def page(self):
        path = self.folder / "page.md"
        subprocess.run([COMMAND, "report", str(self.folder), "-o", str(path)], check=True, capture_output=True, timeout=300)
        return path.read_text()

    def test_numbers_near_zero_are_written_like_their_spread(self):
        rows = []
        for i, name in enumerate(SETS):
            for method in METHODS:
                value = 0.5 + (method == "rf-spectral") * (0.01 * (-1) ** i + 1e-12)
                for seed, more in ((1, 0.0), (2, 1e-16)):
                    rows.append({"case": f"set={name} method={method}", "seed": seed,
                                 "values": {"cv": value + more, "default": value, "lag1": 0.5, "partial": 0}})
        (self.folder / "ucr-quick.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        page = self.page()
        self.assertNotRegex(page, r"\d[eE]-1[0-9]\b")
        self.assertRegex(page, r"spectral routing over bootstrap \| 3.3 \| -?0\.00 ")

    def test_sets_of_any_name(self):
        names = ("mine", "Yours-2", "a_third", "Wafer")
        for i, name in enumerate(names):
            self.make_set(name, i)
        data = ("--data", str(self.folder / "archive"), "--threads", "2", "--seeds", "1")
        got = self.conclude("ucr", *data)
        self.assertEqual(got["units"], len(names) * len(METHODS))
        self.assertIn(f"over {len(names)} sets", got["reason"])
        self.assertEqual(self.conclude("ucr", *data)["run_now"], 0)
        again = self.conclude("ucr")  # without the folder: from the results alone
        self.assertEqual(again["reason"], got["reason"])

    def test_partial_sets_do_not_count(self):
        self.archive(SETS, lambda method, _: 0.0, partial=SETS[2:])
        got = self.conclude("ucr")
        self.assertEqual(got["verdict"], "cannot be tested here")
        self.assertIn("2 sets", got["reason"])

    def test_ranks(self):
        order = {name: 0.02 * i for i, name in enumerate(METHODS)}
        far = dict(order, **{"rocket": 0.05})
        self.archive(SETS, lambda method, _: far[method], noise=0.0001)
        got = self.conclude("ucr-cd")
        self.assertEqual(got["verdict"], "reproduced", got["reason"])
        ranks = [cell["measured"] for cell in got["cells"] if cell["column"] == "average rank"]
        self.assertAlmostEqual(sum(ranks), 36)
        worse = dict(order, **{"rf": 0.5, "rocket": 0.4})
        self.archive(SETS, lambda method, _: worse[method], noise=0.0001)
        self.assertEqual(self.conclude("ucr-cd")["verdict"], "not reproduced")
        mixed = dict(order, **{"rf": -0.5, "rocket": 0.4})
        self.archive(SETS, lambda method, _: mixed[method], noise=0.0001)
        self.assertEqual(self.conclude("ucr-cd")["verdict"], "partly")
        self.archive(SETS[:4], lambda method, _: 0.0)
        self.assertEqual(self.conclude("ucr-cd")["verdict"], "cannot be tested here")

    def test_scatter(self):
        cases = {"reproduced": lambda method, lag1: 0.05 * lag1 * (method == "rf-spectral"),
                 "not reproduced": lambda method, lag1: -0.05 * lag1 * (method == "rf-spectral")}
        for verdict, gain in cases.items():
            self.archive(SETS, gain, noise=0.004, lag1=lambda s: 0.2 + 0.75 * s / len(SETS))
            got = self.conclude("ucr-scatter")
            self.assertEqual(got["verdict"], verdict, got["reason"])
        self.archive(SETS[:7], lambda method, _: 0.0)
        self.assertEqual(self.conclude("ucr-scatter")["verdict"], "cannot be tested here")

    def test_rocket(self):
        for verdict, gain in (("reproduced", 0.012), ("not reproduced", -0.01)):
            self.archive(FIVE, lambda method, _, g=gain: g * (method == "rocket-routed"), noise=0.0005)
            got = self.conclude("rocket")
            self.assertEqual(got["verdict"], verdict, got["reason"])
            self.assertIn("over 5 sets", got["reason"])
        self.archive(FIVE[:2], lambda method, _: 0.0)
        self.assertEqual(self.conclude("rocket")["verdict"], "cannot be tested here")

    def nets(self, accuracy, variance, ece, noise=1.0, plans=("uniform", "routed", "same-size")):
        rows = []
        for name in FIVE:
            for learner in ("transformer", "mamba"):
                for plan in plans:
                    by = plan == "routed"
                    rows.append((f"set={name} learner={learner} plan={plan}",
                                 {"accuracy": 0.9 + by * accuracy + noise * self.random.gauss(0, 0.001),
                                  "variance": 0.13 - by * variance + noise * self.random.gauss(0, 0.002),
                                  "ece": 0.1 - by * ece + noise * self.random.gauss(0, 0.002), "stand_in": 0, "partial": 0}))
        self.write("sequence-native", rows)
        return self.conclude("sequence-native")

    def test_nets(self):
        got = self.nets(0.02, 0.056, 0.048)
        self.assertEqual(got["verdict"], "reproduced")
        p = {(cell["row"], cell["column"]): cell["measured"] for cell in got["cells"]}
        for learner in ("transformer", "mamba"):  # better on all of five sets: the least that five allow
            self.assertEqual(p[learner, "routed against uniform"], 0.0625)
        self.assertIn("against bags as small", got["reason"])
        self.assertIn("bags as small were measured on 0 pairs only", self.nets(0.02, 0.056, 0.048, plans=("uniform", "routed"))["reason"])
        self.assertEqual(self.nets(-0.01, 0.0, 0.0)["verdict"], "not reproduced")
        self.assertEqual(self.nets(0.02, 0.0, -0.02)["verdict"], "partly")
        self.assertEqual(self.nets(0.01, 0.03, 0.03, noise=60)["verdict"], "cannot be tested here")

    def test_without_data(self):
        got = self.conclude("ucr")
        self.assertEqual((got["verdict"], got["units"]), ("cannot be tested here", 0))
        self.assertIn("--data", got["reason"])

    def make_set(self, name, seed):
        draw, folder = random.Random(seed), self.folder / "archive" / name
        folder.mkdir(parents=True)
        for part, count in (("TRAIN", 16), ("TEST", 14)):
            with gzip.open(folder / f"{name}_{part}.tsv.gz", "wt") as file:
                for i in range(count):
                    speed = 0.3 + 0.9 * (i % 2)
                    values = [math.sin(speed * t + i) + draw.gauss(0, 0.3) for t in range(24)]
                    file.write(f"{i % 2 + 1}\t" + "\t".join(f"{v:.4f}" for v in values) + "\n")

    def test_a_small_archive(self):
        for i, name in enumerate(("Coffee", "GunPoint", "Wafer")):
            self.make_set(name, i)
        data = ("--data", str(self.folder / "archive"), "--threads", "2")
        first = self.conclude("rocket", *data)
        self.assertEqual(first["units"], 12)  # two of the five sets, six methods
        self.assertEqual(self.conclude("rocket", *data)["run_now"], 0)
        lines = [json.loads(line) for line in (self.folder / "ucr-quick.jsonl").read_text().splitlines()]
        self.assertTrue(all(0.5 <= line["values"]["cv"] <= 1 for line in lines), lines)
        scatter = self.conclude("ucr-scatter", *data)
        self.assertEqual(scatter["run_now"], 7)  # of three sets and three methods, two forests are found again


if __name__ == "__main__":
    sys.exit(unittest.main())
