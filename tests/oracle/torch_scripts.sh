#!/usr/bin/env bash
# torch_scripts.sh ENGINE: scripts of export-torch, run by PyTorch beside the engine. Status 77 where there is no PyTorch
# that has their modules: skipped.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source "$here/python_with.sh"
python=$(python_with numpy torch.distributed.pipelining) || {
  echo "torch_scripts.sh: no PyTorch 2.6 with numpy here (pip install torch numpy)"
  exit 77
}
OMP_NUM_THREADS=1 "$python" "$here/torch_scripts.py" run "$1"
