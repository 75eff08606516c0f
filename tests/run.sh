#!/usr/bin/env bash
# Installs missing packages, builds with warnings as errors, and runs the tests.
#   bash tests/run.sh                     all of them
#   bash tests/run.sh -R comm             arguments go to ctest
#   bash tests/run.sh --long              with more plans, sizes and repetitions: before a release
#   bash tests/run.sh --without-cuda      as on a machine without the CUDA toolkit, in a build folder of its own
#   bash tests/run.sh --sanitize address  under the address and undefined-behaviour sanitizers, or: thread
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=resources/setup/common.sh
source "$root/resources/setup/common.sh"

preset=ci
definitions=()
while [[ ${1:-} == --long || ${1:-} == --without-cuda || ${1:-} == --sanitize ]]; do
  case $1 in
    --long) export RANKSCOPE_LONG_TESTS=1 ;;
    --without-cuda) preset=ci-without-cuda ;;
    --sanitize)
      case ${2:-} in
        address) preset=asan ;;
        # Qt is not built for the thread sanitizer, which would report its locks as races: test all except the window.
        thread) preset=tsan definitions=(-DRANKSCOPE_APP=OFF) ;;
        *) status=2 fail "--sanitize needs address or thread, not '${2:-}'" ;;
      esac
      shift
      ;;
  esac
  shift
done

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
details=$root/build/$preset/Testing/Temporary/LastTest.log
result=0
# "DONE TOTAL" of the last finished test.
count_tests() { sed -n 's|^ *\([0-9]*\)/\([0-9]*\) Test .*|\1 \2|p' "$log" | tail -n 1; }
# Many tests wait for what they have started, so there are two more of them than there are cores.
run_tests() {
  ctest --test-dir "$root/build/$preset" --parallel "$(($(nproc) + 2))" --output-on-failure --no-tests=error "$@" >"$log" 2>&1
}
# What skipped tests say themselves of what they did not judge, and what would be needed; each once, with their names.
list_skipped() {
  awk 'FNR == NR { if (/\*\*\*Skipped/) skipped[$4] = 1; next }
       / Testing: / { name = $3; inside = 0 }
       /^-----/ { inside = !inside; next }
       name in skipped && inside && /not judged: |skipped: [^0-9]|lacks|^[a-z_.]+: no / && !told[name, $0]++ {
         if (!($0 in tests)) reasons[++count] = $0
         tests[$0] = tests[$0] " " name
       }
       END { for (i = 1; i <= count; ++i) print "  " reasons[i] "\n   " tests[reasons[i]] }' "$log" "$details"
}
with_progress testing count_tests run_tests "$@" || result=$?
# The result line of each test and the output of failed tests, without the lines that report a start.
grep -vE '^ *Start +[0-9]+: ' "$log" || true
closing=$(grep -E '^[0-9]+% tests passed' "$log" || true)
if [[ $result -ne 0 ]]; then fail "${closing:-ctest ended with status $result} (full log: $log)"; fi
skipped=$(list_skipped)
if [[ -n $skipped ]]; then printf 'Skipped, in whole or in part:\n%s\n' "$skipped"; fi
echo "${closing:-done}"
