#!/usr/bin/env python3
"""Verdicts of the experiments on replay, from made-up results: each must be able to come out, for the right reason."""
import itertools
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
GAMES = ("breakout", "space_invaders", "seaquest", "qbert", "pong", "montezuma", "pitfall")
SAMPLERS = ("uniform-more", "routed", "fifth", "uniform", "per", "rem", "half-rate", "contiguous", "one-part",
            "separate", "routed-features")
QUICK = "start=500 target_every=250 learning_rate=0.001 epsilon_steps=4000"


class Verdicts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.random = random.Random(5)

    def conclude(self, name, seeds, rows):
        """rows: (case, seed, values). Nothing may be left to run."""
        path = self.folder / f"{name}-quick.jsonl"
        path.write_text("".join(json.dumps({"case": case, "seed": seed, "values": values}) + "\n"
                                for case, seed, values in rows))
        result = subprocess.run([COMMAND, "reproduce", name, "--seeds", str(seeds), "-o", str(self.folder), "--json"],
                                capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        got = json.loads(result.stdout)
        self.assertEqual(got["run_now"], 0, "a case has another name")
        self.cells = got["cells"]
        text = subprocess.run([COMMAND, "reproduce", name, "--seeds", str(seeds), "-o", str(self.folder)],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(text.returncode, 0, text.stderr)
        self.text = text.stdout
        return got["verdict"], got["reason"]

    def noise(self, size):
        return self.random.gauss(0, size)

    # ---- atari: returns are (random + score * (player - random)) with scores near 0.3 ----

    def atari(self, score, variance, seeds=10, noise=0.005):
        """score and variance: sampler -> number; others are at .3 and 1."""
        # Rough scales are enough: the experiment measures its own, and the same for every sampler.
        span = {"breakout": (0.3, 38), "space_invaders": (8, 20), "seaquest": (0.2, 20), "qbert": (1.8, 20),
                "pong": (-5.3, 6.7), "montezuma": (0, 14), "pitfall": (-20, 4)}
        rows = []
        for seed, sampler, game in itertools.product(range(1, seeds + 1), SAMPLERS, GAMES):
            low, high = span[game]
            s = score.get(sampler, 0.3) + self.noise(noise)
            values = {"return": low + s * (high - low), "target-mean": 1.0,
                      "target-variance": variance.get(sampler, 1.0) * math.exp(self.noise(0.02))}
            rows.append((f"game={game} sampler={sampler} heads=5 steps=10000 episodes=40 {QUICK}", seed, values))
        return self.conclude("atari", seeds, rows)

    def test_atari(self):
        better, lower = {"routed": 0.36}, {"routed": 0.6}
        verdict, reason = self.atari(better, lower)
        self.assertEqual(verdict, "reproduced", reason)
        verdict, reason = self.atari({"routed": 0.36, "fifth": 0.36}, lower)
        self.assertEqual((verdict, "control fifth" in reason), ("partly", True), reason)
        verdict, reason = self.atari({"routed": 0.36, "separate": 0.37}, lower)
        self.assertEqual((verdict, "control separate" in reason), ("partly", True), reason)
        verdict, reason = self.atari(better, {"routed": 0.6, "half-rate": 0.6})
        self.assertEqual((verdict, "half-rate in Var(y)" in reason), ("partly", True), reason)
        verdict, reason = self.atari({}, {})
        self.assertEqual((verdict, "not above" in reason), ("not reproduced", True), reason)
        verdict, reason = self.atari({"routed": 0.2}, {"routed": 0.5})
        self.assertEqual((verdict, "below uniform" in reason), ("not reproduced", True), reason)
        verdict, reason = self.atari({}, {}, noise=0.2)
        self.assertEqual((verdict, "10 seeds show differences" in reason), ("cannot be tested here", True), reason)
        verdict, reason = self.atari(better, lower, seeds=2)
        self.assertEqual(verdict, "cannot be tested here", reason)
        # The paper's own gains, as ratios of uniform, with its own order of the baselines.
        verdict, reason = self.atari({"routed": 0.331, "per": 0.305, "rem": 0.312}, {"routed": 0.65})
        self.assertEqual(verdict, "reproduced", reason)

    def test_few_seeds(self):
        """One seed has no interval, and each verdict says what ten could show."""
        verdict, reason = self.atari({"routed": 0.36}, {}, seeds=1)
        self.assertEqual(verdict, "cannot be tested here")
        self.assertIn("only 1 seed of every game is there; what 10 seeds can show is not known", reason)
        iqm = [cell for cell in self.cells if cell["column"] == "IQM"]
        self.assertEqual(len(iqm), len(SAMPLERS))
        self.assertFalse([cell for cell in self.cells if "low" in cell])
        self.assertRegex(self.text, r"routed +0\.\d+ \[–\]")
        verdict, reason = self.atari({"routed": 0.36}, {}, seeds=2)
        self.assertRegex(reason, r"only 2 seeds of every game are there; 10 seeds would show differences from [\d.]+ % of uniform")
        self.assertTrue([cell for cell in self.cells if cell["column"] == "IQM" and cell["low"] < cell["high"]])
        self.assertRegex(self.long({}, seeds=2)[1], r"10 seeds would show differences from [\d.]+ on")
        self.assertRegex(self.frameskip(6, 0, seeds=2)[1], r"10 seeds would show differences from [\d.]+ points per halving on")
        self.assertRegex(self.frameskip(6, 0)[1], r"; 10 seeds would show differences from [\d.]+ points per halving on")
        self.assertRegex(self.emulator(2)[1], r"10 seeds would show differences from [\d.]+ in log Var\(y\) on")

    def emulator(self, seeds):
        rows = []
        games = ("ale:breakout", "ale:space_invaders", "ale:seaquest", "ale:qbert")
        for seed, sampler, game in itertools.product(range(1, seeds + 1), ("uniform", "routed", "fifth", "per"), games):
            rows.append((f"game={game} sampler={sampler} heads=5 steps=2000 episodes=2", seed,
                         {"return": 10 + self.noise(1), "target-mean": 1.0, "target-variance": math.exp(self.noise(0.1))}))
        return self.conclude("atari-emulator", seeds, rows)

    def test_no_return_is_invented(self):
        """Where a game has no written player, neither its scale nor random play is a return that was seen."""
        self.emulator(2)
        self.assertEqual([cell for cell in self.cells if cell["column"] in ("random play", "written player")], [])
        self.assertNotIn("written player)", self.text)
        self.long({})
        played = {cell["row"] for cell in self.cells if cell["column"] in ("random play", "written player")}
        self.assertEqual(played, set(GAMES) - {"montezuma"})
        self.assertIn("montezuma has no written player: its returns are scaled by its 14 points", self.text)

    def long(self, score, seeds=10, noise=0.005):
        rows = []
        for seed, sampler, game in itertools.product(range(1, seeds + 1), ("uniform", "routed", "fifth"), GAMES):
            rows.append((f"game={game} sampler={sampler} heads=5 steps=30000 episodes=40 epsilon_steps=8000", seed,
                         {"return": 10 * (score.get(sampler, 0.5) + self.noise(noise)), "target-mean": 1.0,
                          "target-variance": 1.0}))
        return self.conclude("atari-long", seeds, rows)

    def test_atari_long(self):
        self.assertEqual(self.long({"routed": 0.9})[0], "reproduced")
        self.assertEqual(self.long({"routed": 0.9, "fifth": 0.9})[0], "partly")
        self.assertEqual(self.long({})[0], "not reproduced")
        self.assertEqual(self.long({"routed": 0.2})[0], "not reproduced")
        self.assertEqual(self.long({}, noise=1)[0], "cannot be tested here")
        self.assertEqual(self.long({"routed": 0.9}, seeds=2)[0], "cannot be tested here")

    # ---- frame skip ----

    def frameskip(self, routed, fifth, seeds=10, noise=0.3, start=20.0, long=None):
        """Gain of each over uniform per halving of the skip, in points of return; long: of routed with parts of 4 T."""
        gains = {"routed": routed, "fifth": fifth, "long": routed if long is None else long}
        rows = []
        for seed, sampler, (k, skip), equal in itertools.product(range(1, seeds + 1), ("uniform", "routed", "fifth", "long"),
                                                                 enumerate((8, 4, 2, 1)), ("steps", "frames")):
            steps = 10000 if equal == "steps" else 40000 // skip
            gain = gains.get(sampler, 0) * k
            if sampler == "long":
                sampler = f"routed:block={dict(zip((8, 4, 2, 1), (30, 53, 107, 212)))[skip]}"
            game = f"space_invaders:skip={skip}"
            rows.append((f"game={game} sampler={sampler} heads=5 steps={steps} episodes=40 capacity=100000 stack=4 "
                         f"start=500 train_every=1 target_every=250 learning_rate=0.001 epsilon_steps=4000 equal={equal}",
                         seed, {"return": start + gain + self.noise(noise)}))
        return self.conclude("frameskip", seeds, rows)

    def test_frameskip(self):
        self.assertEqual(self.frameskip(6, 0)[0], "reproduced")
        self.assertEqual(self.frameskip(6, 6)[0], "partly")
        self.assertEqual(self.frameskip(0, 0)[0], "not reproduced")
        self.assertEqual(self.frameskip(-3, 0)[0], "not reproduced")
        self.assertEqual(self.frameskip(0, 0, noise=60)[0], "cannot be tested here")
        self.assertEqual(self.frameskip(6, 0, seeds=2)[0], "cannot be tested here")
        verdict, reason = self.frameskip(0, 0, long=6)
        self.assertEqual((verdict, "parts of 4 T" in reason), ("reproduced", True), reason)

    # ---- fresh buffers ----

    def buffers(self, mean, cov, seeds=50, noise=0.1):
        rows = []
        for seed in range(1, seeds + 1):
            common = math.exp(self.noise(0.3))
            values = {}
            for sampler in ("uniform", "fifth", "routed"):
                values[f"mean-{sampler}"] = 0.02 * common * mean.get(sampler, 1) * math.exp(self.noise(noise))
                values[f"cov-{sampler}"] = 0.015 * common * cov.get(sampler, 1) * math.exp(self.noise(noise))
                values[f"head-{sampler}"] = 0.03
                values[f"level-{sampler}"] = 1.0
            rows.append(("what=fresh game=breakout policy=4000 rows=2000 gradient=600 buffers=10 samplers=3", seed, values))
            rows.append(("what=frozen game=breakout steps=4000", seed, {"mean": 1.0, "total": 1.0}))
        return self.conclude("target-variance", seeds, rows)

    def test_target_variance(self):
        self.assertEqual(self.buffers({"routed": 0.7}, {"routed": 0.3})[0], "reproduced")
        verdict, reason = self.buffers({"routed": 0.7, "fifth": 0.7}, {"routed": 0.3})
        self.assertEqual((verdict, "500 fresh buffers" in reason), ("partly", True), reason)
        self.assertEqual(self.buffers({}, {})[0], "not reproduced")
        self.assertEqual(self.buffers({"routed": 0.7}, {"routed": 0.3}, seeds=20)[0], "cannot be tested here")

    # ---- linear Q ----

    def lfa(self, independent, dependent, by_rows=-1.0):
        rows = []
        points = [("T", t, 16000) for t in (1, 2, 4, 8, 16, 32, 64)] + [("n", 16, n) for n in (2000, 4000, 8000, 16000, 32000)]
        for seed, noise, (sweep, t, n) in itertools.product(range(1, 4), ("independent", "dependent"), points):
            power = independent if noise == "independent" else dependent
            value = t ** power * (n / 1e4) ** by_rows * math.exp(self.noise(0.05))
            rows.append((f"sweep={sweep} noise={noise} T={t} n={n} agents=5 actions=2 buffers=30", seed,
                         {key: value for key in ("variance", "variance-nm", "covariance", "covariance-nm")}))
        return self.conclude("claim-lfa", 3, rows)

    def test_claim_lfa(self):
        self.assertEqual(self.lfa(2, 2)[0], "reproduced")
        self.assertEqual(self.lfa(1, 2)[0], "partly")
        self.assertEqual(self.lfa(1, 1)[0], "not reproduced")
        self.assertEqual(self.lfa(1.5, 1.5)[0], "cannot be tested here")
        self.assertEqual(self.lfa(2, 2, by_rows=-0.5)[0], "cannot be tested here")

    # ---- effective rank ----

    def rank(self, games, controls, level=42.0):
        """Growth per size of the games and of the controls."""
        sizes, rows = (1000, 5000, 10000, 20000), []
        for seed, source in itertools.product((1, 2), ("breakout", "pong", "space_invaders", "qbert", "ar1", "independent")):
            growth = controls if source in ("ar1", "independent") else games
            values = {f"rank-{n}": level * growth ** (k - 3) * math.exp(self.noise(0.01)) for k, n in enumerate(sizes)}
            rows.append((f"source={source} largest=20000 l=300", seed, values))
        return self.conclude("effective-rank", 2, rows)

    def test_effective_rank(self):
        self.assertEqual(self.rank(1.02, 1.5)[0], "reproduced")
        self.assertEqual(self.rank(1.02, 1.5, level=4)[0], "partly")
        self.assertEqual(self.rank(1.5, 1.5)[0], "not reproduced")
        self.assertEqual(self.rank(1.5, 1.0)[0], "not reproduced")
        verdict, reason = self.rank(1.02, 1.02)
        self.assertEqual((verdict, "on any data" in reason), ("cannot be tested here", True), reason)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
