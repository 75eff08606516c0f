#!/usr/bin/env bash
# Builds the GPU programs, tests and measures them on a GPU, and prints one table of results.
#   bash tests/gpu.sh                  all parts; fails if there is no GPU
#   bash tests/gpu.sh --build-only     builds, and lists what would have run
#   bash tests/gpu.sh --dry-run        builds nothing and runs nothing: prints every command
#   bash tests/gpu.sh --part NAME      only that part (repeat it for more parts); --quick: only small sizes
#   bash tests/gpu.sh --bin DIR        uses the programs in DIR instead of building
#   bash tests/gpu.sh --table          runs nothing: prints the table of earlier results (--results)
#
# A machine without a network, or one available only for minutes, runs programs that were built elsewhere. It needs the
# driver, a C library at least as new, bash, python3 (for the table), and what each part needs (below). Nothing is installed.
#   here:   CMAKE_CUDA_ARCHITECTURES=90-real bash tests/gpu.sh --bundle DIR [--part NAME ...]
#           writes stripped programs for that architecture, their libraries and this script to DIR and DIR.tar.gz.
#           If all parts together are too large to copy, bundle the parts of one command.
#   there:  tar xzf DIR.tar.gz && bash DIR/gpu.sh --part NAME ... --seconds 480 --results NEW [--earlier OLD]
#           Parts run in the given order. With --seconds N no check starts that could last longer than the remaining time;
#           each check left out is a row of the table. NEW receives a dozen small files: copy them back. If each command
#           starts in an empty folder, pass the files of the previous command as OLD: NEW then contains the results of
#           both. A recording of a run comes back as recording.mcap: `rankscope recording.mcap --screenshot FILE.png`.
# Three commands of at most ten minutes each (without the start of the machine), in this order:
#   --part start --part speed-124m           does it work at all, and is it fast: five minutes if nothing fails
#   --part kernels --part speed-1.5b         every kernel, and a large model
#   --part verify --part telemetry --part ablations --part batches --part sanitizer    everything else
# cuDNN computes attention where it is found; without it, the program's own kernels do.
#   part         programs                              needs besides the driver            at most
#   start        kernels_cuda_test rankscope-engine    cuBLASLt                            7 minutes (without a bundle the CPU trains one step, too: minutes on few cores)
#   kernels      kernels_cuda_test cuda_kernels_bench  cuBLASLt (toolkit or PyTorch's)     9 minutes (if an op fails, each op runs separately: at most 30 s more)
#   sanitizer    kernels_cuda_test rankscope-engine    cuBLASLt, compute-sanitizer         9 minutes
#   verify       rankscope-engine                      cuBLASLt                            30 minutes (1 for each plan; usually some seconds)
#   nccl         rankscope-engine rankscope-trace      NCCL; two GPUs and mpirun           12 minutes (with one GPU: a start of one rank)
#   nccl-profiler  rankscope-engine                    two GPUs, NCCL, mpirun              9 minutes
#   speed-124m   gpu_step                              cuBLASLt; PyTorch for the peer      8 minutes
#   speed-1.5b   gpu_step                              cuBLASLt; PyTorch for the peer      9 minutes
#   telemetry    telemetry_share_bench                 cuBLASLt                            4 minutes
#   ablations    gpu_step                              cuBLASLt                            9 minutes
#   batches      gpu_step                              cuBLASLt                            4 minutes
# If a part fails or cannot be built, the other parts still run. The table ends with the goals for GPUs: the goal, the
# measured value, whether it meets the goal, and a reference (PyTorch's value, or the limit of the hardware).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'gpu.sh: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit "${status:-1}"
}

all_parts=(start speed-124m kernels speed-1.5b verify telemetry ablations batches sanitizer nccl nccl-profiler)  # most important first
programs_of() {
  case $1 in
    kernels) echo kernels_cuda_test cuda_kernels_bench ;;
    start | sanitizer) echo kernels_cuda_test rankscope-engine ;;
    verify | nccl-profiler) echo rankscope-engine ;;
    nccl) echo rankscope-engine rankscope-trace ;;
    speed-* | ablations | batches) echo gpu_step ;;
    telemetry) echo telemetry_share_bench ;;
  esac
}

build_only='' bundle='' quick='' bin='' dry='' table_only='' results='' earlier='' seconds='' parts=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --build-only) build_only=1 ;;
    --quick) quick=1 ;;
    --dry-run) dry=1 ;;
    --table) table_only=1 ;;
    --part | --bin | --bundle | --results | --earlier | --seconds)
      [[ $# -gt 1 ]] || status=2 fail "$1 needs a value"
      case $1 in
        --part)
          [[ " ${all_parts[*]} " == *" $2 "* ]] || status=2 fail "--part $2: the parts are ${all_parts[*]}"
          parts+=("$2")
          ;;
        --bin) bin=$(cd "$2" && pwd) ;;
        --bundle) bundle=$2 ;;
        --results) results=$2 ;;
        --earlier) earlier=$(cd "$2" && pwd) ;;
        --seconds)
          [[ $2 =~ ^[1-9][0-9]*$ ]] || status=2 fail "--seconds $2: must be a whole number, at least 1"
          seconds=$2
          ;;
      esac
      shift
      ;;
    *) status=2 fail "'$1' is not an option; the first lines of gpu.sh list the options" ;;
  esac
  shift
done
[[ ${#parts[@]} -gt 0 ]] || parts=("${all_parts[@]}")
mapfile -t programs < <(for part in "${parts[@]}"; do programs_of "$part"; done | tr ' ' '\n' | sort -u)

# In a bundle the programs and scripts are in the folder of this script; in a checkout they are built.
if [[ -f $here/gpu_table.py ]]; then
  bin=${bin:-$here} tools=$here peer=$here/gpu_peer_pytorch.py
  export RANKSCOPE_RESOURCES=$here
  results=${results:-$here/results}
else
  root=$(cd "$here/.." && pwd)
  tools=$here/gpu peer=$here/bench/gpu_peer_pytorch.py
  results=${results:-$root/build/gpu-results}
fi
if [[ -n $table_only ]]; then exec python3 "$tools/gpu_table.py" "$results"; fi
# Checked before anything is installed or built.
gpu=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -n 1 || true)
[[ -n $gpu$dry$build_only$bundle ]] || fail "there is no GPU here to run it on (--build-only and --dry-run accept that)"
if [[ -z $bin && -n $dry ]]; then bin=BIN; fi
if [[ -z $bin ]]; then
  build=$root/build/cuda bin=$root/build/cuda/bin
  mkdir -p "$root/build"
  bash "$root/resources/setup/install.sh" || say "continuing with the installed packages"
  bash "$root/resources/setup/cudnn.sh" || say "continuing without cuDNN"
  say "building ${programs[*]} in build/cuda (details: build/cuda.log)"
  # One failure does not stop the other programs from being built (-k 0) and run.
  if ! { (cd "$root" && cmake --preset cuda -DRANKSCOPE_APP=OFF ${CMAKE_CUDA_ARCHITECTURES:+-DCMAKE_CUDA_ARCHITECTURES="$CMAKE_CUDA_ARCHITECTURES"}) &&
    for program in "${programs[@]}"; do rm -f "$bin/$program"; done &&
    cmake --build "$build" --parallel "$(nproc)" --target "${programs[@]}" -- -k 0; } >"$root/build/cuda.log" 2>&1; then
    grep -E 'error|Error|FAILED' "$root/build/cuda.log" | head -n 30 >&2
    say "the build failed (above; full log: build/cuda.log)"
    for program in "${programs[@]}"; do [[ -x $bin/$program ]] && built=1; done
    [[ -n ${built:-} && -z $bundle ]] || fail "no program was built, so nothing can run"
  fi
fi

write_gpt2() { # write_gpt2 FOLDER: gpt2.toml there
  cat >"$1/gpt2.toml" <<'TOML'
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
}
# The CPU's first step of it takes minutes on few cores: its report is part of a bundle.
first_step=(--json --steps 1 --set train.global_batch=2 --set plan.micro_batches=1)
first_step_on_cpu() { # first_step_on_cpu FOLDER: its report, cpu_step.json, from gpt2.toml there
  timeout -k 15 600 "$bin/rankscope-engine" run "$1/gpt2.toml" "${first_step[@]}" --device cpu --threads "$(nproc)" \
    --set 'plan.precision="fp32"' >"$1/cpu_step.json"
}

if [[ -n $bundle ]]; then
  mkdir -p "$bundle/clusters" "$bundle/software" "$bundle/runtime"
  cp "$here/gpu.sh" "$tools"/gpu_*.py "$peer" "$bundle/"
  cp "$root"/scenarios/clusters/*.toml "$bundle/clusters/"
  cp "$root"/scenarios/software/*.toml "$bundle/software/"
  for program in "${programs[@]}"; do
    # The C library, the driver and cuBLASLt (half a gigabyte) are those of the other machine.
    ldd "$bin/$program" | awk '$3 ~ /^\// { print $3 }' |
      { grep -v -E '/(libc|libm|libdl|librt|libpthread|libresolv|libcuda|libcublas[^/]*|libnv[^/]*)\.so' || true; } |
      while read -r library; do
        # The other machine's C++ runtime is used if it is new enough: its tools may need a newer one than ours.
        case $library in
          */libstdc++.so* | */libgcc_s.so*) cp -Ln "$library" "$bundle/runtime/" ;;
          *) cp -Ln "$library" "$bundle/" ;;
        esac
      done
    strip -o "$bundle/$program" "$bin/$program"
  done
  if [[ " ${parts[*]} " == *" start "* ]]; then
    say "training one step of GPT-2 on the CPU, which the GPU's is compared with"
    write_gpt2 "$bundle"
    first_step_on_cpu "$bundle" || {
      rm -f "$bundle/cpu_step.json"
      say "no first step of the CPU: the machine with the GPU will compute it"
    }
  fi
  tar -C "$(dirname "$bundle")" -czf "$bundle.tar.gz" "$(basename "$bundle")"
  say "$bundle.tar.gz: $(du -h "$bundle.tar.gz" | cut -f 1) ($(du -sh "$bundle" | cut -f 1) unpacked)"
  exit 0
fi

# cuBLASLt, cuDNN, the CUDA runtime and NCCL may be in folders that the loader does not search (the toolkit, a Python environment), and may have
# another version: lists all folders that have them; each program loads the version that it was built for.
library_folders() {
  local folder
  for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" /usr/local/cuda*/lib64 /usr/local/cuda*/targets/*/lib \
    $(python3 -c 'import nvidia, os; print(*(os.path.join(r, d) for p in nvidia.__path__ for r, ds, _ in os.walk(p) for d in ds if d == "lib"))' 2>/dev/null || true); do
    if compgen -G "$folder/libcublasLt.so.*" >/dev/null || compgen -G "$folder/libnccl.so.*" >/dev/null ||
      compgen -G "$folder/libcudnn.so.*" >/dev/null || compgen -G "$folder/libcudart.so.*" >/dev/null; then
      echo "$folder"
    fi
  done
}
# The parts whose programs exist.
asked=("${parts[@]}") parts=() unbuilt=()
for part in "${asked[@]}"; do
  lacks=''
  for program in $(programs_of "$part"); do [[ -n $dry || -x $bin/$program ]] || lacks=$program; done
  if [[ -z $lacks ]]; then parts+=("$part"); else
    unbuilt+=("$part")
    say "part $part is left out: there is no $lacks in $bin"
  fi
done
[[ ${#parts[@]} -gt 0 ]] || status=2 fail "no part has its programs in $bin"
peer_python=(python3)
if [[ -z $dry ]]; then
  if [[ -n $build_only ]]; then
    [[ ${#unbuilt[@]} -eq 0 ]] || fail "some programs were not built"
    say "built; $([[ -n $gpu ]] && echo "the GPU here ($gpu) was not used" || echo "no GPU here, so nothing was run")"
    exit 0
  fi
  peer_python=(env "LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}" python3)  # PyTorch has libraries of its own
  export LD_LIBRARY_PATH=$bin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  for program in "${programs[@]}"; do
    if [[ -d $bin/runtime ]] && ldd "$bin/$program" 2>&1 | grep -q -E 'GLIBCXX|CXXABI|GCC_|lib(stdc\+\+|gcc_s).*not found'; then
      LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$bin/runtime
      break
    fi
  done
  found=$(library_folders | paste -sd:)
  # Reads all of the output: closing the pipe early would fail the writer.
  if [[ -z $found ]] && ! ldconfig -p | grep libcublasLt >/dev/null; then
    fail "no libcublasLt here: the CUDA toolkit and PyTorch contain it"
  fi
  LD_LIBRARY_PATH=$LD_LIBRARY_PATH${found:+:$found}
  # Otherwise each check fails for this reason, one after the other.
  problem=$(timeout -k 15 120 python3 "$tools/gpu_driver.py" 2>&1) ||
    fail "the driver of $gpu does not start: ${problem:-no answer within 2 minutes}"
  mkdir -p "$results"
  # The results of earlier commands, if the results folder starts empty each time.
  if [[ -n $earlier ]]; then
    for file in rows.tsv speed.jsonl ablations.jsonl batches.jsonl recording.mcap kernels.txt telemetry.txt nccl-profiler.txt gpu.log; do
      [[ ! -f $earlier/$file ]] || cp "$earlier/$file" "$results/"
    done
  fi
  printf '%s\n' "$gpu" >"$results/machine.txt"
  python3 "$tools/gpu_libraries.py" >"$results/libraries.txt" 2>&1 || true
  touch "$results"/{rows.tsv,speed.jsonl,ablations.jsonl,batches.jsonl,kernels.txt,telemetry.txt,nccl-profiler.txt,gpu.log}
  say "on $gpu"
fi
export RANKSCOPE_REQUIRE_GPU=1

# Other requirements of the parts, checked before the first part starts: prints one line for each that is missing, so
# that it can be installed now.
asks_for() { # asks_for PART...: whether one of them is asked for
  local part
  for part in "$@"; do [[ " ${parts[*]} " != *" $part "* ]] || return 0; done
  return 1
}
sanitizer='' has_peer='' missing=''
if [[ -z $dry ]]; then
  if [[ -z $quick ]] && asks_for sanitizer; then
    sanitizer=$(command -v compute-sanitizer || compgen -G '/usr/local/cuda*/bin/compute-sanitizer' | head -n 1 || true)
    [[ -n $sanitizer ]] || say "no compute-sanitizer here (the CUDA toolkit contains it): part sanitizer will check nothing"
  fi
  # Started as PyTorch will be started: with our libraries before its own it may fail to start.
  if [[ -z $quick ]] && asks_for speed-124m speed-1.5b; then
    if why=$(timeout -k 15 90 "${peer_python[@]}" -c 'import torch, sys; sys.exit(not torch.cuda.is_available() and "it sees no GPU")' 2>&1); then
      has_peer=1
    else
      say "no PyTorch with CUDA here (${why##*$'\n'}), so the speed is not compared with PyTorch: python3 -m pip install torch, then --part speed-124m --part speed-1.5b"
    fi
  fi
  if asks_for nccl nccl-profiler; then
    [[ $(nvidia-smi --list-gpus 2>/dev/null | wc -l || true) -ge 2 ]] || missing="one GPU"
    if [[ -n $missing ]]; then
      say "$missing here: parts nccl (but for its first check) and nccl-profiler need two"
    elif ! command -v mpirun >/dev/null; then
      say "no mpirun here (apt-get install openmpi-bin): nothing will run as processes over NCCL"
    fi
  fi
fi

# Runs one check with a time limit in seconds. Writes its row (replaces the row of an earlier run), its output to the log,
# and, if a file of the results is named, also there: appended (+FILE) or replacing the content.
failed=0
forget() { # forget ROW
  local others
  others=$(grep -v -F "$1"$'\t' "$results/rows.tsv" || true)
  printf '%s' "${others:+$others$'\n'}" >"$results/rows.tsv"
}
row() { # row NAME RESULT SECONDS
  forget "$1"
  printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$results/rows.tsv"
}
if [[ -z $dry ]]; then
  for part in "${parts[@]}"; do forget "part $part"; done
  for part in ${unbuilt[@]+"${unbuilt[@]}"}; do
    row "part $part" "not built" 0
    failed=1
  done
fi
check() {
  local name=$1 most=$2 into=$3 begin=$SECONDS output status=0
  shift 3
  result=''
  if [[ -n $dry ]]; then
    printf '%s\n  ' "$name (at most $most s)" && printf ' %q' "$@" && printf '\n'
    return
  fi
  if [[ -n $seconds && $((SECONDS + most)) -gt $seconds ]]; then
    row "$name" "no time" 0
    return
  fi
  output=$(timeout -k 15 "$most" "$@" 2>&1) || status=$?
  case $status in
    0) result=passed ;;
    *)
      result=FAILED failed=1
      [[ $status -ne 124 && $((SECONDS - begin)) -lt $most ]] || result="too long"
      ;;
  esac
  printf '== %s: %s\n%s\n' "$name" "$*" "$output" >>"$results/gpu.log"
  case $into in
    +*) printf '%s\n' "$output" >>"$results/${into#+}" ;;
    ?*) printf '%s\n' "$output" >"$results/$into" ;;
  esac
  [[ $result == passed ]] || printf '%s\n' "$output" | tail -n 40
  row "$name" "$result" $((SECONDS - begin))
  say "$name: $result, $((SECONDS - begin)) s"
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The model of all verified plans. The words of a plan are keys of [plan], or name their table.
write_plan() {
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
}
plan_file() { if [[ -n $dry ]]; then echo plan.toml; else echo "$work/plan.toml"; fi; }
sets_of() { # sets_of PLAN: the options that make it, in `sets`
  local pair
  sets=()
  for pair in $1; do
    [[ $pair == *=[a-z]* && $pair != *=true ]] && pair=${pair%%=*}="\"${pair#*=}\""
    [[ ${pair%%=*} == *.* ]] || pair=plan.$pair
    sets+=(--set "$pair")
  done
}
write_plan

# Each part is a function; parts run in the requested order.

# What shows within minutes whether the rest is worth its time.
run_start() {
  local plan
  check "one op, small sizes" 30 "" env RANKSCOPE_SMALL_SIZES=1 RANKSCOPE_ONLY_OP=add "$bin/kernels_cuda_test" "every op*"
  check "every op, every type, small sizes" 60 "" env RANKSCOPE_SMALL_SIZES=1 "$bin/kernels_cuda_test"
  for plan in "" "data=2 tensor=2 pipeline=2" "tensor=2 pipeline=2 precision=bf16 recompute=selective"; do
    sets_of "$plan"
    check "verify ${plan:-one rank}" 60 "" "$bin/rankscope-engine" verify "$(plan_file)" --device cuda "${sets[@]}"
  done
  [[ -z $quick ]] || return 0
  write_gpt2 "$work"
  if [[ -s $tools/cpu_step.json ]]; then
    cp "$tools/cpu_step.json" "$work/"
  elif [[ -z $dry ]]; then
    first_step_on_cpu "$work" || : >"$work/cpu_step.json"
  fi
  check "training, GPT-2 124M, batch 2: the first loss and gradient norm are the CPU's" 120 "" \
    bash -c '"$0/rankscope-engine" run "$1/gpt2.toml" --device cuda "${@:3}" >"$1/gpu_step.json" && python3 "$2" 50304 "$1/gpu_step.json" "$1/cpu_step.json"' \
    "$bin" "$work" "$tools/gpu_training_check.py" "${first_step[@]}"
}

run_kernels() {
  local op small
  check "every op, every type, small sizes" 120 "" env RANKSCOPE_SMALL_SIZES=1 "$bin/kernels_cuda_test"
  # After an illegal address the process has lost its device: then each op runs in a separate process.
  [[ -n $dry ]] || sed -i '/^op /d' "$results/rows.tsv"
  small=$result
  if [[ $small == FAILED || $small == "too long" ]]; then
    for op in $("$bin/kernels_cuda_test" "[names]" | sed -n 's/^op: //p'); do
      check "op $op, small sizes" 30 "" env RANKSCOPE_SMALL_SIZES=1 RANKSCOPE_ONLY_OP="$op" "$bin/kernels_cuda_test" "every op*"
    done
  fi
  if [[ -z $quick ]]; then
    # Their expected values take the CPU longer than the GPU takes; what is wrong in small sizes is wrong in these.
    if [[ $small == FAILED || $small == "too long" ]]; then
      row "every op, every type, sizes of models" skipped 0
    else
      check "every op, every type, sizes of models" 280 "" "$bin/kernels_cuda_test"
    fi
    check "kernels compared with their limits" 120 kernels.txt "$bin/cuda_kernels_bench"
  fi
}

run_sanitizer() {
  local tool
  [[ -z $quick ]] || return 0
  sanitize() { # sanitize TOOL WHAT MOST COMMAND...
    local tool=$1 name="compute-sanitizer $1, $2" most=$3
    shift 3
    if [[ -n $sanitizer || -n $dry ]]; then
      check "$name" "$most" "" "${sanitizer:-compute-sanitizer}" --tool "$tool" --target-processes all \
        --error-exitcode 9 --launch-timeout 60 "$@"
    else
      row "$name" "not here" 0
    fi
  }
  for tool in memcheck racecheck synccheck; do
    sanitize $tool "small sizes" 110 env RANKSCOPE_SMALL_SIZES=1 RANKSCOPE_EXACT_ALLOCATIONS=1 \
      "$bin/kernels_cuda_test"
  done
  # Memory is not cleared, so that reading uninitialized memory is detected.
  sanitize initcheck "small sizes" 110 env RANKSCOPE_SMALL_SIZES=1 RANKSCOPE_UNWRITTEN_MEMORY=1 "$bin/kernels_cuda_test"
  # Checks what kernel tests do not cover: arena, staging, address tables, streams that wait for each other.
  sets_of "data=2 pipeline=2 zero=1"
  sanitize memcheck "a whole plan" 90 "$bin/rankscope-engine" verify "$(plan_file)" --device cuda "${sets[@]}"
}

# Plans of one to eight ranks that share the GPU: each must train the same model as one rank.
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
  "data=2 precision=bf16 logits=narrow"
  "tensor=2 precision=bf16 logits=narrow"
  "data=4 data_parallel=main-device collective=auto"
  "data=2 data_parallel=parameter-server collective=auto"
  "data=2 data_parallel=parameter-server collective=auto staleness=2 train.clip=0"
  "data=2 pipeline=2 precision=fp16"
  "data=2 zero=1 train.optimizer=adam8bit"
  "data=2 train.optimizer=adafactor"
)
[[ -z $quick ]] || plans=("" "data=2 tensor=2 pipeline=2" "data=8 zero=3")
reported='"$0/rankscope-engine" run "$1" --device cuda --record "$1.mcap" --json "${@:3}" >"$1.json" && python3 "$2" <"$1.json"'
run_verify() {
  local plan
  [[ -z $dry ]] || cat "$work/plan.toml"
  for plan in "${plans[@]}"; do
    sets_of "$plan"
    check "verify ${plan:-one rank}" 60 "" "$bin/rankscope-engine" verify "$(plan_file)" --device cuda "${sets[@]}"
  done
  # As a user runs it: in a separate process, recorded, and with a report.
  sets_of "data=2 train.steps=10"
  check "run data=2, recorded, and the check of its report" 60 "" bash -c "$reported" "$bin" "$(plan_file)" "$tools/gpu_run_report.py" "${sets[@]}"
  [[ ! -f $work/plan.toml.mcap ]] || cp "$work/plan.toml.mcap" "$results/recording.mcap"
}

# NCCL alone, with one rank. Then several GPUs, one for each rank, over NCCL: as threads of one process, which can be
# verified, and as processes that mpirun starts: their recording contains NCCL's own events of the inside of its
# collectives. A rank that dies ends the others.
over_nccl() { # over_nccl NAME MOST INTO COMMAND...
  if [[ -n $dry || -z $missing ]]; then check "$@"; else row "$1" "$missing" 0; fi
}
run_nccl() {
  local plan nccl_plans recorded ended
  if [[ -n $dry ]] || python3 -c 'import ctypes; ctypes.CDLL("libnccl.so.2")' 2>/dev/null; then
    check "NCCL starts with one rank" 30 "" python3 "$tools/gpu_nccl_start.py"
  else
    row "NCCL starts with one rank" "not here" 0
  fi
  nccl_plans=("data=2" "pipeline=2 schedule=zb-h1" "data=2 zero=3" "tensor=2")
  for plan in "${nccl_plans[@]}"; do
    sets_of "$plan"
    over_nccl "verify over nccl, $plan" 90 "" "$bin/rankscope-engine" verify "$(plan_file)" --device cuda --comm nccl "${sets[@]}"
  done
  [[ -n $missing ]] || command -v mpirun >/dev/null || missing="no mpirun"
  recorded='"$0/rankscope-engine" run "$1" --device cuda --comm nccl --record "$1.mcap" "${@:2}" &&
    "$0/rankscope-trace" info "$1.mcap" | tee /dev/stderr | grep -q -E "[1-9][0-9]* +/rankscope/phases"'
  for plan in "${nccl_plans[@]}"; do
    sets_of "$plan collective=auto train.steps=20"
    over_nccl "run over nccl by mpirun, phases recorded, $plan" 60 "" bash -c "$recorded" "$bin" "$(plan_file)" "${sets[@]}"
  done
  ended='! timeout 40 "$0/rankscope-engine" run "$1" --device cuda --comm nccl "${@:2}" 2>"$1.said"; cat "$1.said"
    grep -q "^rankscope-engine: rank 1 " "$1.said"'
  sets_of "data=2 train.steps=1000 fault.kill_rank=1 fault.kill_step=5"
  over_nccl "run over nccl by mpirun, a rank that dies is named" 60 "" bash -c "$ended" "$bin" "$(plan_file)" "${sets[@]}"
}

# GPT-2 beside PyTorch, one after the other on the same GPU. Compiling has its own time.
speed() { # speed MODEL SAMPLES STEPS MOST MOST-COMPILED
  local model=$1 samples=$2 steps=$3 how
  local -A most=([eager]=$4 [compiled]=$5)
  [[ -n $dry ]] || { grep -v -F "\"$model\"" "$results/speed.jsonl" >"$work/kept" || true; cp "$work/kept" "$results/speed.jsonl"; }
  check "GPT-2 steps, $model" "$4" +speed.jsonl "$bin/gpu_step" "$model" "$samples" 1 "$steps"
  for how in eager compiled; do
    if [[ -n $dry$has_peer ]]; then
      check "PyTorch's steps, $model, $how" "${most[$how]}" +speed.jsonl "${peer_python[@]}" "$peer" "$model" "$samples" 1 "$steps" --"$how"
    else
      row "PyTorch's steps, $model, $how" "not here" 0
    fi
  done
}
run_speed-124m() { [[ -n $quick ]] || speed gpt2-124m 32 20 120 240; }
# The same steps with narrow logits (as PyTorch has them), with each fast path switched off, and with other batches: lines
# of a file of their own.
run_ablations() {
  local variant
  [[ -z $quick ]] || return 0
  [[ -n $dry ]] || : >"$results/ablations.jsonl"
  for variant in none narrow-logits cudnn gelu bias-gradient norm measured; do
    check "GPT-2 steps, gpt2-124m, variant: $variant" 60 +ablations.jsonl "$bin/gpu_step" gpt2-124m 32 1 12 $variant
  done
  check "GPT-2 steps, gpt2-124m, variant: attention" 120 +ablations.jsonl "$bin/gpu_step" gpt2-124m 32 1 6 attention
}
run_batches() {
  local samples
  [[ -z $quick ]] || return 0
  [[ -n $dry ]] || : >"$results/batches.jsonl"
  for samples in 16 32 64; do
    check "GPT-2 steps, gpt2-124m, batch $samples" 80 +batches.jsonl "$bin/gpu_step" gpt2-124m $samples 1 12
  done
}
run_speed-1.5b() { [[ -n $quick ]] || speed gpt2-1.5b 8 12 110 320; }

run_telemetry() {
  [[ -z $quick ]] || return 0
  write_gpt2 "$work"
  check "telemetry on and off, GPT-2 124M, 30 pairs of 4 steps" 240 telemetry.txt \
    "$bin/telemetry_share_bench" 30 4 "$work/gpt2.toml" cuda
}

# The cost of recording phases: each pair is two runs of about 15 seconds.
run_nccl-profiler() {
  [[ -z $quick ]] || return 0
  write_gpt2 "$work"
  [[ -n $missing ]] || command -v mpirun >/dev/null || missing="no mpirun"
  over_nccl "NCCL with and without profiler, GPT-2 124M on two GPUs, 8 pairs of 40 steps" 500 nccl-profiler.txt \
    python3 "$tools/gpu_nccl_profiler.py" 8 "$bin/rankscope-engine" run "$work/gpt2.toml" --device cuda --comm nccl --json \
    --set plan.data=2 --set 'plan.collective="auto"' --steps 40
}

for part in "${parts[@]}"; do "run_$part"; done
[[ -z $dry ]] || exit 0
python3 "$tools/gpu_table.py" "$results" || failed=1
printf '\n%s\n' "all results: $results"
exit $failed
