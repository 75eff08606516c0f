#!/usr/bin/env bash
# oracle.sh WRITTEN_RUN SCENARIO SCRIPT MODULE [key=value …]: the engine's run against PyTorch's, done again by SCRIPT, which
# needs Python's MODULE. Status 77 without it: skipped.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source "$here/python_with.sh"
python=$(python_with "$4") || { echo "oracle.sh: no $4 here (Debian: python3-torch, python3-torchvision)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$2" "$folder/run.safetensors" "${@:5}"
"$python" "$here/$3" "$folder/run.safetensors"
