#!/usr/bin/env python3
"""Does the interval of the honest error hold on real streams?

Windows of 4,000 rows at five places of each stream are trained on, and judged on up to 4,000 rows before and as many after the window,
a gap of 2 % of the window between them. The interval is one of the mean risk; the rows outside have noise of their own, and drift.
"fair" allows for that noise: the test error of each side is the mean of five blocks, Student's t over all of them.

  real_splits.py SPECROUTE DATA_FOLDER [MEMBERS]        one JSON line per window and plan
"""
import json

from choice_real import MEMBERS, at_every_place, run, write

WINDOW, SIDE, PLACES, BLOCKS = 4000, 4000, 5, 5
GAP = WINDOW // 50


def errors(folder, rows, names):
    """Share of wrong rows in each of some blocks."""
    write(f"{folder}/test.csv", names, rows)
    run("predict", f"{folder}/model", f"{folder}/test.csv", "-o", f"{folder}/said.csv")
    with open(f"{folder}/said.csv", encoding="utf-8") as file:
        said = [line.split(",")[0].strip() for line in file][1:]
    wrong = [a != y for a, (_, y) in zip(said, rows)]
    size = len(wrong) // BLOCKS
    return [sum(wrong[b * size:(b + 1) * size]) / size for b in range(BLOCKS)]


def window(folder, name, names, rows, place, plan):
    first = (len(rows) - WINDOW) * place // (PLACES - 1)
    write(f"{folder}/train.csv", names, rows[first:first + WINDOW])
    told = run("train", f"{folder}/train.csv", "--target", "target", "-o", f"{folder}/model", "--plan", plan, "--members", MEMBERS,
               "--seed", "1", "--no-importance")
    before = rows[max(0, first - GAP - SIDE):max(0, first - GAP)]
    after = rows[first + WINDOW + GAP:first + WINDOW + GAP + SIDE]
    blocks = [e for side in (before, after) if len(side) >= WINDOW // 2 for e in errors(folder, side, names)]
    reason = next((q["reason"] for q in told["error"]["questions"] if q["name"] == "elsewhere"), None)
    print(json.dumps({"case": name, "first_row": first, "rows": WINDOW, "plan": plan, "blocks": blocks, "reason": reason,
                      "tmix": told["tmix"]["estimate"], **{k: told["error"][k] for k in ("honest", "honest_low", "honest_high", "naive",
                                                                                        "tmix_careful")}}), flush=True)


def both_plans(*at):
    for plan in ("auto", "uniform"):
        window(*at, plan)


at_every_place(PLACES, both_plans)
