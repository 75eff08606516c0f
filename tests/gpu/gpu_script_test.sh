#!/usr/bin/env bash
# Tests tests/gpu.sh where there is no GPU. gpu_script_test.sh RANKSCOPE-ENGINE
set -euo pipefail
engine=$1
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0
complain() {
  printf 'wrong: %s\n' "$*"
  wrong=1
}
expect() { # expect WHAT TEXT PATTERN: the text has a line that matches
  grep -q -E -e "$3" <<<"$2" || complain "$1: no line matches '$3' in:"$'\n'"$2"
}

# Commands: every part has some, and every plan that would be verified is a plan.
commands=$(bash "$tests/gpu.sh" --dry-run --bin "$(dirname "$engine")")
for program in kernels_cuda_test cuda_kernels_bench gpu_step telemetry_share_bench compute-sanitizer; do
  expect "commands" "$commands" "(^|[ /])$program( |\$)"
  [[ $program == compute-sanitizer ]] ||
    grep -q -r -E "(rankscope_test|add_executable)\(${program%_test}" "$tests" --include=CMakeLists.txt --include='*.cmake' ||
    complain "no target makes $program"
done
sed -n '/^title/,/^clip/p' <<<"$commands" >"$work/plan.toml"
count=0
while read -r words; do
  words=${words#*rankscope-engine }  # without the command that it runs under
  eval "set -- $words"               # split as the shell would: the script has quoted it
  shift
  plan=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      --device | --comm) shift ;;
      plan.toml) plan+=("$work/plan.toml") ;;
      *) plan+=("$1") ;;
    esac
    shift
  done
  "$engine" plan --json "${plan[@]}" >"$work/out" 2>&1 || complain "no plan: ${plan[*]}: $(cat "$work/out")"
  count=$((count + 1))
done < <(grep -E "rankscope-engine verify" <<<"$commands")
[[ $count -ge 20 ]] || complain "only $count plans would be verified"

# The check of a report accepts the report of the script's command; in the report of a run on the CPU, only the driver's
# context is missing.
words=$(sed -n '/the check of its report/{n;p;}' <<<"$commands")
eval "set -- ${words//--device\\ cuda/--device\\ cpu}"
status=0
said=$("$1" "$2" "$3" "$(dirname "$engine")" "$work/plan.toml" "${@:6}" 2>&1) || status=$?
[[ $status == 1 ]] || complain "a report of a CPU: status $status, $said"
expect "a report" "$said" '^(measured|emulated) on the .* clock: 10 steps of 0\.[0-9]* s, MFU 0\.[0-9]*, [1-9][0-9]* bytes'
[[ $(grep -c '^gpu_run_report.py: ' <<<"$said") == 1 ]] || complain "a report of a CPU lacks more than the context: $said"
expect "a report of a CPU" "$said" "^gpu_run_report.py: the driver's context takes no memory"
[[ -s $work/plan.toml.mcap ]] || complain "nothing is recorded"
sed 's/"context": *0/"context": 5/g' "$work/plan.toml.json" >"$work/report.json"
python3 "$tests/gpu/gpu_run_report.py" <"$work/report.json" >/dev/null || complain "a report with a context is refused"
for wrong_key in '"mfu": *[0-9.e-]*/"mfu": null' '"obtained": *"[a-z]*"/"obtained": "simulated"' '"peak": *[0-9]*/"peak": 0'; do
  if sed "s/$wrong_key/g" "$work/report.json" | python3 "$tests/gpu/gpu_run_report.py" >/dev/null 2>&1; then complain "a report passes with $wrong_key"; fi
done

# The check of GPT-2's first step.
first_step() { # first_step LOSS NORM: a report
  printf '{"steps": [{"loss": %s, "grad_norm": %s}]}' "$1" "$2"
}
first_step 10.84 2.00 >"$work/cpu.json"
first_step 10.85 2.02 >"$work/gpu.json"
said=$(python3 "$tests/gpu/gpu_training_check.py" 50304 "$work/gpu.json" "$work/cpu.json") || complain "a first step like the CPU's is refused: $said"
for other in "10.85 2.2" "10.95 2.0" "5.5 2.0" "NaN 2.0"; do
  read -ra words <<<"$other"
  first_step "${words[@]}" >"$work/gpu.json"
  if python3 "$tests/gpu/gpu_training_check.py" 50304 "$work/gpu.json" "$work/cpu.json" >"$work/out"; then complain "a first step of $other passes: $(cat "$work/out")"; fi
done

# Every part ends within the minutes that the script says.
while read -r part minutes; do
  most=$(($(bash "$tests/gpu.sh" --dry-run --bin "$work" --part "$part" | sed -n 's/.*(at most \([0-9]*\) s)$/\1/p' | paste -sd+)))
  [[ $most -le $((60 * minutes)) && $most -gt $((60 * (minutes - 1))) ]] ||
    complain "part $part may take $most s, and says $minutes minutes"
done < <(sed -n '/^#   part /,/^# If a part/s/^#   \([a-z][-a-z0-9.]*\) .* \([0-9]*\) minutes.*/\1 \2/p' "$tests/gpu.sh")

# The peer's arguments, as the script gives them.
while read -r words; do
  eval "set -- $words"
  python3 "${@:2}" --arguments >"$work/out" 2>&1 || complain "the peer does not take ${*:2}: $(cat "$work/out")"
done < <(grep -E "gpu_peer_pytorch.py gpt2" <<<"$commands")
expect "the last of them" "$(cat "$work/out")" '"model": "gpt2-1.5b", "samples": 8, "micro_batches": 1, "steps": 12, "compiled": true'
if python3 "$tests/bench/gpu_peer_pytorch.py" gpt3 --arguments >/dev/null 2>&1; then complain "the peer accepts an unknown model"; fi

# Refusals: one line, status 2.
for bad in "--part nothing" "--seconds 0" "--what" "--results"; do
  status=0
  read -ra words <<<"$bad"
  said=$(bash "$tests/gpu.sh" "${words[@]}" 2>&1) || status=$?
  [[ $status == 2 && $(wc -l <<<"$said") == 1 ]] || complain "$bad: status $status, $said"
done

# Without a GPU nothing is installed or built.
mkdir -p "$work/checkout/resources/setup" "$work/nothing"
cp -r "$tests" "$work/checkout/tests"
printf 'touch "%s"\n' "$work/installed" >"$work/checkout/resources/setup/install.sh"
for name in nvidia-smi cmake; do printf '#!/bin/sh\nexit 1\n' >"$work/nothing/$name" && chmod +x "$work/nothing/$name"; done
status=0
said=$(PATH=$work/nothing:$PATH bash "$work/checkout/tests/gpu.sh" 2>&1) || status=$?
[[ $status == 1 && $said == *"there is no GPU here"* ]] || complain "no GPU: status $status, $said"
[[ ! -e $work/installed ]] || complain "packages for GPUs are installed without a GPU"
PATH=$work/nothing:$PATH bash "$work/checkout/tests/gpu.sh" --build-only >/dev/null 2>&1 || true
[[ -e $work/installed ]] || complain "--build-only installs nothing"

# The whole script on a simulated machine: its programs do nothing, and one of them fails for one plan.
fake=$work/fake
mkdir "$fake"
program() { # program NAME COMMANDS
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$fake/$1"
  chmod +x "$fake/$1"
}
program nvidia-smi '[[ $1 == --list-gpus ]] && echo "GPU 0" || echo "a GPU that is none, 1, 2 MiB"'
program ldconfig 'echo libcublasLt.so.13'
driver_whose_start_returns() { # driver_whose_start_returns STATUS
  cc -shared -fPIC -x c -o "$fake/libcuda.so.1" - <<C
int cuInit(unsigned flags) { return flags ? 1 : $1; }
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuGetErrorString(int error, const char** text) { return *text = "system not yet initialized", 0; }
C
}
driver_whose_start_returns 0
program compute-sanitizer 'exit 0'
kernels_that_work='[[ $RANKSCOPE_REQUIRE_GPU == 1 ]]'
program kernels_cuda_test "$kernels_that_work"
program cuda_kernels_bench 'echo "a kernel at 90% of its limit"
  echo "fused over apart, bf16 MLP up with GELU: 400.0 us over 500.0 us = 0.80"
  echo "fused over apart, bf16 MLP up weight and bias gradient: 510.0 us over 500.0 us = 1.02"
  echo "fused over apart, layer norm backward: 40.0 us over 50.0 us = 0.80"'
engine_that_differs="[[ \$1 != run ]] || cat '$work/report.json'"'
  [[ "$*" != *data=8*zero=3* ]] || { echo "DIFFERS from one rank"; exit 1; }'
program rankscope-engine "$engine_that_differs"
program rankscope-trace 'exit 1'
program gpu_step 'echo "{\"engine\": \"rankscope\", \"model\": \"$1\", \"samples\": $2, \"variant\": \"$([[ ${5:-none} == none || $5 == narrow-logits ]] || echo "without ")${5:-none}\",
  \"step_seconds\": 0.5, \"tokens_per_s\": $([[ ${5:-none} == gelu ]] && echo 6 || echo 7), \"mfu\": 0.25,
  \"classes\": {}, \"memory\": {\"used_bytes\": 0, \"predicted_bytes\": 1, \"off_by\": 0, \"context_bytes\": 0, \"workspace_bytes\": 0}}" | tr -d "\n"'
program telemetry_share_bench 'echo "cost of telemetry: mean +0.10 %"'
on_fake() { PATH=$fake:$PATH bash "$tests/gpu.sh" --bin "$fake" --results "$work/gathered" "$@" 2>/dev/null; }

# A driver that does not start is reported once, and no check runs.
driver_whose_start_returns 802
status=0
said=$(PATH=$fake:$PATH bash "$tests/gpu.sh" --bin "$fake" --results "$work/no-driver" 2>&1) || status=$?
[[ $status == 1 && $said == *"cuInit returns error 802 (system not yet initialized)" ]] || complain "no driver: status $status, $said"
[[ ! -e $work/no-driver ]] || complain "checks run without a driver"
driver_whose_start_returns 0

status=0
table=$(on_fake) || status=$?
[[ $status == 1 ]] || complain "a plan that differs: status $status"
expect "the table" "$table" '^GPU: a GPU that is none'
expect "the table" "$table" '^verify data=8 zero=3 +FAILED'
expect "the table" "$table" '^verify data=4 zero=2 +passed'
expect "the table" "$table" '^run data=2, recorded, and the check of its report +passed'
expect "the table" "$table" '^verify over nccl, data=2 +one GPU$'
expect "the table" "$table" '^compute-sanitizer racecheck, small sizes +passed'
expect "the table" "$table" '^compute-sanitizer synccheck, small sizes +passed'
expect "the table" "$table" '^compute-sanitizer initcheck, small sizes +passed'
expect "the table" "$table" '^compute-sanitizer memcheck, a whole plan +passed'
expect "the goals" "$table" '^plans against one rank +all +28 of 29  MISSED$'
expect "the table" "$table" '^run over nccl by mpirun, phases recorded, tensor=2 +one GPU$'
expect "the goals" "$table" '^a GPU for each rank, over NCCL +all +0 of 9  not measured$'
expect "the table" "$table" '^NCCL with and without profiler, .* +one GPU$'
expect "the goals" "$table" "^NCCL's profiler, 95 % upper bound of its cost +< 1 % +-  not measured\$"
expect "the goals" "$table" '^compute-sanitizer +all +5 of 5  met$'
expect "the goals" "$table" "^kernels against the CPU's +all +2 of 2  met\$"
expect "the goals" "$table" "^gpt2-124m: tokens/s over PyTorch compiled's +>= 1.1 +-  not measured +7/s\$"
expect "the goals" "$table" '^gpt2-1.5b: peak memory compared with its prediction +within 5% +\+0.0%  met +0.00 GiB predicted$'
expect "the goals" "$table" '^MLP up with GELU, fused over separate +<= 1 +0.80  met +400.0 us over 500.0 us: choose fused$'
expect "the goals" "$table" '^layer norm backward, fused over separate +<= 1 +0.80  met +40.0 us over 50.0 us: choose fused$'
expect "the goals" "$table" '^MLP up weight and bias gradient, fused over separate +<= 1 +1.02  MISSED +510.0 us over 500.0 us: choose apart$'
expect "the goals" "$table" "^MLP down input gradient, GELU's slope, fused over separate +<= 1 +-  not measured\$"
expect "the table" "$table" '^a kernel at 90% of its limit$'
expect "the table" "$table" '^gpt2-124m, without gelu: 6 tokens/s, 0.857 times with wide logits and all fast paths$'
expect "the table" "$table" '^gpt2-124m, narrow-logits: 7 tokens/s, 1.000 times with wide logits and all fast paths$'
expect "the table" "$table" '^gpt2-124m, batch 64: 7 tokens/s, MFU 25.0%, memory 0.00 GiB$'
expect "the table" "$table" '^(cuBLASLt [0-9]|cuBLASLt is not here)'
expect "the table" "$table" '^one op, small sizes +passed'
expect "the goals" "$table" "^GPT-2's first step against the CPU's +all +0 of 1  MISSED\$"
expect "the table" "$table" '^gpt2-1.5b +rankscope +500.00 ms'
expect "the table" "$table" '^cost of telemetry: mean \+0.10 %'

# If kernels fail, each op runs again in a separate process; after a run without failures these rows are gone.
program kernels_cuda_test 'if [[ $1 == "[names]" ]]; then printf "op: add\nop: scale\n"; else [[ ${RANKSCOPE_ONLY_OP:-} == scale && $1 == "every op*" ]]; fi'
table=$(on_fake --part kernels) || true
expect "kernels that fail" "$table" '^every op, every type, small sizes +FAILED'
expect "kernels that fail" "$table" '^every op, every type, sizes of models +skipped$'
expect "kernels that fail" "$table" '^op add, small sizes +FAILED'
expect "kernels that fail" "$table" '^op scale, small sizes +passed'
expect "kernels that fail" "$table" "^kernels against the CPU's +all +0 of 2  MISSED\$"
program kernels_cuda_test "$kernels_that_work"
table=$(on_fake --part kernels) || true
grep -q "^op " <<<"$table" && complain "ops of kernels that work have rows of their own"

# A check that does not end differs from one that fails: a checker is slow, a kernel is wrong.
program timeout '[[ "$*" != *racecheck* && "$*" != *"kernels_cuda_test" ]] || exit 124; exec '"$(command -v timeout)"' "$@"'
status=0
table=$(on_fake --part sanitizer --part kernels) || status=$?
[[ $status == 1 ]] || complain "what takes too long: status $status"
expect "what takes too long" "$table" '^compute-sanitizer racecheck, small sizes +too long +[0-9]+ s$'
expect "what takes too long" "$table" '^compute-sanitizer +all +[0-4] of 5  not measured$'
expect "what takes too long" "$table" '^every op, every type, small sizes +too long'
expect "what takes too long" "$table" '^every op, every type, sizes of models +skipped$'
expect "what takes too long" "$table" "^kernels against the CPU's +all +0 of 2  MISSED\$"
rm "$fake/timeout"
on_fake --part sanitizer --part kernels >/dev/null || true

# The script searches for PyTorch as it starts it: without our libraries first. It reports missing programs first.
own=${LD_LIBRARY_PATH:-}
peer_is() { # peer_is COMMANDS: how it is imported
  program python3 'case "$*" in
    *"import torch"*) '"$1"' ;;
    *gpu_peer_pytorch.py*) echo "{\"engine\": \"pytorch 2 ${*: -1}\", \"model\": \"$2\", \"step_seconds\": 0.5, \"tokens_per_s\": 14}" ;;
    *) exec '"$(command -v python3)"' "$@" ;;
  esac'
}
peer_is '[[ ${LD_LIBRARY_PATH:-} == "'"$own"'" ]]'
table=$(on_fake --part speed-124m) || true
expect "a peer with libraries of its own" "$table" "^PyTorch's steps, gpt2-124m, compiled +passed"
expect "a peer with libraries of its own" "$table" '^gpt2-124m: 0.50 times PyTorch compiled'
peer_is 'echo "no module named torch"; exit 1'
said=$(PATH=$fake:$PATH bash "$tests/gpu.sh" --bin "$fake" --results "$work/gathered" --part speed-124m --part nccl 2>&1 >/dev/null) || true
rm "$fake/python3"
expect "what is not here" "$said" '^gpu.sh: no PyTorch with CUDA here \(no module named torch\)'
expect "what is not here" "$said" '^gpu.sh: one GPU here: '
[[ $(grep -n -m 1 'no PyTorch' <<<"$said" | cut -d: -f1) -lt $(grep -n -m 1 'GPT-2 steps' <<<"$said" | cut -d: -f1) ]] ||
  complain "what is not here is not said before the first check: $said"
on_fake --part speed-124m >/dev/null || true

# If a program cannot be built, only its part is left out; a later run includes it.
mv "$fake/telemetry_share_bench" "$work/away"
table=$(on_fake --part telemetry --part verify --quick) && complain "a part without its program is no failure"
expect "what was not built" "$table" '^part telemetry +not built$'
expect "what was built beside it" "$table" '^verify data=2 tensor=2 pipeline=2 +passed'
mv "$work/away" "$fake/telemetry_share_bench"
table=$(on_fake --part telemetry) || true
grep -q "not built" <<<"$table" && complain "what was built since is not built"
if on_fake --bin "$work" --part telemetry >/dev/null; then complain "nothing at all is run"; fi

# Two GPUs: ranks over NCCL; their recordings have phases, or have none.
program nvidia-smi '[[ $1 == --list-gpus ]] && printf "GPU 0\nGPU 1\n" || echo "a GPU that is none, 1, 2 MiB"'
program mpirun 'exit 0'
program rankscope-engine '[[ "$*" != *kill_rank=1* ]] || { echo "rankscope-engine: rank 1 was killed" >&2; exit 1; }'
program rankscope-trace 'echo "     12  /rankscope/spans"; [[ $2 != *plan* ]] || echo "     34  /rankscope/phases"'
table=$(on_fake --part nccl) || true
expect "two simulated GPUs" "$table" '^run over nccl by mpirun, phases recorded, data=2 zero=3 +passed'
expect "two simulated GPUs" "$table" '^run over nccl by mpirun, a rank that dies is named +passed'
expect "two simulated GPUs" "$table" '^a GPU for each rank, over NCCL +all +9 of 9  met$'
program rankscope-trace 'echo "     12  /rankscope/spans"'
program rankscope-engine 'exit 0'
table=$(on_fake --part nccl) || true
expect "no phases" "$table" '^run over nccl by mpirun, phases recorded, data=2 +FAILED'
expect "a rank that does not die" "$table" '^run over nccl by mpirun, a rank that dies is named +FAILED'
expect "what fails over nccl" "$table" '^a GPU for each rank, over NCCL +all +4 of 9  MISSED$'

# The cost of NCCL's profiler: slow first steps do not count; the environment can turn the profiler off.
steps_of() { # steps_of HEARD UNHEARD: an engine whose steps take so many seconds
  program rankscope-engine 's=$([[ ${NCCL_PROFILER_PLUGIN:-} == none ]] && echo '"$2"' || echo '"$1"')
    one="{\"seconds\": $s}" slow="{\"seconds\": 9}"
    echo "{\"steps\": [$slow, $slow, $slow, $slow, $slow, $one, $one, $one]}"'
}
steps_of 0.1004 0.1
table=$(on_fake --part nccl-profiler) || true
expect "NCCL's profiler" "$table" '^NCCL with and without profiler, GPT-2 124M on two GPUs, 8 pairs of 40 steps +passed'
expect "NCCL's profiler" "$table" "^cost of NCCL's profiler: mean \+0.40 %, .*\(under 1 %\)\$"
expect "NCCL's profiler" "$table" "^NCCL's profiler, 95 % upper bound of its cost +< 1 % +\+0.40 %  met\$"
steps_of 0.103 0.1
table=$(NCCL_PROFILER_PLUGIN=none on_fake --part nccl-profiler) || true
expect "a profiler that costs too much" "$table" "^NCCL's profiler, 95 % upper bound of its cost +< 1 % +\+3.00 %  MISSED\$"
program nvidia-smi '[[ $1 == --list-gpus ]] && echo "GPU 0" || echo "a GPU that is none, 1, 2 MiB"'
program rankscope-engine "$engine_that_differs"
rows=$(wc -l <"$work/gathered/rows.tsv")
table=$(on_fake --part verify --seconds 30) || true
expect "what there was no time for" "$table" '^verify data=4 zero=2 +no time$'
expect "what another part has left" "$table" '^a kernel at 90% of its limit$'
[[ $(wc -l <"$work/gathered/rows.tsv") == "$rows" ]] || complain "a check that is run again has two rows"
steps=$(grep -c rankscope "$work/gathered/speed.jsonl")
on_fake --part speed-124m >/dev/null || true
[[ $(grep -c rankscope "$work/gathered/speed.jsonl") == "$steps" ]] || complain "steps that are measured again are two"

# Parts run in the order in which they are named, and begin with what an earlier command has left.
order=$(bash "$tests/gpu.sh" --dry-run --bin "$work" --part telemetry --part kernels | sed -n 's/ (at most .*//p' | head -n 2 | paste -sd'|')
[[ $order == "telemetry on and off,"*"|every op, every type, small sizes" ]] || complain "parts in another order: $order"
rm -rf "$work/next"
table=$(on_fake --part kernels --results "$work/next" --earlier "$work/gathered") || true
expect "what an earlier command has left" "$table" '^verify data=4 zero=2 +no time$'
expect "what came to it" "$table" '^every op, every type, sizes of models +passed'

rm -rf "$work/next" "$work/few"
mkdir "$work/few"
cp "$work/gathered/rows.tsv" "$work/few/"
table=$(on_fake --part kernels --results "$work/next" --earlier "$work/few") || true
expect "what an earlier command has left of all files but one" "$table" '^verify data=4 zero=2 +no time$'
expect "what came to that" "$table" '^every op, every type, sizes of models +passed'

# The table, from the results of two parts.
mkdir "$work/results"
echo "NVIDIA H200, 580.1, 143771 MiB" >"$work/results/machine.txt"
printf 'verify one rank\tpassed\t3\nverify data=2\tpassed\t5\ntelemetry\tno time\t0\n' >"$work/results/rows.tsv"
{
  echo "a warning that is none of its business"
  echo '{"engine": "rankscope", "model": "gpt2-124m", "step_seconds": 0.05, "tokens_per_s": 600000, "mfu": 0.5,
         "limits": {"memory_bytes": 3.0e12, "product_flops": 8.0e14},
         "classes": {"attention": {"of_step": 0.25, "of_limit": 0.5}}, "memory": {"used_bytes": 2147483648,
         "predicted_bytes": 2147483648, "off_by": 0.0, "context_bytes": 536870912, "workspace_bytes": 33554432}}' | tr -d '\n'
  echo
  echo '{"engine": "pytorch 2.11.0 eager", "model": "gpt2-124m", "step_seconds": 0.1, "tokens_per_s": 300000}'
  echo '{"engine": "pytorch 2.11.0 compiled", "model": "gpt2-124m", "step_seconds": 0.0625, "tokens_per_s": 480000}'
} >"$work/results/speed.jsonl"
echo "cost of telemetry: mean +0.40 %, median +0.30 %, 95 % upper bound of the mean +0.70 % of a step" >"$work/results/telemetry.txt"
table=$(bash "$tests/gpu.sh" --table --results "$work/results") || complain "the table of what passed fails"
expect "the table" "$table" '^GPU: NVIDIA H200'
expect "the table" "$table" '^verify data=2 +passed +5 s$'
expect "the table" "$table" '^telemetry +no time$'
expect "the table" "$table" '^2 passed, 1 no time$'
expect "the table" "$table" '^gpt2-124m +rankscope +50.00 ms +600000 +50.0%$'
expect "the table" "$table" '^gpt2-124m: 1.25 times PyTorch compiled'
expect "the table" "$table" 'attention +25.0% of the step, +50.0% of its limit'
expect "the table" "$table" 'memory 2.00 GiB, predicted 2.00 GiB \(\+0.0%'
expect "the table" "$table" 'cost of telemetry: .*\(under 1 %\)$'
expect "the measures" "$table" "^gpt2-124m: tokens/s over PyTorch compiled's +>= 1.1 +1.25  met +600000/s; compiled 480000/s, eager 300000/s\$"
expect "the measures" "$table" '^gpt2-124m: MFU +printed +50.0%  met +compiled 40.0%, eager 25.0%$'
expect "the measures" "$table" '^gpt2-124m: attention, share of its limit +printed +50.0%  met +3.0 TB/s, 800 TFLOP/s$'
expect "the measures" "$table" "^telemetry's cost, 95 % upper bound +< 1 % +\+0.70 %  met\$"
expect "the measures" "$table" '^compute-sanitizer +all +0 of 0  not measured$'
printf 'compute-sanitizer\tFAILED\t9\n' >>"$work/results/rows.tsv"
if bash "$tests/gpu.sh" --table --results "$work/results" >/dev/null; then complain "a failed check does not fail the table"; fi
if bash "$tests/gpu.sh" --table --results "$work/none" >/dev/null 2>&1; then complain "nothing is a table"; fi
exit $wrong
