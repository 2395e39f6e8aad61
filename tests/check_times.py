#!/usr/bin/env python3
"""Times in the forms that people write, and columns that name a group or a time together."""
import json
import os
import pathlib
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


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=0))
