#!/usr/bin/env bash
# The runs of bench_fiedler that bench/results keeps, every family, size and peer:
#   bench/record.sh fiedler bench/fiedler.sh build/release/bench/bench_fiedler all
# Without "all" the sizes up to 10^5 alone, with "large" the others.
# A peer gets seconds of processor time that leave no doubt about the ratio; one that needs more is
# stopped, and its line says so. About five minutes each of the two.
set -uo pipefail
run=$1
every=arpack,cholmod,slepc,slepc-hypre,eigsh,eigsh-shift,lobpcg,sklearn
pieces=${2:-small}
[ "$pieces" != all ] || pieces="small large"
[[ $pieces != *small* ]] || {
  for family in path window grid holes knn2 knn5 knn10; do "$run" 1e4 $family $every 1; done
  for family in grid holes; do "$run" 1e5 $family $every 4; done
  for family in knn2 knn5 knn10; do "$run" 1e5 $family $every 8; done
  for family in path window path-edges window-edges; do "$run" 1e5 $family cholmod,lobpcg 2; done
  "$run" 1e5 grid,holes,knn2 none 0 2
}
[[ $pieces != *large* ]] || {
  "$run" 1e6 grid,holes cholmod,slepc,slepc-hypre,lobpcg 12
  "$run" 1e6 knn2 cholmod,slepc,slepc-hypre,lobpcg 30
  "$run" 1e6 knn5,knn10 arpack 30
  "$run" 1e6 path,window,path-edges,window-edges none
  "$run" 1e7 path,window,grid,holes,knn2 none
  for size in 1e6 1e7; do "$run" $size grid,holes,knn2 none 0 2; done
}
