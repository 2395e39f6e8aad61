#!/usr/bin/env bash
# Records every line of docs/benchmarks.md anew: builds the programs, installs the peers, runs each benchmark beside its
# peers on the same data, keeps bench/results/NAME.jsonl and writes the page.
#   bench/run.sh                all of them: hours, on a machine that does nothing else
#   bench/run.sh NAME...        some of them
#   bench/run.sh --list         their names
# SPECROUTE_ISA=base|v3|v4 lowers the vector level; the lines say which one it was. DATA=FOLDER (../shared/data) holds the
# sets that some benchmarks need; those are left out where it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
all=(csv before native graph neighbors fiedler parts parts_large dependence coverage forest forest_levels plan python replay nn series intervals
  real_dependence honest_real honest_splits honest_choice honest_place honest_advice honest_coverage real_gain refit
  series_accuracy series_memory map_coverage map_cost map_scene)
[ "${1:-}" != --list ] || { printf '%s\n' "${all[@]}"; exit 0; }
programs=build/release/bench
peers=${PEERS:-.cache/peers} # a Python environment; made where it is missing
python=$peers/bin/python
data=${DATA:-../shared/data}
record() { bench/record.sh "$@" >/dev/null; }
with_data() { [ -d "$data" ] || { echo "no $data: $1 is left out"; return 1; }; }

run_csv() { SR_BENCH_PYTHON=$python record csv $programs/bench_csv; }
run_before() { record before $python bench/before.py 954a0f8; }
run_native() { record native $python bench/before.py native graph fiedler forest; }
run_graph() { record graph $python bench/graph_peers.py $programs/bench_graph; }
run_neighbors() { record neighbors $python bench/neighbors_peers.py $programs; }
run_fiedler() { SR_BENCH_PYTHON=$python record fiedler bench/fiedler.sh $programs/bench_fiedler all; }
run_parts() { record parts bench/parts.sh; }
run_parts_large() { record parts_large bench/parts.sh large; }
run_dependence() { record dependence $python bench/dependence.py $programs/bench_dependence; }
run_coverage() { record coverage $programs/bench_coverage 50; }
run_forest() { record forest $python bench/forest_peers.py $programs/bench_forest speed accuracy scale; }
run_forest_levels() { record forest_levels $python bench/forest_peers.py $programs/bench_forest levels tasks; }
run_plan() { SR_BENCH_PYTHON=$python record plan $programs/bench_plan; }
run_python() { PYTHONPATH=build/release/python record python $python bench/python_peers.py; }
run_replay() { SPECROUTE_PYTHON=$python record replay bash -c "$python bench/replay_peers.py $programs/bench_replay 15 && $programs/bench_replay"; }
run_nn() { record nn $python bench/nn_peers.py $programs/bench_nn --repeats 5; }
run_series() { record series $python bench/series_peers.py $programs/bench_series speed; }
run_intervals() { with_data intervals && record intervals $python bench/intervals_peers.py $programs/bench_intervals "$data/ucr" speed; }
run_real_dependence() { with_data real_dependence && record real_dependence $python bench/real_dependence.py build/release/specroute "$data"; }
run_honest_real() { with_data honest_real && record honest_real $python bench/choice_real.py build/release/specroute "$data"; }
run_honest_splits() { with_data honest_splits && record honest_splits $python bench/real_splits.py build/release/specroute "$data"; }
run_honest_place() { $programs/bench_place bench/results/honest_place.jsonl; }
run_honest_choice() { $programs/bench_choice bench/results/honest_choice.jsonl; }
run_honest_advice() { $programs/bench_advice bench/results/honest_advice.jsonl; }
run_honest_coverage() { $programs/bench_honest bench/results/honest_coverage.jsonl; } # goes on where it stopped
run_map_coverage() { $python bench/map_coverage.py build/release/specroute && $python bench/map_coverage.py --page; } # so does this
run_map_cost() { with_data map_cost && $python bench/map_coverage.py --cost build/release/specroute "$data" && $python bench/map_coverage.py --page; }
run_map_scene() { with_data map_scene && $python bench/map_coverage.py --scene build/release/specroute "$data" && $python bench/map_coverage.py --page; }
# Lines that these find in their files are not made again.
run_real_gain() { with_data real_gain && $python bench/real_gain.py build/release/specroute "$data"; }
run_refit() { with_data refit && $python bench/refit.py build/release/specroute "$data/ucr" && $python bench/refit.py --page; }
run_series_accuracy() { with_data series_accuracy && $python bench/series_accuracy.py build/release/specroute "$data/ucr" && $python bench/series_accuracy.py --page; }
run_series_memory() { $python bench/series_accuracy.py build/release/specroute --memory && $python bench/series_accuracy.py --page; }

[ $# -gt 0 ] || set -- "${all[@]}"
for name; do
  [[ " ${all[*]} " == *" $name "* ]] || { echo "bench/run.sh: no benchmark '$name'; there are: ${all[*]}" >&2; exit 2; }
done
scripts/install.sh run test bench
cmake --preset release >/dev/null
cmake --build --preset release -j "$(nproc)" --target benches specroute_cli
[ -x $python ] || python3 -m venv "$peers"
$python -m pip install -q -r bench/requirements.txt
failed=()
for name; do
  echo "== $name"
  "run_$name" || failed+=("$name")
done
python3 scripts/benchmarks.py
[ ${#failed[@]} -eq 0 ] || { echo "not recorded: ${failed[*]}" >&2; exit 1; }
