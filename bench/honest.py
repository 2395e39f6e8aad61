#!/usr/bin/env python3
"""Honest error against the truth on satellite pixels: what whole fields or polygons that were left out say.

The honest error comes from one training run (Maipo: parts from coordinates alone, the fields hidden;
Sentinel-2: polygons as groups). The truth comes twice: from our own ensembles trained without the held-out
fields (compare), and, with a third argument, from scikit-learn's random forest with GroupKFold.

  honest.py SPECROUTE DATA_FOLDER [sklearn]
"""
import csv
import gzip
import json
import subprocess
import sys
import tempfile

COMMAND, DATA = sys.argv[1], sys.argv[2]
PEER = len(sys.argv) > 3
FOLDS = 10


def run(*arguments):
    return json.loads(subprocess.run([COMMAND, *arguments, "--json"], check=True, capture_output=True).stdout)


def read(path):
    with gzip.open(path, "rt") as file:
        return list(csv.DictReader(file))


def write(rows, columns):
    file = tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False, newline="")
    writer = csv.DictWriter(file, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    file.close()
    return file.name


def sklearn_truth(rows, features, target, group):
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import GroupKFold, cross_val_predict
    x = np.array([[float(row[name]) for name in features] for row in rows])
    y = np.array([row[target] for row in rows])
    g = np.array([row[group] for row in rows])
    forest = RandomForestClassifier(100, random_state=1, n_jobs=1)
    return round(float(np.mean(cross_val_predict(forest, x, y, groups=g, cv=GroupKFold(FOLDS)) != y)), 4)


def measure(case, rows, features, target, group, structure_columns, structure_options):
    hidden = write(rows, features + [target] + structure_columns)
    shown = write(rows, features + [target, group])
    truth = sklearn_truth(rows, features, target, group) if PEER else None
    for plan in ("uniform", "routed", "auto"):
        with tempfile.NamedTemporaryFile() as model:
            trained = run("train", hidden, "--target", target, *structure_options, "--plan", plan, "-o", model.name,
                          "--no-importance")
        chosen, numbers = trained["plan"]["name"], trained["plan"]["parameters"]
        name = f"routed:{numbers['part_share']}:{numbers['row_share']}" if chosen == "routed" else chosen
        left = run("compare", shown, "--target", target, "--group", group, "--folds", str(FOLDS), "--plans", name)
        own = left["rows"][0]["error"]
        error = trained["error"]
        print(json.dumps({"bench": "honest", "case": case, "n": len(rows), "plan": plan, "chosen": name,
                          "honest": round(error["honest"], 4), "low": round(error["honest_low"], 4),
                          "high": round(error["honest_high"], 4), "naive": round(error["naive"], 4),
                          "held_out": error["held_out"], "units": error["units"], "folds": error["folds"],
                          "groups": len({row[group] for row in rows}), "leave_group_out": round(own, 4),
                          "sklearn_leave_group_out": truth,
                          "gap": round(error["honest"] - own, 4)}), flush=True)


def main():
    maipo = read(f"{DATA}/satellite/maipo_crops.csv.gz")
    features = [name for name in maipo[0] if name not in ("croptype", "field", "utmx", "utmy")]
    measure("maipo", maipo, features, "croptype", "field", ["utmx", "utmy"], ["--coords", "utmx,utmy"])
    germany = read(f"{DATA}/satellite/sentinel2_germany.csv.gz")
    for row in germany:
        row["polygon"] = f"{row['Lat']} {row['Lon']}"
    features = [name for name in germany[0]
                if name not in ("ID", "Label", "ClassID", "Region", "Lat", "Lon", "polygon")]
    measure("sentinel2_germany", germany, features, "Label", "polygon", ["polygon"], ["--group", "polygon"])


main()
