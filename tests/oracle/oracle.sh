#!/usr/bin/env bash
# oracle.sh WRITTEN_RUN SCENARIO [key=value …]: the engine's run against PyTorch's. Status 77 without PyTorch: skipped.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source "$here/python_with.sh"
python=$(python_with torch) || { echo "oracle.sh: no PyTorch here (Debian: python3-torch)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$2" "$folder/run.safetensors" "${@:3}"
"$python" "$here/torch_gpt.py" "$folder/run.safetensors"
