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
METHODS = ("rf", "lag-thin", "auto-block", "stationary", "tsf", "rf-spectral", "rocket", "rocket-routed", "rf-routed", "rf-size",
           "rocket-uniform", "rocket-size", "arsenal", "minirocket", "quant", "auto")
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

    def archive(self, sets, gain, noise=0.002, lag1=None, partial=()):
        """gain(method, lag1): accuracy above a level of the set."""
        rows = []
        for s, name in enumerate(sets):
            level, own = self.random.uniform(0.5, 0.8), lag1(s) if lag1 else self.random.uniform(0.2, 0.99)
            for method in METHODS:
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

    def nets(self, accuracy, variance, ece, noise=1.0):
        rows = []
        for name in FIVE:
            for learner in ("transformer", "mamba"):
                for plan in ("uniform", "routed", "small"):
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
        self.assertEqual(scatter["run_now"], 10)  # of three sets and four methods, two forests are found again


if __name__ == "__main__":
    sys.exit(unittest.main())
