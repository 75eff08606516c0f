#!/usr/bin/env bash
# Installs missing packages, builds with warnings as errors, and runs the tests.
#   bash tests/run.sh                     all of them
#   bash tests/run.sh -R comm             arguments go to ctest
#   bash tests/run.sh --sanitize address  under the address and undefined-behaviour sanitizers, or: thread
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=resources/setup/common.sh
source "$root/resources/setup/common.sh"

preset=ci
definitions=()
if [[ ${1:-} == --sanitize ]]; then
  case ${2:-} in
    address) preset=asan ;;
    # Qt is not built for the thread sanitizer, which would report its locks as races: test all except the window.
    thread) preset=tsan definitions=(-DRANKSCOPE_APP=OFF) ;;
    *) status=2 fail "--sanitize needs address or thread, not '${2:-}'" ;;
  esac
  shift 2
fi

bash "$root/resources/setup/install.sh"
bash "$root/resources/setup/python.sh"
bash "$root/resources/setup/cluster.sh"
bash "$root/resources/setup/browser.sh"
bash "$root/resources/setup/cudnn.sh"
if [[ -x $root/build/python/bin/python3 ]]; then definitions+=("-DPython3_EXECUTABLE=$root/build/python/bin/python3"); fi
build "$preset" "${definitions[@]}"

# So that no window opens, OpenMP teams are not reported as races, and root in a container may start MPI jobs.
export QT_QPA_PLATFORM=offscreen
[[ $preset != tsan ]] || export OMP_NUM_THREADS=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

say "testing"
log=$root/build/$preset.tests.log
result=0
# "DONE TOTAL" of the last finished test.
count_tests() { sed -n 's|^ *\([0-9]*\)/\([0-9]*\) Test .*|\1 \2|p' "$log" | tail -n 1; }
run_tests() {
  ctest --test-dir "$root/build/$preset" --parallel "$(nproc)" --output-on-failure --no-tests=error "$@" >"$log" 2>&1
}
with_progress testing count_tests run_tests "$@" || result=$?
# The result line of each test and the output of failed tests, without the lines that report a start.
grep -vE '^ *Start +[0-9]+: ' "$log" || true
closing=$(grep -E '^[0-9]+% tests passed' "$log" || true)
if [[ $result -ne 0 ]]; then fail "${closing:-ctest ended with status $result} (full log: $log)"; fi
say "${closing:-done}"
