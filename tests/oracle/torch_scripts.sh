#!/usr/bin/env bash
# torch_scripts.sh ENGINE: compares export-torch's scripts, run by PyTorch, with the engine. Status 77 (skipped) without
# PyTorch, or with an old version.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source "$here/python_with.sh"
python=$(python_with numpy torch) || { echo "torch_scripts.sh: no PyTorch with numpy here (pip install torch numpy)"; exit 77; }
# In PyTorch 2.6, its own 1F1B never ends over gloo.
if ! "$python" -c 'import torch; raise SystemExit(tuple(map(int, torch.__version__.split(".")[:2])) < (2, 8))'; then
  echo "torch_scripts.sh: PyTorch here is older than 2.8"
  exit 77
fi
OMP_NUM_THREADS=1 "$python" "$here/torch_scripts.py" run "$1"
