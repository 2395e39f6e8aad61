"""T of rows in order: each kind of memory is told rightly or named in a warning, and train says what diagnose says."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["SR_COMMAND"]
N = 2000
TRAINED = ("slow labels", "season")  # train must say the same


def chain(r, tmix):
    """A first-order chain of unit variance."""
    a, x, out = 1 - 1 / tmix, r.gauss(0, 1), []
    for _ in range(N):
        x = a * x + math.sqrt(1 - a * a) * r.gauss(0, 1)
        out.append(x)
    return out


def endless(r, d, taps=300):
    """Fractional noise: its correlation falls like a power of the lag."""
    weight = [1.0]
    for k in range(1, taps):
        weight.append(weight[-1] * (k - 1 + d) / k)
    noise = [r.gauss(0, 1) for _ in range(N + taps)]
    return [sum(w * noise[i + taps - k] for k, w in enumerate(weight)) for i in range(N)]


def jumps(r):
    level, out = 0.0, []
    for i in range(N):
        if i % 100 == 0:
            level = 1.2 * r.gauss(0, 1)
        out.append(0.75 * (level + r.gauss(0, 1)))
    return out


def stream(case, seed):
    """Three features and a class."""
    r = random.Random(seed)
    noise = lambda: [r.gauss(0, 1) for _ in range(N)]
    x, e = [noise() for _ in range(3)], noise()
    if case == "slow labels":
        e = chain(r, 100)
    elif case == "volatility":
        size = chain(r, 50)
        x = [[math.exp(0.8 * s) * v for s, v in zip(size, column)] for column in x]
    elif case == "slow signal":
        x = [[s + 1.4 * v for s, v in zip(chain(r, 50), column)] for column in x]
    elif case == "jumps":
        x = [jumps(r) for _ in x]
    elif case == "long memory":
        x = [endless(r, 0.4) for _ in x]
    elif case == "season":
        x = [[v + 1.4 * math.sin(2 * math.pi * (i / 100 + 0.3 * j)) for i, v in enumerate(chain(r, 10))] for j in range(3)]
    f = [a + b * c for a, b, c in zip(*x)]
    if case == "regimes":  # three rules, each with a mean of its own
        state, states = 0, []
        for _ in range(N):
            if r.random() < 1 / 33:
                state = r.randrange(3)
            states.append(state)
        x[2] = [v + s - 1 for v, s in zip(x[2], states)]
        f = [(x[0][i], -x[0][i], x[1][i])[s] * 2 for i, s in enumerate(states)]
    return x, ["yes" if a + 0.7 * b > 0 else "no" for a, b in zip(f, e)]


FEW = 500  # rows on which slow labels are looked for too
#        case: least and most T that are right, what a warning must name (None: nothing)
CASES = {
    "independent": (1, 1, None),
    "slow labels": (40, 250, "labels are slow"),
    "volatility": (25, 125, "comes in regimes"),
    "regimes": (13, 85, None),
    "slow signal": (25, 125, None),
    "jumps": (40, 250, None),
    "long memory": (5, 400, "no end in sight"),
    "season": (5, 40, "have a season"),
}


class Scale(unittest.TestCase):
    def run_json(self, *arguments):
        done = subprocess.run([COMMAND, *arguments, "--json"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check(self, case, seed):
        least, most, named = CASES[case]
        x, y = stream(case, seed)
        with tempfile.TemporaryDirectory() as folder:
            table = os.path.join(folder, "rows.csv")
            with open(table, "w", encoding="utf-8") as file:
                file.write("a,b,c,y\n")
                file.writelines(f"{a:.5f},{b:.5f},{c:.5f},{label}\n" for a, b, c, label in zip(*x, y))
            told = self.run_json("diagnose", table, "--target", "y")
            if case in TRAINED:
                trained = self.run_json("train", table, "--target", "y", "-o", os.path.join(folder, "m"), "--members", "3",
                                        "--plan", "uniform", "--no-evaluation")
                self.assertEqual(trained["tmix"]["estimate"], told["tmix"]["estimate"])
                self.assertEqual(trained["warnings"], told["warnings"])
        tmix, warnings = told["tmix"]["estimate"], told["warnings"]
        self.assertTrue(least <= tmix <= most, f"{case}: T is {tmix}")
        if named:
            self.assertTrue(any(named in text for text in warnings), f"{case}: {warnings}")
        for other in ("labels are slow", "comes in regimes", "no end in sight", "have a season"):
            if other != named:
                self.assertFalse(any(other in text for text in warnings), f"{case}: {warnings}")
        if case == "season":
            self.assertAlmostEqual(told["period"], 100, delta=4)
        self.assertEqual(told["recommend"], "auto")


    def test_slow_labels_of_few_rows(self):
        """Five spans of T: the first correlation of the labels is lost in noise in most streams, many of them together are not."""
        seen = 0
        for seed in range(8):
            x, y = stream("slow labels", 20 + seed)
            with tempfile.TemporaryDirectory() as folder:
                table = os.path.join(folder, "rows.csv")
                with open(table, "w", encoding="utf-8") as file:
                    file.write("a,b,c,y\n")
                    file.writelines(f"{a:.5f},{b:.5f},{c:.5f},{label}\n" for a, b, c, label in list(zip(*x, y))[:FEW])
                told = self.run_json("diagnose", table, "--target", "y")
            seen += told["tmix"]["estimate"] > 10 and any("labels are slow" in text for text in told["warnings"])
        self.assertGreaterEqual(seen, 6)


def add(case):
    setattr(Scale, "test_" + case.replace(" ", "_"), lambda self: self.check(case, 1))


for name in CASES:
    add(name)

if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
