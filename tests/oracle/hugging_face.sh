#!/usr/bin/env bash
# hugging_face.sh ENGINE WRITTEN_RUN SCENARIO [key=value …]: compares an exported model, read by transformers,
# with the same weights in PyTorch. Status 77 (skipped) without either package. The engine trains under the plan of the
# keys, and written_run on one rank: any plan trains the same model.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source "$here/python_with.sh"
python=$(python_with torch transformers) || { echo "hugging_face.sh: no PyTorch with transformers here"; exit 77; }
engine=$1 written_run=$2 scenario=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
set_keys=()
for key in "${@:4}"; do set_keys+=(--set "$key"); done
model_keys=()
for key in "${@:4}"; do if [[ $key == model.* ]]; then model_keys+=("$key"); fi; done
"$written_run" "$scenario" "$folder/run.safetensors" "${model_keys[@]}"
"$engine" run "$scenario" --steps 20 --checkpoint "$folder/checkpoints" --checkpoint-every 20 "${set_keys[@]}" >"$folder/log"
"$engine" export "$folder/checkpoints" "$folder/model"
"$python" "$here/hugging_face.py" "$folder/run.safetensors" "$folder/model"
