#!/usr/bin/env bash
# oracle.sh WRITTEN_RUN SCENARIO SCRIPT MODULE [key=value …]: compares the engine's run with PyTorch's, which SCRIPT
# does. SCRIPT needs Python's MODULE; status 77 (skipped) without it.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source "$here/python_with.sh"
python=$(python_with "$4") || { echo "oracle.sh: no $4 here (Debian: python3-torch, python3-torchvision)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$2" "$folder/run.safetensors" "${@:5}"
"$python" "$here/$3" "$folder/run.safetensors"
