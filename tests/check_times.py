#!/usr/bin/env python3
"""Times in the forms that people write, and columns that name a group or a time together."""
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
ROWS = 240


def run(*words):
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, timeout=120)


def days():
    """Days of a Gregorian calendar from 2010-12-25 on, by hand: year, month, day."""
    lengths, year, month, day = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], 2010, 12, 25
    for _ in range(ROWS):
        yield year, month, day
        day += 1
        if day > lengths[month - 1] + (month == 2 and year % 4 == 0):
            month, day = month + 1, 1
        if month > 12:
            year, month = year + 1, 1


class Times(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, times, header="when", count=ROWS):
        path = pathlib.Path(self.folder.name) / "data.csv"
        lines = [f"{time},{i % 7},{(i // 9) % 2}" for i, time in enumerate(times)][:count]
        path.write_text(f"{header},x,y\n" + "\n".join(lines) + "\n")
        return str(path)

    def order(self, path, *more):
        """The rows of the file in the order of time: folds are cut from the sorted rows."""
        out = str(pathlib.Path(self.folder.name) / "parts.csv")
        made = run("train", path, "--target", "y", "-o", out + ".model", "--members", 3, "--plan", "uniform", "--tmix", 2, "--json", *more)
        return made

    def test_days_first_months_first_and_years_first_are_told_apart(self):
        forms = {"{2:02d}/{1:02d}/{0}": "31/12/2010", "{1:02d}/{2:02d}/{0}": "12/31/2010", "{2}.{1}.{0} 18:30": "day and clock",
                 "{1}/{2}/{0} 6:05 PM": "month and clock", "{0}/{1}/{2}": "year first", "{0}-{1:02d}-{2:02d}T00:00:00Z": "ISO"}
        for form, name in forms.items():
            made = self.order(self.write(form.format(*day) for day in days()), "--time", "when")
            self.assertEqual(made.returncode, 0, name + made.stderr)
            self.assertNotIn("sorted", made.stderr, name)  # read rightly, the days are in order
            backwards = self.order(self.write(reversed([form.format(*day) for day in days()])), "--time", "when")
            self.assertIn("have been sorted", backwards.stderr, name)

    def test_dates_that_can_be_read_both_ways_are_asked_for(self):
        path = self.write((f"{1 + i // 10 % 12:02d}/{1 + i % 10:02d}/{2010 + i // 120}" for i in range(120)), count=120)
        made = self.order(path, "--time", "when")
        self.assertEqual(made.returncode, 3)
        self.assertIn("--date-format dmy", made.stderr)
        self.assertIn("data.csv:2:1", made.stderr)
        self.assertEqual(self.order(path, "--time", "when", "--date-format", "mdy").returncode, 0)
        self.assertIn("sorted", self.order(path, "--time", "when", "--date-format", "dmy").stderr)
        self.assertEqual(self.order(path, "--time", "when", "--date-format", "ydm").returncode, 2)

    def test_a_date_that_does_not_exist_is_named(self):
        made = self.order(self.write(["31/12/2010", "30/02/2011", "01/03/2011"], count=3), "--time", "when", "--date-format", "dmy")
        self.assertEqual(made.returncode, 3)
        self.assertIn("data.csv:3:1", made.stderr)
        self.assertIn("30/02/2011", made.stderr)

    def test_columns_together_are_a_time_and_a_group(self):
        hours = [(f"{y},{m},{d}", h) for y, m, d in list(days())[:60] for h in (0, 6, 12, 18)]
        path = self.write((f"{day},{h}" for day, h in hours), header="year,month,day,hour")
        made = self.order(path, "--time", "year,month,day,hour")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertNotIn("sorted", made.stderr)
        mixed = self.write((f"{day},{h}" for day, h in sorted(hours, key=lambda t: t[1])), header="year,month,day,hour")
        self.assertIn("sorted", self.order(mixed, "--time", "year,month,day,hour").stderr)
        grouped = self.write((f"{i // 24},{i // 60}" for i in range(ROWS)), header="lat,lon")
        made = self.order(grouped, "--group", "lat,lon")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(json.loads(made.stdout)["error"]["units"], len({(i // 24, i // 60) for i in range(ROWS)}))
        self.assertEqual(json.loads(made.stdout)["error"]["held_out"], "group")


class RowsOfTheFile(unittest.TestCase):
    """Files beside a file that was not in the order of time, or has rows without a class, count its rows as it does."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.folder_path = pathlib.Path(self.folder.name)
        made = run("simulate", "ar1:n=1440,tmix=40,d=3", "-o", self.at("plain.csv"), "-q")
        self.assertEqual(made.returncode, 0, made.stderr)
        header, *lines = (self.folder_path / "plain.csv").read_text().splitlines()
        self.order = list(range(len(lines)))
        random.Random(3).shuffle(self.order)
        self.files = {"sorted.csv": list(range(len(lines))), "mixed.csv": self.order}
        for name, rows in self.files.items():
            self.write(name, ["when," + header] + [f"{i},{lines[i]}" for i in rows])
        self.lines, self.header = lines, header

    def at(self, name):
        return str(self.folder_path / name)

    def write(self, name, lines):
        (self.folder_path / name).write_text("\n".join(lines) + "\n")

    def edges(self, rows, name):
        place = {row: i for i, row in enumerate(rows)}
        self.write(name, [f"{place[i]} {place[i + 1]}" for i in sorted(rows) if i + 1 in place])
        return "edges:" + self.at(name)

    def columns(self, name):
        with open(self.at(name), newline="", encoding="ascii") as file:
            return list(csv.DictReader(file))

    def test_edges_name_rows_as_the_file_counts_them(self):
        told = {}
        for name, rows in self.files.items():
            graph = self.edges(rows, name + ".edges")
            made = run("diagnose", self.at(name), "--target", "y", "--time", "when", "--graph", graph, "--json")
            self.assertEqual(made.returncode, 0, made.stderr)
            told[name] = json.loads(made.stdout)["tmix"]["estimate"]
        self.assertAlmostEqual(told["mixed.csv"], told["sorted.csv"], delta=1e-6 * told["sorted.csv"])
        self.assertGreater(told["mixed.csv"], 10)

    def test_rows_that_are_left_out_do_not_shift_those_behind(self):
        """The first 300 rows have no class, another 100 no weight: edges and bags still count them."""
        classes = [line.rsplit(",", 1) for line in self.lines]
        self.write("holes.csv", [self.header + ",w"] + [f"{x},{'' if i < 300 else y},{0 if 300 <= i < 400 else 1}" for i, (x, y) in enumerate(classes)])
        self.write("rest.csv", [self.header + ",w"] + [f"{x},{y},1" for x, y in classes[400:]])
        told = {}
        for name, first in (("holes.csv", 0), ("rest.csv", 400)):
            graph = self.edges(list(range(first, 1440)), name + ".edges")
            self.write(name + ".bags", [f"{member},{i}" for member in range(4) for i in range(400 - first + member, 1440 - first, 3)])
            made = run("train", self.at(name), "--target", "y", "--weight", "w", "--graph", graph, "--plan", "bags:" + self.at(name + ".bags"),
                       "-o", self.at(name + ".model"), "--json", "--no-evaluation")
            self.assertEqual(made.returncode, 0, made.stderr)
            made_json = json.loads(made.stdout)
            said = run("predict", self.at(name + ".model"), self.at("rest.csv"), "-o", self.at("said.csv"), "-q")
            self.assertEqual(said.returncode, 0, said.stderr)
            told[name] = (made_json["tmix"]["estimate"], (self.folder_path / "said.csv").read_text())
        self.assertAlmostEqual(told["holes.csv"][0], told["rest.csv"][0], delta=1e-9)
        self.assertEqual(told["holes.csv"][1], told["rest.csv"][1])

    def test_parts_are_those_of_the_rows_beside_them(self):
        for name in self.files:
            made = run("parts", self.at(name), "--target", "y", "--time", "when", "--parts", 8, "-o", self.at(name + ".parts.csv"))
            self.assertEqual(made.returncode, 0, made.stderr)
        plain, mixed = (self.columns(name + ".parts.csv") for name in self.files)
        self.assertEqual([line["part"] for line in mixed], [plain[row]["part"] for row in self.order])

    def test_bags_name_rows_as_the_file_counts_them(self):
        for name in self.files:
            for ending in (".csv", ".npy"):
                made = run("plan", self.at(name), "--target", "y", "--time", "when", "--members", 3, "-o", self.at(name + ".bags" + ending))
                self.assertEqual(made.returncode, 0, made.stderr)
        plain, mixed = ({(line["member"], int(line["row"])): line["count"] for line in self.columns(name + ".bags.csv")} for name in self.files)
        self.assertEqual({(member, self.order[row]): count for (member, row), count in mixed.items()}, plain)
        # and a plan of these bags learns the same from either file
        said = []
        for name in self.files:
            for ending in (".csv", ".npy"):
                made = run("train", self.at(name), "--target", "y", "--time", "when", "--plan", "bags:" + self.at(name + ".bags" + ending),
                           "-o", self.at("b.model"), "--no-evaluation")
                self.assertEqual(made.returncode, 0, made.stderr)
                run("predict", self.at("b.model"), self.at("sorted.csv"), "-o", self.at("said.csv"), "-q")
                said.append((self.folder_path / "said.csv").read_text())
        self.assertEqual(len(set(said)), 1)

    def test_windows_of_a_prediction_are_cut_in_the_order_of_time(self):
        window = ["--time", "when", "--window", "20"]
        made = run("train", self.at("sorted.csv"), "--target", "y", *window, "--learner", "quant", "-o", self.at("w.model"), "--members", 5, "--plan", "uniform", "-q")
        self.assertEqual(made.returncode, 0, made.stderr)
        said = {}
        for name in self.files:
            made = run("predict", self.at("w.model"), self.at(name), *window, "-o", self.at("said.csv"))
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertEqual("sorted" in made.stderr, name == "mixed.csv", made.stderr)
            said[name] = (self.folder_path / "said.csv").read_text()
        self.assertEqual(said["mixed.csv"], said["sorted.csv"])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=0))
