#!/usr/bin/env python3
"""Files as a careless user gives them: the command refuses or warns, and names a remedy that works."""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["SR_COMMAND"]


class Careless(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_command(self, *arguments, code=0):
        done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, cwd=self.folder.name, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def write(self, name, header, rows):
        with open(os.path.join(self.folder.name, name), "w", encoding="ascii") as file:
            file.write(header + "\n" + "".join(",".join(str(value) for value in row) + "\n" for row in rows))
        return name

    def two_classes(self, name, extra):
        """400 rows of a, b, what extra(row, class) says, class."""
        draw = random.Random(1)
        rows = []
        for i in range(400):
            a = draw.gauss(0, 1)
            label = int(a + draw.gauss(0, 0.5) > 0)
            rows.append([round(a, 3), round(draw.gauss(0, 1), 3), extra(i, label), label])
        return self.write(name, "a,b,extra,y", rows)

    def train(self, *arguments):
        done = self.run_command("train", *arguments, "--members", "10", "-o", "out.model", "--json")
        return json.loads(done.stdout), done.stderr

    def refuses(self, words, *arguments):
        """What trains refuses it, and says these words."""
        for command in (["train", "-o", "out.model"], ["compare"]):
            done = self.run_command(*command, *arguments, "--members", "5", code=3)
            self.assertRegex(done.stderr, words)
            self.assertEqual(done.stdout, "")

    def test_a_wrong_column_is_named_with_its_file(self):
        name = self.two_classes("columns.csv", lambda i, label: i % 7)
        for command in (["train", "-o", "out.model"], ["compare"], ["diagnose"]):
            done = self.run_command(*command, name, "--target", "yy", code=2)
            self.assertRegex(done.stderr, r"columns\.csv: target 'yy' is no column; did you mean 'y'")
            done = self.run_command(*command, name, "--target", "y", "--keep", "extr", code=2)
            self.assertRegex(done.stderr, r"columns\.csv: keep 'extr' is no column; did you mean 'extra'")
            for wrong, hint in (("extr > 3", "did you mean 'extra' (4 columns)?"), ("EX>=median", "did you mean 'extra' (4 columns)?"),
                                ("extra > 3 > 1", "did you mean 'extra' (4 columns)?"),
                                ("dust > 75", "the file begins with 'a', 'b', 'extra' (4 columns)\n")):
                self.assertIn(f"is no column; {hint}", self.run_command(*command, name, "--target", wrong, code=2).stderr)
            done = self.run_command(*command, name, "--target", "y", "--keep", "3", code=2)
            self.assertIn("give its name 'extra' instead", done.stderr)

    def test_names_of_rows_are_told_of_once(self):
        rows = [[f"row {i}", i * 7 % 11, i // 300 % 2] for i in range(2400)]
        name = self.write("names.csv", "who,a,y", rows)
        told = self.train(name, "--target", "y")[1]
        self.assertEqual(told.count("'who'"), 1, told)
        self.assertIn("left out of the features", told)
        done = self.run_command("predict", "out.model", name, "-o", "said.csv")
        self.assertNotIn("'who'", done.stderr)

    def test_measurements_are_no_classes(self):
        draw = random.Random(2)
        rows = [[round(draw.gauss(0, 1), 3), i * 11 % 581] for i in range(2000)]
        name = self.write("air.csv", "a,pm2.5", rows)
        self.refuses(r'581 different numbers.*"pm2.5 > median"', name, "--target", "pm2.5")
        for target in ("pm2.5 > median", "pm2.5 > 75", "pm2.5 <= 100"):
            self.assertEqual(len(self.train(name, "--target", target)[0]["classes"]), 2)

    def test_measurements_with_a_word_or_a_unit_are_no_classes(self):
        draw = random.Random(2)
        values = [(round(draw.gauss(0, 1), 3), i * 11 % 581 / 10) for i in range(2000)]
        for spoilt in (lambda i, v: "broken" if i == 700 else v, lambda i, v: f"{v} ug", lambda i, v: f"{v}mm" if i % 97 else "none"):
            name = self.write("spoilt.csv", "a,pm2.5", [[a, spoilt(i, v)] for i, (a, v) in enumerate(values)])
            self.refuses(r'is no number; write numbers without units and NA.*"pm2.5 > median"', name, "--target", "pm2.5")
        name = self.write("named.csv", "a,y", [[a, f"{i % 30}th"] for i, (a, v) in enumerate(values)])
        self.run_command("diagnose", name, "--target", "y")

    def test_a_comparison_has_two_signs(self):
        name = self.write("equal.csv", "a,pm2.5", [[i * 7 % 13, i % 5] for i in range(100)])
        self.assertIn("compare with '=='", self.run_command("diagnose", name, "--target", "pm2.5 = 3", code=2).stderr)

    def test_the_target_in_pieces_with_a_slip_or_in_few_rows(self):
        for rows, extra in ((400, lambda i, label: (1, 5, 9)[i % 3] if label else (3, 7)[i % 2]), (400, lambda i, label: label if i != 77 else 1 - label),
                            (30, lambda i, label: 3 - label)):
            draw = random.Random(1)
            lines = []
            for i in range(rows):
                label = int(draw.gauss(0, 1) > 0)
                lines.append([round(draw.gauss(0, 1), 3), extra(i, label), label])
            said = self.run_command("diagnose", self.write("pieces.csv", "a,extra,y", lines), "--target", "y").stderr
            self.assertRegex(said, "'extra' alone tells the class of (every row|all but 1 of 400 rows); drop it")
            clean = self.write("clean.csv", "a,b,y", [[a, i % 7, label] for i, (a, _, label) in enumerate(lines)])
            self.assertNotIn("alone tells", self.run_command("diagnose", clean, "--target", "y").stderr)

    def test_predictions_of_another_file_are_refused(self):
        name = self.two_classes("truth.csv", lambda i, label: i % 7)
        self.train(name, "--target", "y", "--held-out", "truth_held.csv")
        self.run_command("judge", "truth_held.csv", name, "--target", "y")
        with open(os.path.join(self.folder.name, "truth_held.csv"), encoding="ascii") as file:
            header, *lines = [line.split(",") for line in file.read().splitlines()]
        at = header.index("truth")
        lines[41][at] = "1" if lines[41][at] == "0" else "0"
        self.write("other_held.csv", ",".join(header), lines)
        self.assertRegex(self.run_command("judge", "other_held.csv", name, "--target", "y", code=3).stderr, "prediction 42: the truth is .* another order")

    def test_one_class_teaches_nothing(self):
        draw = random.Random(3)
        name = self.write("one.csv", "a,y", [[round(draw.gauss(0, 1), 3), "yes"] for _ in range(200)])
        self.refuses("every row is of the class 'yes'.*another target", name, "--target", "y")
        self.assertIn("one class (yes)", self.run_command("diagnose", name, "--target", "y").stdout)
        self.assertEqual(len(self.train(name, "--target", "a > median")[0]["classes"]), 2)

    def test_the_target_in_disguise(self):
        name = self.two_classes("disguise.csv", lambda i, label: 3 - label)
        for command in (["diagnose"], ["train", "-o", "out.model", "--members", "5"], ["compare", "--members", "5"]):
            done = self.run_command(*command, name, "--target", "y")
            self.assertRegex(done.stderr, "'extra' alone tells the class of every row; drop it")
        told, said = self.train(name, "--target", "y", "--drop", "extra")
        self.assertNotIn("extra", said)
        self.assertGreater(told["error"]["honest"], 0.05)

    def test_a_file_sorted_by_class_is_no_stream(self):
        draw = random.Random(4)
        middle = {"setosa": (5, 3.4, 1.5, 0.2), "versicolor": (5.9, 2.8, 4.3, 1.3), "virginica": (6.6, 3, 5.5, 2)}
        rows = [[round(draw.gauss(m, 0.3), 1) for m in values] + [name] for name, values in middle.items() for _ in range(50)]
        name = self.write("iris.csv", "sl,sw,pl,pw,species", rows)
        told, _ = self.train(name, "--target", "species")
        self.assertIsNone(told["tmix"]["estimate"])
        hint = "sorted by class.*--graph none"
        self.assertRegex(" ".join(told["warnings"]), hint)
        self.assertRegex(self.run_command("diagnose", name, "--target", "species").stdout, hint)
        self.assertRegex(self.run_command("compare", name, "--target", "species", "--members", "5").stdout, hint)
        # once the user has said so, nothing is left to warn of, and the interval is told
        told, said = self.train(name, "--target", "species", "--graph", "none")
        self.assertNotIn("sorted", said + json.dumps(told))
        self.assertLess(told["error"]["honest_low"], 0.08)
        self.assertLess(told["error"]["honest_high"], 0.2)

    def test_a_few_rows_out_of_place_do_not_hide_the_sorting(self):
        draw = random.Random(11)
        kinds = [k for k in "abc" for _ in range(50)]

        def hint(labels):
            rows = [[round(draw.gauss(ord(k[0]), 1), 2), k] for k in labels]
            told = json.loads(self.run_command("diagnose", self.write("out.csv", "a,y", rows), "--target", "y", "--json").stdout)
            return "sorted by class" in " ".join(told["warnings"])

        for i, j in ((10, 70), (10, 140), (49, 50), (0, 149), (60, 61)):  # a pair of rows has changed places
            swapped = list(kinds)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            self.assertTrue(hint(swapped), (i, j))
        self.assertTrue(hint(kinds[1:] + kinds[:1]))
        self.assertTrue(hint([k for k in "abcd" for _ in range(300)] + list("abcd")))
        # a stream that comes back to a class is none, nor one whose rare class is met here and there
        self.assertFalse(hint("a" * 70 + "b" * 50 + "a" * 30))
        self.assertFalse(hint("a" * 500 + "b" * 490 + "a" * 10))
        self.assertFalse(hint("a" * 970 + "b" + "a" * 20 + "b" * 2 + "a" * 7))
        self.assertFalse(hint(kinds[:20] + kinds[50:53] + kinds[20:50] + kinds[53:]))
        false = 0
        for run in range(40):  # slow labels: a class stays for 20 to 160 rows
            label, labels = 0, []
            for _ in range(600):
                if draw.random() < 1 / (20 << run % 4):
                    label = draw.randrange(3)
                labels.append("abc"[label])
            exact = sum(x != y for x, y in zip(labels, labels[1:])) + 1 == len(set(labels))
            false += hint(labels) and not exact
        self.assertEqual(false, 0)

    def test_weights_that_silence_rows(self):
        huge = self.two_classes("huge.csv", lambda i, label: "1e38" if i == 7 else 1)
        for learner in ("tree", "ridge"):
            told, said = self.train(huge, "--target", "y", "--weight", "extra", "--learner", learner)
            self.assertRegex(said, r"row 7 weighs 1e\+38, more than all other rows")
            self.assertLess(told["error"]["honest"], 0.3)
        beyond = self.two_classes("beyond.csv", lambda i, label: "1e39" if i == 7 else 1)
        self.refuses("beyond.csv:9:3: .*1e39", beyond, "--target", "y", "--weight", "extra")
        mute = self.two_classes("mute.csv", lambda i, label: label)
        self.refuses("weight above 0 is of the class '1'", mute, "--target", "y", "--weight", "extra")
        nothing = self.two_classes("nothing.csv", lambda i, label: 0)
        self.refuses("every row has weight 0", nothing, "--target", "y", "--weight", "extra")

    def test_rows_of_weight_0_are_as_if_they_were_not_there(self):
        some = self.two_classes("some.csv", lambda i, label: int(i % 3 > 0))
        with open(os.path.join(self.folder.name, some), encoding="ascii") as file:
            header, *lines = file.read().splitlines()
        kept = [line.split(",") for line in lines if line.split(",")[2] != "0"]
        fewer = self.write("fewer.csv", header, kept)
        with_zeros, said = self.train(some, "--target", "y", "--weight", "extra")
        without, _ = self.train(fewer, "--target", "y", "--weight", "extra")
        self.assertIn("134 of 400 rows have weight 0 and are left out", said)
        self.assertEqual(with_zeros["error"], without["error"])
        third = self.two_classes("third.csv", lambda i, label: 0 if i % 10 == 0 else 1)
        with open(os.path.join(self.folder.name, third), "a", encoding="ascii") as file:
            file.write("0,0,0,2\n0,1,0,2\n")
        self.assertIn("class '2' has no row of a weight above 0",
                      self.train(third, "--target", "y", "--weight", "extra")[1])

    def test_predict_reads_a_file_as_it_is_told_to(self):
        """Classes by kind, weights 0 where the class is wrong, times that fall."""
        def write(name, mark, head):
            draw = random.Random(3)
            with open(os.path.join(self.folder.name, name), "w", encoding="ascii") as file:
                file.write(mark.join(["kind", "b", "w", "t", "y"]) + "\n" if head else "")
                for i in range(300):
                    kind, wrong = draw.randrange(3), i % 10 == 0
                    label = int((kind == 1) != wrong)
                    row = [kind, round(draw.random(), 3), int(not wrong), 300 - i, label]
                    file.write(mark.join(str(value) for value in row) + "\n")

        def error(*arguments):
            done = self.run_command("predict", "out.model", *arguments, "-o", "said.csv", "--json")
            return json.loads(done.stdout)["error"]

        write("named.csv", ",", True)
        self.train("named.csv", "--target", "y", "--weight", "w", "--time", "t", "--categorical", "kind")
        self.assertAlmostEqual(error("named.csv"), 0.1)
        self.assertEqual(error("named.csv", "--weight", "w", "--categorical", "kind"), 0)
        with open(os.path.join(self.folder.name, "said.csv"), encoding="ascii") as file:
            plain = [line.strip().split(",")[0] for line in file]
        self.assertEqual(error("named.csv", "--weight", "w", "--time", "t"), 0)
        with open(os.path.join(self.folder.name, "said.csv"), encoding="ascii") as file:
            self.assertEqual([line.strip().split(",")[0] for line in file], plain)  # rows keep their order
        self.assertRegex(self.run_command("predict", "out.model", "named.csv", "--coords", "b,t", code=3).stderr, "'b'")
        write("bare.csv", "|", False)
        shape = ["--header", "no", "--separator", "|"]
        self.train("bare.csv", *shape, "--target", "5", "--weight", "3", "--drop", "4", "--categorical", "1")
        self.assertAlmostEqual(error("bare.csv", *shape, "--target", "5"), 0.1)
        self.assertEqual(error("bare.csv", *shape, "--target", "5", "--weight", "3"), 0)
        rows = json.loads(self.run_command("predict", "out.model", "bare.csv", "--header", "yes", "--target", "5",
                                           "-o", "said.csv", "--json", code=3).stdout or "{}")
        self.assertNotIn("rows", rows)

    def test_a_time_that_cannot_be_told_is_never_1(self):
        few = self.write("few.csv", "a,y", [[1, 0], [1, 1], [1, 0], [1, 1], [1, 1], [1, 0]])
        told, _ = self.train(few, "--target", "y")
        self.assertIsNone(told["tmix"]["estimate"])
        self.assertRegex(" ".join(told["warnings"]), "T cannot be told .*--tmix")
        said = self.run_command("folds", few, "--target", "y", "-o", "folds.csv")
        self.assertIn("cannot be told", said.stdout)
        told, _ = self.train(few, "--target", "y", "--tmix", "2")
        self.assertEqual(told["tmix"]["estimate"], 2)
        self.assertNotIn("cannot be told", " ".join(told["warnings"]))


    def test_memory_that_nothing_shows_is_unknown(self):
        """Groups of alike rows too short to see memory in, and a graph of one edge."""
        draw = random.Random(5)
        for size in (2, 3, 4):
            rows = []
            for g in range(720 // size):
                level = draw.gauss(0, 1)
                rows += [[g, round(level + draw.gauss(0, 0.1), 3), round(draw.gauss(0, 1), 3), int(level > 0)] for _ in range(size)]
            name = self.write("short.csv", "g,a,b,y", rows)
            said = self.run_command("diagnose", name, "--target", "y", "--group", "g")
            self.assertNotIn("nan", said.stdout)
            told = json.loads(self.run_command("diagnose", name, "--target", "y", "--group", "g", "--json").stdout)
            self.assertIsNone(told["tmix"]["estimate"])
            self.assertRegex(" ".join(told["warnings"]), f"too short to measure.*longest: {size} rows")
        self.write("one.edge", "0 1", [])
        told = json.loads(self.run_command("diagnose", name, "--target", "y", "--drop", "g", "--graph", "edges:one.edge", "--json").stdout)
        self.assertIsNone(told["tmix"]["estimate"])
        self.assertRegex(" ".join(told["warnings"]), "1 edge among 720 rows, too few")

    def test_categories_are_numbers_where_one_is_meant(self):
        draw = random.Random(6)
        kinds = ["1", "2", "3", "A"]

        def write(name, spell):
            rows = [[k, round(draw.random(), 3), int(k in "1A")] for k in (kinds[draw.randrange(4)] for _ in range(400))]
            return self.write(name, "kind,b,y", [[spell.get(k, k), b, y] for k, b, y in rows])

        self.train(write("kinds.csv", {}), "--target", "y", "--categorical", "kind")
        for spell in ({"1": "1.0", "2": "2.0"}, {"1": "01", "2": "02", "3": "+3"}):
            done = self.run_command("predict", "out.model", write("other.csv", spell), "-o", "said.csv", "--json")
            self.assertEqual(json.loads(done.stdout)["error"], 0)
            self.assertNotIn("never met", done.stderr)
        done = self.run_command("predict", "out.model", write("other.csv", {"A": "Q", "2": "R"}), "-o", "said.csv", "--json")
        self.assertEqual(done.stderr.count("column 'kind': the model never met 'Q' and others"), 1, done.stderr)
        self.assertRegex(" ".join(json.loads(done.stdout)["warnings"]), "never met 'Q'")
        draw = random.Random(6)
        rows = [[kinds[draw.randrange(4)], "", 1] for _ in range(50)]
        done = self.run_command("predict", "out.model", self.write("empty.csv", "kind,b,y", rows), "-o", "said.csv")
        self.assertEqual(done.stderr.count("column 'b' has no value in any of the 50 rows"), 1, done.stderr)

    def test_columns_that_count_the_rows_in_any_dress(self):
        columns = {"id": lambda i: "" if i == 17 else i, "idx": lambda i: i % 200, "CustomerId": lambda i: 15000000 + i * 7919 % 400 * 131,
                   "objectid": lambda i: 5000 + i * 7919 % 400 * 17, "RowNumber": lambda i: i * 7919 % 400 * 3, "month": lambda i: 1 + i // 40,
                   "day": lambda i: 1 + i % 40 * 28 // 40}
        for name, value in columns.items():
            more = {"month": lambda i: 1 + i // 40} if name == "day" else {}
            draw = random.Random(7)
            rows = [[value(i), *(f(i) for f in more.values()), round(draw.random(), 3), draw.randrange(2)] for i in range(400)]
            file = self.write("counts.csv", ",".join([name, *more, "a", "y"]), rows)
            self.assertIn(f"column '{name}' counts or names the rows", self.run_command("diagnose", file, "--target", "y").stderr)
        for form in ("{0:02d}.{1:02d}.2021", "{0:02d}/{1:02d}/2021", "{0} March {2}", "March {0}, {2}", "2021-W{0:02d}"):
            draw = random.Random(7)
            rows = [['"' + form.format(1 + i // 16, 3, 2021) + '"', round(draw.random(), 3), draw.randrange(2)] for i in range(400)]
            said = self.run_command("diagnose", self.write("dates.csv", "date,a,y", rows), "--target", "y").stderr
            self.assertIn("column 'date' counts or names the rows", said, form)
        self.run_command("simulate", "ar1:n=100", "-o", "plain.libsvm", "-q")
        self.assertIn("keep 'nono' is no column", self.run_command("diagnose", "plain.libsvm", "--keep", "nono", code=2).stderr)

    def test_measurements_stay(self):
        draw = random.Random(8)
        names = ["income", "humid", "hour", "a", "pulse"]
        rows = [[draw.randrange(10**5), draw.randrange(100), i % 24, round(draw.gauss(0, 1), 2), 60 + draw.randrange(30), draw.randrange(2)] for i in range(600)]
        self.assertNotIn("counts or names", self.run_command("diagnose", self.write("stay.csv", ",".join(names) + ",y", rows), "--target", "y").stderr)

    def test_what_reading_warns_of_is_told_everywhere(self):
        draw = random.Random(9)
        rows = [[i * 7919 % 400, round(draw.gauss(0, 1), 3), i % 2, i % 2] for i in range(400)]
        file = self.write("told.csv", "when,a,twin,y", rows)
        runs = {"diagnose": [], "train": ["-o", "out.model", "--members", "5", "--report", "told.html"], "folds": ["-o", "folds.csv"],
                "compare": ["--members", "5", "--plans", "uniform"], "plan": ["-o", "bags.csv", "--members", "5"], "parts": ["-o", "parts.csv"],
                "tune": ["--tries", "2", "--members", "9"]}
        for command, more in runs.items():
            done = self.run_command(command, file, "--target", "y", "--time", "when", *more, "--json")
            said = " ".join(json.loads(done.stdout)["warnings"])
            self.assertRegex(said, "have been sorted", command)
            self.assertRegex(said, "'twin' alone tells the class", command)
        with open(os.path.join(self.folder.name, "told.html"), encoding="utf-8") as page:
            text = page.read()
        self.assertIn("have been sorted", text)
        self.assertIn("alone tells the class", text)
        self.run_command("train", file, "--target", "y", "--time", "when", "--drop", "twin", "--members", "5", "-o", "out.model", "--held-out", "held.csv")
        said = json.loads(self.run_command("judge", "held.csv", file, "--target", "y", "--time", "when", "--json").stdout)["warnings"]
        self.assertRegex(" ".join(said), "have been sorted")

    def test_a_search_on_a_file_sorted_by_class_tells_no_interval(self):
        draw = random.Random(10)
        rows = [[round(draw.gauss(k, 1), 2), round(draw.gauss(0, 1), 2), f"c{k}"] for k in range(3) for _ in range(100)]
        told = json.loads(self.run_command("tune", self.write("by_class.csv", "a,b,y", rows), "--target", "y", "--tries", "2", "--members", "9", "--json").stdout)
        self.assertRegex(" ".join(told["warnings"]), "sorted by class")
        self.assertIsNone(told["error"]["honest_low"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
