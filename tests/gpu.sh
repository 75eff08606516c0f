#!/usr/bin/env bash
# Builds what runs on GPUs, checks it on one, measures it, and prints one table.
#   bash tests/gpu.sh                     all of it; fails where there is no GPU
#   bash tests/gpu.sh --build-only        builds, and says what would have run
#   bash tests/gpu.sh --bundle DIR        builds, and puts the programs and this script into DIR, for a machine on which
#                                         nothing can be installed; there: bash DIR/gpu.sh
# Everything is written to a log beside the programs as well. With --quick only the checks in small sizes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'gpu.sh: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit "${status:-1}"
}

build_only='' bundle='' quick=''
while [[ $# -gt 0 ]]; do
  case $1 in
    --build-only) build_only=1 ;;
    --quick) quick=1 ;;
    --bundle)
      bundle=${2:?--bundle wants a folder}
      shift
      ;;
    *) status=2 fail "--build-only, --quick or --bundle DIR, not '$1'" ;;
  esac
  shift
done

programs=(kernels_cuda_test cuda_kernels_bench)

# From a checkout: build. From a bundle: the programs lie beside this script.
if [[ -x $here/${programs[0]} ]]; then
  bin=$here log=$here/gpu.log
else
  root=$(cd "$here/.." && pwd)
  preset=cuda build=$root/build/cuda
  bin=$build/bin log=$build.gpu.log
  mkdir -p "$root/build"
  bash "$root/resources/setup/install.sh" || say "going on with what is installed"
  say "building ${programs[*]} in build/$preset (details: build/$preset.log)"
  (cd "$root" && cmake --preset $preset -DRANKSCOPE_APP=OFF ${CMAKE_CUDA_ARCHITECTURES:+-DCMAKE_CUDA_ARCHITECTURES="$CMAKE_CUDA_ARCHITECTURES"} &&
    cmake --build "$build" --parallel "$(nproc)" --target "${programs[@]}") >"$root/build/$preset.log" 2>&1 || {
    grep -E 'error|Error|FAILED' "$root/build/$preset.log" | head -n 30 >&2
    fail "the build failed (above; all of it: build/$preset.log)"
  }
fi

if [[ -n $bundle ]]; then
  mkdir -p "$bundle"
  cp "${programs[@]/#/$bin/}" "$here/gpu.sh" "$bundle/"
  for program in "${programs[@]}"; do
    # The C library and the driver are the other machine's, and so is cuBLASLt, which is half a gigabyte.
    ldd "$bin/$program" | awk '$3 ~ /^\// { print $3 }' |
      { grep -v -E '/(libc|libm|libdl|librt|libpthread|libcuda|libcublas[^/]*|libnv[^/]*)\.so' || true; } |
      xargs -r -I{} cp -Ln {} "$bundle/"
  done
  say "$bundle: $(du -sh "$bundle" | cut -f 1); on the GPU machine: bash $(basename "$bundle")/gpu.sh"
  exit 0
fi

# cuBLASLt may lie where the loader does not look: in the toolkit, or in a Python environment.
export LD_LIBRARY_PATH=$here${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if ldd "$bin/${programs[0]}" | grep -q 'libcublasLt.*not found'; then
  found=''
  for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" /usr/local/cuda*/lib64 /usr/local/cuda*/targets/*/lib \
    $(python3 -c 'import nvidia, os; print(*(os.path.join(r, d) for p in nvidia.__path__ for r, ds, _ in os.walk(p) for d in ds if d == "lib"))' 2>/dev/null || true); do
    if compgen -G "$folder/libcublasLt.so.*" >/dev/null; then found=$folder; fi
  done
  [[ -n $found ]] || fail "no libcublasLt here: it comes with the CUDA toolkit"
  export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$found
fi

gpu=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -n 1 || true)
if [[ -z $gpu ]]; then
  if [[ -n $build_only ]]; then
    say "built; no GPU here, so nothing of it has run"
    exit 0
  fi
  fail "built, but there is no GPU here to run it on (--build-only accepts that)"
fi
if [[ -n $build_only ]]; then
  say "built; the GPU here ($gpu) was not used"
  exit 0
fi

# Runs one check: its row of the table, and its output in the log.
rows=() failed=0
check() {
  local name=$1 begin=$SECONDS output result=passed
  shift
  if ! output=$("$@" 2>&1); then result=FAILED failed=1; fi
  printf '== %s: %s\n%s\n' "$name" "$*" "$output" >>"$log"
  [[ $result == passed ]] || printf '%s\n' "$output" | tail -n 40
  rows+=("$(printf '%-58s %-8s %5d s' "$name" "$result" $((SECONDS - begin)))")
}

: >"$log"
say "on $gpu"
export RANKSCOPE_REQUIRE_GPU=1
check "every op, every type, small sizes" env RANKSCOPE_SMALL_SIZES=1 "$bin/kernels_cuda_test"
[[ -n $quick ]] || check "every op, every type, sizes of models" "$bin/kernels_cuda_test"
if [[ -z $quick ]]; then
  sanitizer=$(command -v compute-sanitizer || compgen -G '/usr/local/cuda*/bin/compute-sanitizer' | head -n 1 || true)
  if [[ -n $sanitizer ]]; then
    for tool in memcheck racecheck; do
      check "compute-sanitizer $tool, small sizes" timeout 420 env RANKSCOPE_SMALL_SIZES=1 RANKSCOPE_EXACT_ALLOCATIONS=1 \
        "$sanitizer" --tool $tool --error-exitcode 9 --launch-timeout 60 "$bin/kernels_cuda_test" "every op*"
    done
  else
    rows+=("$(printf '%-58s %-8s' "compute-sanitizer" "not here")")
  fi
  bench=$("$bin/cuda_kernels_bench" 2>&1) || failed=1
  printf '%s\n' "$bench" >>"$log"
fi

printf '%s\n' "" "GPU: $gpu" "" "${rows[@]}"
if [[ -z $quick ]]; then printf '%s\n' "" "$bench"; fi
printf '\n%s\n' "all of it: $log"
exit $failed
