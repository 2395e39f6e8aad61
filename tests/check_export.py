#!/usr/bin/env python3
"""Forests read by other programs: the JSON walked by a few lines of Python, the ONNX form by onnxruntime where it is
installed; partial dependence and tune through the command."""
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["SR_COMMAND"]
ROWS = 600


def run(*words):
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, timeout=300)


def walk(tree, row):
    node = 0
    while tree["feature"][node] >= 0:
        value = row[tree["feature"][node]]
        codes = tree.get("categories_left", [None] * len(tree["left"]))[node]
        if value is None:
            left = tree["missing_left"][node]
        elif codes is not None:
            left = value in codes
        else:
            left = value <= tree["threshold"][node]
        node = tree["left" if left else "right"][node]
    return tree["share"][node]


def shares(forest, row):
    """The vote as docs/guide/export.md says it."""
    total = [0.0] * len(forest["classes"])
    for tree in forest["trees"]:
        share = walk(tree, row)
        if forest["vote"] == "hard":
            share = [float(c == share.index(max(share))) for c in range(len(share))]
        total = [a + tree["weight"] * b for a, b in zip(total, share)]
    moved = [max(0.0, a + b) for a, b in zip(total, forest["offset"])]
    return [a / sum(moved) for a in moved]


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        base = pathlib.Path(cls.folder.name)
        cls.at = staticmethod(lambda name: str(base / name))
        made = run("simulate", "ar1", "--n", ROWS, "--tmix", 8, "--d", 3, "-o", cls.at("plain.csv"), "-q")
        assert made.returncode == 0, made.stderr
        with open(cls.at("plain.csv"), newline="") as file:
            header, *lines = list(csv.reader(file))
        # Missing values, and a text that knows something.
        for i, line in enumerate(lines):
            if i % 11 == 3:
                line[1] = ""
            line.insert(0, "abcd"[(i // 7) % 4] if i % 5 else ("b" if line[-1] == "1" else "d"))
        with open(cls.at("text.csv"), "w", newline="") as file:
            csv.writer(file).writerows([["kind"] + header] + lines)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def forest(self, data, name, *more):
        made = run("train", self.at(data), "--target", "y", "-o", self.at(name), "--members", 20, "-q", *more)
        self.assertEqual(made.returncode, 0, made.stderr)
        shown = run("show", self.at(name), "--export", self.at(name + ".json"), "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        made = run("predict", self.at(name), self.at(data), "-o", self.at("said.csv"), "--proba", "-q")
        self.assertEqual(made.returncode, 0, made.stderr)
        with open(self.at("said.csv"), newline="") as file:
            said = list(csv.DictReader(file))
        with open(self.at(data), newline="") as file:
            rows = list(csv.DictReader(file))
        return json.loads(pathlib.Path(self.at(name + ".json")).read_text()), rows, said

    def values(self, forest, row):
        found = []
        for feature in forest["features"]:
            text = row[feature["name"]]
            if "categories" in feature:
                found.append(feature["categories"].index(text))
            else:
                found.append(float(text) if text else None)
        return found

    def test_json_votes_as_predict_does(self):
        for data, more in (("plain.csv", ()), ("plain.csv", ("--plan", "uniform")), ("text.csv", ()),
                           ("text.csv", ("--plan", "routed", "--vote", "soft"))):
            forest, rows, said = self.forest(data, "m", *more)
            self.assertEqual(len(forest["trees"]), 20)
            for row, line in list(zip(rows, said))[::7]:
                got = shares(forest, self.values(forest, row))
                want = [float(line["p_" + name]) for name in forest["classes"]]
                for a, b in zip(got, want):
                    self.assertAlmostEqual(a, b, places=4)

    def test_any_name_is_valid_utf8(self):
        names = b'ca\xff"t', "caf\u00e9".encode()
        lines = [b"%d.5,%d,%s" % (i % 9, i % 4, names[i // 40 % 2].replace(b'"', b'""').join((b'"', b'"'))) for i in range(600)]
        pathlib.Path(self.at("odd.csv")).write_bytes(b"a,b\xe9e,y\n" + b"\n".join(lines) + b"\n")
        made = run("train", self.at("odd.csv"), "--target", "y", "-o", self.at("odd"), "--members", 3, "-q")
        self.assertEqual(made.returncode, 0, made.stderr)
        made = run("show", self.at("odd"), "--export", self.at("odd.json"), "-q")
        self.assertEqual(made.returncode, 0, made.stderr)
        forest = json.loads(pathlib.Path(self.at("odd.json")).read_bytes().decode("utf-8"))
        self.assertEqual(sorted(forest["classes"]), ["caf\u00e9", 'ca\ufffd"t'])
        made = run("show", self.at("odd"), "--export", self.at("odd.onnx"), "-q")
        self.assertEqual(made.returncode, 0, made.stderr)
        model = pathlib.Path(self.at("odd.onnx")).read_bytes()
        for name in ("caf\u00e9", 'ca\ufffd"t', "b\ufffde"):
            text = name.encode()
            self.assertIn(bytes([len(text)]) + text, model)
        self.assertNotIn(names[0], model)

    def test_onnx_is_read_by_its_runtime(self):
        try:
            import numpy
            import onnxruntime
        except ImportError:
            self.skipTest("onnxruntime is not installed")
        for more in ((), ("--plan", "uniform"), ("--plan", "uniform", "--vote", "soft")):
            forest, rows, said = self.forest("plain.csv", "o", *more)
            made = run("show", self.at("o"), "--export", self.at("o.onnx"), "-q")
            self.assertEqual(made.returncode, 0, made.stderr)
            session = onnxruntime.InferenceSession(self.at("o.onnx"), providers=["CPUExecutionProvider"])
            x = numpy.array([self.values(forest, row) for row in rows], dtype=numpy.float32)
            label, proba = session.run(None, {"rows": x})
            want = numpy.array([[float(line["p_" + name]) for name in forest["classes"]] for line in said])
            self.assertLess(numpy.abs(proba - want).max(), 1e-4)
            sure = numpy.abs(want[:, 0] - want[:, 1]) > 1e-4
            self.assertTrue((label[sure] == numpy.array([line["y"] for line in said])[sure]).all())

    def test_treelite_builds_the_same_forest(self):
        try:
            import numpy
            import treelite
            from treelite.model_builder import Metadata, ModelBuilder, PostProcessorFunc, TreeAnnotation
        except ImportError:
            self.skipTest("treelite is not installed")
        for more in ((), ("--plan", "uniform"), ("--plan", "uniform", "--vote", "soft")):
            forest, rows, said = self.forest("plain.csv", "l", *more)
            count, trees = len(forest["classes"]), forest["trees"]
            builder = ModelBuilder(
                threshold_type="float32", leaf_output_type="float32", base_scores=[float(move) for move in forest["offset"]],
                metadata=Metadata(num_feature=len(forest["features"]), task_type="kMultiClf", average_tree_output=False,
                                  num_target=1, num_class=[count], leaf_vector_shape=(1, count)),
                tree_annotation=TreeAnnotation(num_tree=len(trees), target_id=[0] * len(trees), class_id=[-1] * len(trees)),
                postprocessor=PostProcessorFunc(name="identity_multiclass"))
            for tree in trees:
                builder.start_tree()
                for node, feature in enumerate(tree["feature"]):
                    builder.start_node(node)
                    if feature < 0:
                        share = tree["share"][node]
                        if forest["vote"] == "hard":
                            share = [float(c == share.index(max(share))) for c in range(count)]
                        builder.leaf([tree["weight"] * part for part in share])
                    else:
                        builder.numerical_test(feature_id=feature, threshold=tree["threshold"][node], opname="<=",
                                               default_left=bool(tree["missing_left"][node]),
                                               left_child_key=tree["left"][node], right_child_key=tree["right"][node])
                    builder.end_node()
                builder.end_tree()
            x = numpy.array([self.values(forest, row) for row in rows], dtype=numpy.float32)
            moved = treelite.gtil.predict(builder.commit(), x).reshape(len(rows), count).clip(min=0)
            want = numpy.array([[float(line["p_" + name]) for name in forest["classes"]] for line in said])
            self.assertLess(numpy.abs(moved / moved.sum(axis=1, keepdims=True) - want).max(), 1e-4)

    def test_what_cannot_be_exported_is_said(self):
        self.forest("text.csv", "t")
        made = run("show", self.at("t"), "--export", self.at("t.onnx"))
        self.assertEqual(made.returncode, 1)
        self.assertIn("'kind' is text", made.stderr)
        self.assertFalse(os.path.exists(self.at("t.onnx")))
        self.assertEqual(run("show", self.at("t"), "--export", self.at("t.txt")).returncode, 2)
        made = run("train", self.at("plain.csv"), "--target", "y", "-o", self.at("r"), "--learner", "ridge", "-q")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("no trees", run("show", self.at("r"), "--export", self.at("r.json")).stderr)

    def test_partial_dependence_is_told(self):
        self.forest("text.csv", "p")
        made = run("show", self.at("p"), "--partial-dependence", "kind,x1", "--data", self.at("text.csv"), "--json")
        self.assertEqual(made.returncode, 0, made.stderr)
        kind, x1 = json.loads(made.stdout)["partial_dependence"]
        self.assertEqual((kind["feature"], kind["values"]), ("kind", ["a", "b", "c", "d"]))
        rising = dict(zip(kind["values"], kind["shares"]["1"]))
        self.assertGreater(rising["b"], rising["d"] + 0.05)
        for list_ in (kind, x1):
            self.assertTrue(all(math.isclose(a + b, 1, abs_tol=1e-4) for a, b in zip(list_["shares"]["1"], list_["shares"]["-1"])))
        self.assertIn("x1", run("show", self.at("p"), "--partial-dependence", "x1", "--data", self.at("text.csv")).stdout)
        self.assertEqual(run("show", self.at("p"), "--partial-dependence", "x1").returncode, 2)
        self.assertIn("no feature 'q'", run("show", self.at("p"), "--partial-dependence", "q", "--data", self.at("text.csv")).stderr)

    def test_tune_tells_what_it_tried_and_what_the_winner_is_worth(self):
        words = ("tune", self.at("plain.csv"), "--target", "y", "--tries", 6, "--members", 20, "--plans", "uniform,routed", "--json")
        made = run(*words, "-o", self.at("tuned"), "--report", self.at("tuned.html"))
        self.assertEqual(made.returncode, 0, made.stderr)
        said = json.loads(made.stdout)
        self.assertEqual(said["settings"], 6)
        self.assertEqual(len(said["tried"]), 6 + 2 + 1)
        self.assertEqual(said["best"]["plan"], said["tried"][-1]["plan"])
        self.assertEqual(said["best"]["learner"], said["tried"][-1]["learner"])
        for key in said["best"]["options"]:
            self.assertTrue(key == "members" or key + "=" in said["best"]["plan"] + said["best"]["learner"], key)
        self.assertTrue(0 < said["error"]["honest"] < 1)
        self.assertEqual(set(said["metrics"]), {"balanced_accuracy", "macro_f1", "auc", "brier", "log_loss", "ece"})
        again = json.loads(run(*words).stdout)
        strip = lambda tries: [{k: v for k, v in one.items() if k != "seconds"} for one in tries]
        self.assertEqual(strip(again["tried"]), strip(said["tried"]))
        model = json.loads(run("show", self.at("tuned"), "--json").stdout)
        self.assertEqual(model["learner"], said["best"]["learner"])
        self.assertIn("never saw", pathlib.Path(self.at("tuned.html")).read_text())
        spoken = run(*words[:-1])
        self.assertIn("best      --plan", spoken.stdout)
        self.assertEqual(run("tune", self.at("plain.csv")).returncode, 2)
        self.assertIn("did you mean 'uniform'", run(*words[:-2], "unifrom").stderr)

    def test_class_weight_is_taken_by_train_and_compare(self):
        weights = self.at("weights.csv")
        pathlib.Path(weights).write_text("class,weight\n1,5\n-1,1\n")
        found = {}
        for how in (None, "balanced", weights):
            words = ["train", self.at("plain.csv"), "--target", "y", "-o", self.at("w"), "--plan", "uniform", "--min-leaf", 5, "--members", 20, "--json"]
            made = run(*words, *(["--class-weight", how] if how else []))
            self.assertEqual(made.returncode, 0, made.stderr)
            counts = json.loads(made.stdout)["confusion"]
            column = counts["classes"].index("1")
            found[how] = sum(row[column] for row in counts["counts"])
        self.assertGreater(found[weights], found[None])
        made = run("compare", self.at("plain.csv"), "--target", "y", "--plans", "uniform", "--class-weight", "balanced", "--members", 10, "--json")
        self.assertEqual(made.returncode, 0, made.stderr)
        made = run("train", self.at("plain.csv"), "--target", "y", "-o", self.at("w"), "--class-weight", self.at("nothing.csv"))
        self.assertEqual(made.returncode, 3)
        self.assertIn("nothing.csv", made.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=0))
