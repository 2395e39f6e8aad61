"""Diagnoses the real sets, one JSON line each.

Run: bench/record.sh real_dependence python3 bench/real_dependence.py COMMAND DATA
COMMAND is the specroute program, DATA the folder with streams/, satellite/ and tabular/.
"""
import json
import subprocess
import sys

COMMAND, DATA = sys.argv[1:3]
SETS = [
    ("Elec2", "streams/elec2.csv.gz", "--target class"),
    ("Beijing PM2.5", "streams/beijing_pm25.csv.gz", "--drop No,year,month,day,hour,pm2.5"),
    ("weather (Nebraska)", "streams/weather.csv.gz", "--target target"),
    ("EEG eye state", "streams/eeg_eye_state.csv.gz", "--target class"),
    ("occupancy, training", "streams/occupancy_datatraining.csv.gz", "--target Occupancy --drop date"),
    ("occupancy, test", "streams/occupancy_datatest.csv.gz", "--target Occupancy --drop date"),
    ("occupancy, test 2", "streams/occupancy_datatest2.csv.gz", "--target Occupancy --drop date"),
    ("SKAB valve (30 runs)", "streams/skab_valve1_other.csv.gz",
     "--target anomaly --group run --drop datetime,changepoint"),
    ("HIGGS", "tabular/higgs_11k.csv.gz", "--target label"),
    ("Maipo crops", "satellite/maipo_crops.csv.gz",
     "--target croptype --coords utmx,utmy --drop field --graph space"),
]
for name, path, options in SETS:
    line = [COMMAND, "diagnose", f"{DATA}/{path}", "--json", *options.split()]
    run = subprocess.run(line, capture_output=True, text=True)
    if run.returncode != 0:
        print(json.dumps({"set": name, "failed": run.stderr.strip()}), flush=True)
        continue
    print(json.dumps({"set": name, "options": options, **json.loads(run.stdout)}), flush=True)
