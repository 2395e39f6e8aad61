#!/usr/bin/env python3
"""The default on real streams: trained on a stretch, judged on the rows that follow it after a gap.

Beside it plain bagging (both with two seeds) and fixed plans, as bench_choice has them; and what was told: the honest interval, and
that of the next unit.

  choice_real.py SPECROUTE DATA_FOLDER [MEMBERS]        one JSON line per stretch
"""
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile

COMMAND, DATA = sys.argv[1], sys.argv[2]
MEMBERS = sys.argv[3] if len(sys.argv) > 3 else "100"
TRAIN, GAP, TEST, NEXT, PLACES = 4000, 80, 2000, 500, 3
SHARES = ("0.3", "0.1", "0.03")
FIXED = [("share 1, leaf 5", "uniform", "tree:min_leaf=5"), ("half of the parts", "routed:part_share=0.5", "tree")]
FIXED += [(f"share {s[1:]}, leaf {leaf}", f"routed:part_share=1,row_share={s}", "tree" if leaf == 1 else "tree:min_leaf=5")
          for s in SHARES for leaf in (1, 5)]


def read(name):
    with gzip.open(f"{DATA}/streams/{name}.csv.gz", "rt", newline="") as file:
        return list(csv.reader(file))


def plain(name):
    rows = read(name)
    return rows[0][:-1], [(row[:-1], row[-1]) for row in rows[1:]]


def beijing():
    """pm2.5 above 75, from the weather alone; hours without a measurement are left out."""
    rows = read("beijing_pm25")
    keep = [rows[0].index(c) for c in ("DEWP", "TEMP", "PRES", "cbwd", "Iws", "Is", "Ir")]
    return [rows[0][k] for k in keep], [([row[k] for k in keep], str(int(float(row[5]) > 75))) for row in rows[1:] if row[5] != "NA"]


def occupancy():
    """All three files in order of time."""
    rows = [row for part in ("datatest", "datatraining", "datatest2") for row in read("occupancy_" + part)[1:]]
    rows.sort(key=lambda row: row[1])
    return ["Temperature", "Humidity", "Light", "CO2", "HumidityRatio"], [(row[2:7], row[7]) for row in rows]


def write(path, names, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*names, "target"])
        out.writerows([*x, y] for x, y in rows)


def run(*arguments):
    return json.loads(subprocess.run([COMMAND, *arguments, "--json", "--threads", "1"], check=True, capture_output=True).stdout)


def error_of(folder, labels):
    run("predict", f"{folder}/model", f"{folder}/test.csv", "-o", f"{folder}/said.csv")
    with open(f"{folder}/said.csv", newline="", encoding="utf-8") as file:
        said = [row[0] for row in csv.reader(file)][1:]
    wrong = [a != b for a, b in zip(said, labels)]
    return sum(wrong) / len(wrong), sum(wrong[:NEXT]) / NEXT


def train(folder, plan, learner, seed, judge):
    return run("train", f"{folder}/train.csv", "--target", "target", "-o", f"{folder}/model", "--plan", plan, "--learner", learner,
               "--members", MEMBERS, "--seed", str(seed), "--next", str(NEXT), *(["--no-importance"] if judge else ["--no-evaluation"]))


def stretch(folder, name, names, rows, place):
    begin = (len(rows) - TRAIN - GAP - TEST) * place // (PLACES - 1)
    test = rows[begin + TRAIN + GAP:begin + TRAIN + GAP + TEST]
    labels = [y for _, y in test]
    write(f"{folder}/train.csv", names, rows[begin:begin + TRAIN])
    write(f"{folder}/test.csv", names, test)
    line = {"case": name, "first_row": begin, "rows": TRAIN}
    for plan in ("auto", "uniform"):
        told = train(folder, plan, "tree", 1, True)
        line[plan], line[plan + "_next"] = error_of(folder, labels)
        line[plan + "_told"] = {k: told["error"][k] for k in ("honest", "honest_low", "honest_high", "next_low", "next_high", "naive",
                                                              "tmix_careful")}
        line[plan + "_told"]["tmix"] = told["tmix"]["estimate"]
        train(folder, plan, "tree", 2, plan == "auto")
        line[plan + "_again"] = error_of(folder, labels)[0]
    line["fixed"] = {}
    for label, plan, learner in FIXED:
        train(folder, plan, learner, 1, False)
        line["fixed"][label] = error_of(folder, labels)[0]
    print(json.dumps(line), flush=True)


def at_every_place(places, visit):
    """visit(folder, name, names, rows, place) at that many places of every stream."""
    if not os.path.isdir(f"{DATA}/streams"):
        print("no data", file=sys.stderr)
        sys.exit(77)
    cases = (("elec2", plain("elec2")), ("beijing", beijing()), ("weather", plain("weather")), ("eeg", plain("eeg_eye_state")),
             ("occupancy", occupancy()))
    with tempfile.TemporaryDirectory() as folder:
        for place in range(places):
            for name, (names, rows) in cases:
                visit(folder, name, names, rows, place)


if __name__ == "__main__":
    at_every_place(PLACES, stretch)
