#!/usr/bin/env bash
# Builds what runs on GPUs, checks it on one, measures it, and prints one table.
#   bash tests/gpu.sh                     all of it; fails where there is no GPU
#   bash tests/gpu.sh --build-only        builds, and says what would have run
#   bash tests/gpu.sh --bundle DIR        builds, and puts the programs and this script into DIR, for a machine on which
#                                         nothing can be installed; there: bash DIR/gpu.sh
# Everything is written to a log beside the programs as well. With --quick only the checks in small sizes; with
# --part kernels, verify or speed only that part, where a machine is lent for minutes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'gpu.sh: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit "${status:-1}"
}

build_only='' bundle='' quick='' part='kernels verify speed'
while [[ $# -gt 0 ]]; do
  case $1 in
    --build-only) build_only=1 ;;
    --quick) quick=1 ;;
    --part)
      part=${2:?--part wants kernels, verify or speed}
      shift
      ;;
    --bundle)
      bundle=${2:?--bundle wants a folder}
      shift
      ;;
    *) status=2 fail "--build-only, --quick, --part NAME or --bundle DIR, not '$1'" ;;
  esac
  shift
done

programs=(kernels_cuda_test cuda_kernels_bench rankscope-engine gpu_step telemetry_share_bench)

# From a checkout: build. From a bundle: the programs lie beside this script.
if [[ -x $here/${programs[0]} ]]; then
  bin=$here log=$here/gpu.log peer=$here/gpu_peer_pytorch.py
  export RANKSCOPE_RESOURCES=$here
else
  root=$(cd "$here/.." && pwd)
  preset=cuda build=$root/build/cuda
  bin=$build/bin log=$build.gpu.log peer=$here/bench/gpu_peer_pytorch.py
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
  cp "${programs[@]/#/$bin/}" "$here/gpu.sh" "$peer" "$bundle/"
  mkdir -p "$bundle/clusters"
  cp "$root"/scenarios/clusters/*.toml "$bundle/clusters/"
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
  rows+=("$(printf '%-74s %-8s %5d s' "$name" "$result" $((SECONDS - begin)))")
}
has_part() { [[ " $part " == *" $1 "* ]]; }

: >"$log"
say "on $gpu"
export RANKSCOPE_REQUIRE_GPU=1
bench=''
if has_part kernels; then
  check "every op, every type, small sizes" env RANKSCOPE_SMALL_SIZES=1 "$bin/kernels_cuda_test"
  [[ -n $quick ]] || check "every op, every type, sizes of models" "$bin/kernels_cuda_test"
fi
if has_part kernels && [[ -z $quick ]]; then
  sanitizer=$(command -v compute-sanitizer || compgen -G '/usr/local/cuda*/bin/compute-sanitizer' | head -n 1 || true)
  if [[ -n $sanitizer ]]; then
    for tool in memcheck racecheck; do
      check "compute-sanitizer $tool, small sizes" timeout 420 env RANKSCOPE_SMALL_SIZES=1 RANKSCOPE_EXACT_ALLOCATIONS=1 \
        "$sanitizer" --tool $tool --error-exitcode 9 --launch-timeout 60 "$bin/kernels_cuda_test" "every op*"
    done
  else
    rows+=("$(printf '%-74s %-8s' "compute-sanitizer" "not here")")
  fi
  bench=$("$bin/cuda_kernels_bench" 2>&1) || failed=1
  printf '%s\n' "$bench" >>"$log"
fi

# Plans of one to eight ranks that share the GPU: each trains the model that one rank trains.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/plan.toml" <<'TOML'
title = "plans on one GPU"
[model]
kind = "gpt"
layers = 8
width = 128
heads = 4
context = 64
vocabulary = 256
dropout = 0.1
[plan]
micro_batches = 4
bucket_mib = 0.25
[train]
global_batch = 32
optimizer = "adamw"
clip = 1.0
TOML
plans=(
  ""
  "data=2"
  "data=8"
  "data=4 collective=ring"
  "data=4 collective=tree"
  "data=4 collective=halving-doubling"
  "tensor=2"
  "tensor=4 sequence_parallel=true"
  "pipeline=4"
  "pipeline=8 schedule=gpipe"
  "pipeline=4 schedule=interleaved virtual=2"
  "pipeline=4 schedule=zb-h1"
  "pipeline=4 schedule=zb-v virtual=2"
  "data=4 zero=1"
  "data=4 zero=2"
  "data=8 zero=3"
  "data=2 zero=1 offload=optimizer"
  "data=2 tensor=2 pipeline=2"
  "data=2 tensor=2 pipeline=2 zero=1 recompute=blocks"
  "data=2 pipeline=2 zero=1 precision=bf16"
  "tensor=2 pipeline=2 precision=bf16 recompute=selective"
  "data=4 data_parallel=main-device collective=auto"
  "data=2 data_parallel=parameter-server collective=auto"
)
[[ -z $quick ]] || plans=("" "data=2 tensor=2 pipeline=2" "data=8 zero=3")
if has_part verify; then
  for plan in "${plans[@]}"; do
    sets=()
    for pair in $plan; do
      [[ $pair == *=[a-z]* && $pair != *=true ]] && pair=${pair%%=*}="\"${pair#*=}\""
      sets+=(--set "plan.$pair")
    done
    check "verify ${plan:-one rank}" timeout 120 "$bin/rankscope-engine" verify "$work/plan.toml" --device cuda "${sets[@]}"
  done
fi

# GPT-2 beside PyTorch, one after the other on the same GPU; telemetry on and off; memory beside its prediction.
table=''
if has_part speed && [[ -z $quick ]]; then
  : >"$work/speed"
  for size in "gpt2-124m 32 1 20" "gpt2-1.5b 8 1 12"; do
    read -ra words <<<"$size"
    check "GPT-2 steps, ${words[0]}" bash -c "timeout 240 '$bin/gpu_step' $size | tee -a '$work/speed'"
    for how in '' --compile; do
      if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
        check "PyTorch's steps, ${words[0]} ${how:-eager}" bash -c "timeout 300 python3 '$peer' $size $how | tee -a '$work/speed'"
      else
        rows+=("$(printf '%-74s %-8s' "PyTorch's steps, ${words[0]} ${how:-eager}" "not here")")
      fi
    done
  done
  cat >"$work/gpt2.toml" <<'TOML'
title = "GPT-2 124M"
[model]
kind = "gpt"
layers = 12
width = 768
heads = 12
context = 1024
vocabulary = 50304
[plan]
micro_batches = 2
precision = "bf16"
[train]
global_batch = 32
clip = 1.0
TOML
  check "telemetry on and off, GPT-2 124M, 30 pairs of 4 steps" bash -c \
    "timeout 240 '$bin/telemetry_share_bench' 30 4 '$work/gpt2.toml' cuda | tee '$work/telemetry'"
  table=$(python3 - "$work" <<'PYTHON'
import json, os, sys
rows = [json.loads(line) for line in open(os.path.join(sys.argv[1], "speed")) if line.startswith("{")]
print(f"{'':12}{'':22}{'step':>10}{'tokens/s':>12}{'MFU':>7}")
for r in rows:
    mfu = f"{100 * r['mfu']:6.1f}%" if "mfu" in r else ""
    print(f"{r['model']:12}{r['engine'][:21]:22}{1e3 * r['step_seconds']:8.2f} ms{r['tokens_per_s']:12.0f}{mfu:>7}")
for model in dict.fromkeys(r["model"] for r in rows):
    ours = [r for r in rows if r["model"] == model and r["engine"] == "rankscope"]
    theirs = [r for r in rows if r["model"] == model and "compiled" in r["engine"]]
    for r in ours:
        if theirs:
            print(f"{model}: {r['tokens_per_s'] / theirs[0]['tokens_per_s']:.2f} times PyTorch compiled (at least 1)")
        for name, c in r["classes"].items():
            print(f"{model}: {name:10} {100 * c['of_step']:5.1f}% of the step, {100 * c['of_limit']:5.1f}% of its limit")
        m = r["memory"]
        print(f"{model}: memory {m['used_bytes'] / 2**30:.2f} GiB, predicted {m['predicted_bytes'] / 2**30:.2f} GiB "
              f"({100 * m['off_by']:+.1f}%, within 5%), of it the context {m['context_bytes'] / 2**20:.0f} MiB and "
              f"workspaces {m['workspace_bytes'] / 2**20:.0f} MiB")
PYTHON
  ) || failed=1
  [[ ! -s $work/telemetry ]] || table+=$'\n'$(grep 'cost of telemetry' "$work/telemetry" || true)' (under 1 %)'
  printf '%s\n' "$table" >>"$log"
fi

printf '%s\n' "" "GPU: $gpu" "" "${rows[@]}"
[[ -z $bench ]] || printf '%s\n' "" "$bench"
[[ -z $table ]] || printf '%s\n' "" "$table"
printf '\n%s\n' "all of it: $log"
exit $failed
