#!/usr/bin/env bash
# oracle.sh WRITTEN_RUN SCENARIO [key=value …]: the engine's run against PyTorch's. Status 77 without PyTorch: skipped.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# Debian's package belongs to Debian's python3, which need not be the first in PATH.
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import torch' 2>/dev/null; then python=$candidate; break; fi
done
[[ -n $python ]] || { echo "oracle.sh: no PyTorch here (Debian: python3-torch)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$2" "$folder/run.safetensors" "${@:3}"
"$python" "$here/torch_gpt.py" "$folder/run.safetensors"
