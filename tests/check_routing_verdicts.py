#!/usr/bin/env python3
"""Verdicts of the experiments on maps and tables, from made-up results: each must be able to come out, for the right reason."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

COMMAND = os.environ["SR_COMMAND"]
SEEDS = 5


class Verdicts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.random = random.Random(5)

    def conclude(self, name, rows):
        path = self.folder / f"{name}-quick.jsonl"
        path.write_text("".join(json.dumps({"case": case, "seed": seed, "values": {"error": error}}) + "\n"
                                for case, seed, error in rows))
        result = subprocess.run([COMMAND, "reproduce", name, "--seeds", str(SEEDS), "-o", str(self.folder), "--json"],
                                capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        got = json.loads(result.stdout)
        self.assertEqual(got["run_now"], 0, "a case has another name")
        return got["verdict"], got["reason"]

    def errors(self, base, noise=0.002):
        return [base + self.random.gauss(0, noise) for _ in range(SEEDS)]

    def tabular(self, routed, size, noise=0.002, sets=("Covertype", "Higgs")):
        """Errors of routing and of the size control where plain bagging has .3; other sets are all at .3."""
        rows = []
        for data in ("Covertype", "Higgs"):
            for learner, members in (("tree", 50), ("xgboost:rounds=40", 10)):
                for plan, error in (("uniform", 0.3), ("routed:part_share=0.5", routed), ("uniform-nm:draw_share=0.5", size)):
                    case = f"set={data} learner={learner} plan={plan} m={members} rows=4000+4000"
                    for seed, value in enumerate(self.errors(error if data in sets else 0.3, noise), 1):
                        rows.append((case, seed, value))
        return self.conclude("tabular", rows)

    def test_tabular(self):
        verdict, reason = self.tabular(0.25, 0.3)
        self.assertEqual(verdict, "reproduced", reason)
        verdict, reason = self.tabular(0.25, 0.25)  # small bags do it: not the place
        self.assertEqual((verdict, "in 0 of these" in reason), ("not reproduced", True), reason)
        verdict, reason = self.tabular(0.35, 0.3)
        self.assertEqual((verdict, "worse in 4" in reason), ("not reproduced", True), reason)
        verdict, reason = self.tabular(0.25, 0.3, sets=("Higgs",))
        self.assertEqual((verdict, "Higgs, forest" in reason), ("partly", True), reason)
        verdict, reason = self.tabular(0.299, 0.3, noise=0.05)
        self.assertEqual(verdict, "cannot be tested here", reason)

    def series(self, order, size, noise=0.002):
        """Errors of routing along windows and of the size control; everything else is at .3."""
        rows = []
        for data in ("EEG-eye-state", "Elec2", "ECG5000", "MedicalImages", "SwedishLeaf"):
            windows = data in ("EEG-eye-state", "Elec2")
            for plan, graph, error in (("uniform", "none", 0.3), ("routed:part_share=0.5", "time", order if windows else 0.3),
                                       ("routed:part_share=0.5", "features:k=10", 0.3),
                                       ("uniform-nm:draw_share=0.5", "none", size)):
                for seed, value in enumerate(self.errors(error, noise), 1):
                    rows.append((f"set={data} plan={plan} graph={graph} m=30", seed, value))
        return self.conclude("ucr-dependence", rows)

    def test_series(self):
        verdict, reason = self.series(0.25, 0.3)
        self.assertEqual((verdict, "EEG eye state, windows in order" in reason), ("partly", True), reason)
        verdict, reason = self.series(0.25, 0.25)
        self.assertEqual((verdict, "in 0 of these" in reason), ("not reproduced", True), reason)
        verdict, reason = self.series(0.299, 0.3, noise=0.05)
        self.assertEqual(verdict, "cannot be tested here", reason)

    def spatial(self, spectral, size, noise=0.002, others=()):
        """Errors of spectral routing and of bags as small where everything else is at .3, but for `others`."""
        sets = ("Germany--polygons", "Germany--regions", "Maipo--fields", "Zion--tiles", "Sea-surface--sector",
                "Sea-surface--years", "Simulated--new-map")
        plans = (("uniform", "none", 0.3), ("spectral", "space", spectral), ("uniform-nm", "none", size),
                 ("routed:part_share=0.5", "space", 0.3), ("uniform-nm:draw_share=0.5", "none", 0.3), ("lag-thin", "time", 0.3),
                 ("stationary", "time", 0.3), ("circular", "time", 0.3), ("tmix-thin", "time", 0.3),
                 ("routed:part_share=0.5", "space vote=gated", 0.3), ("auto", "space", 0.3))
        others = dict(others)
        rows = [(f"set={data} plan={plan} graph={graph} m=30 rows=3000", seed, value)
                for plan, graph, error in plans for data in sets
                for seed, value in enumerate(self.errors(others.get((plan, graph), error), noise), 1)]
        return self.conclude("spatial", rows)

    def remarks(self):
        page = self.folder / "page.md"
        result = subprocess.run([COMMAND, "report", str(self.folder), "-o", str(page)], capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        return page.read_text()

    def test_spatial(self):
        verdict, reason = self.spatial(0.15, 0.3)
        self.assertEqual(verdict, "reproduced", reason)
        verdict, reason = self.spatial(0.15, 0.15)
        self.assertEqual(verdict, "not reproduced", reason)
        verdict, reason = self.spatial(0.4, 0.3)
        self.assertEqual((verdict, "worse in 7" in reason), ("not reproduced", True), reason)
        verdict, reason = self.spatial(0.3, 0.3, noise=0.05)
        self.assertEqual(verdict, "cannot be tested here", reason)

    def test_spatial_differences_are_shown(self):
        self.spatial(0.4, 0.3)
        page = self.remarks()
        for column in ("spectral - uniform", "spectral - size", "routed - uniform", "routed - size", "gated - uniform", "gated - routed",
                       "auto - uniform", "auto - n/m"):
            self.assertIn(column, page)

    def test_gated_votes_and_honest_selection(self):
        gated, auto = ("routed:part_share=0.5", "space vote=gated"), ("auto", "space")
        self.spatial(0.3, 0.3, others={gated: 0.25, auto: 0.25}.items())
        sets = ("Germany, polygons; Germany, regions; Maipo, fields; Zion, tiles; Sea surface, sector; Sea surface, years; "
                "Simulated, new map")
        claims = ("Votes weighted by near parts", "routed"), ("Honest selection", "size of spectral")
        page = self.remarks()
        for words, control in claims:
            self.assertIn(f"{words}. Better than uniform and than the control ({control}): {sets}. Better than uniform alone: nowhere. "
                          "Worse than uniform: nowhere. Not told apart from uniform: nowhere.", page)
        self.assertRegex(page, "Half of the parts per member. Better .*: nowhere. Better than uniform alone: nowhere. Worse than uniform: "
                         f"nowhere. Not told apart from uniform: {sets}, where no gain above 0.0.. is left")
        # what equal votes of the same members reach too, and small bags without a choice, is no merit of either
        self.spatial(0.3, 0.25, others={gated: 0.25, ("routed:part_share=0.5", "space"): 0.25, auto: 0.25}.items())
        page = self.remarks()
        for words, control in claims:
            self.assertIn(f"{words}. Better than uniform and than the control ({control}): nowhere. Better than uniform alone: {sets}.", page)
        self.spatial(0.3, 0.3, others={gated: 0.35, auto: 0.35}.items())
        page = self.remarks()
        for words, _ in claims:
            self.assertRegex(page, f"{words}.* Worse than uniform: {sets}. Not told apart from uniform: nowhere.")


if __name__ == "__main__":
    unittest.main()
