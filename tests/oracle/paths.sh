#!/usr/bin/env bash
# paths.sh ENGINE: compares optimizers on surfaces with PyTorch's. Status 77 (skipped) without PyTorch.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source "$here/python_with.sh"
python=$(python_with torch) || { echo "paths.sh: no PyTorch here (Debian: python3-torch)"; exit 77; }
"$python" "$here/torch_paths.py" "$1"
