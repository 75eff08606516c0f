#!/usr/bin/env bash
# Where cuDNN is, puts the headers of its front-end (nvidia-cudnn-frontend from PyPI, Apache-2.0 and MIT) into
# build/cudnn-frontend. If they cannot be downloaded, the program is built without cuDNN.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=resources/setup/common.sh
source "$root/resources/setup/common.sh"

has_cudnn() {
  local header
  for header in "${CUDA_HOME:-/usr/local/cuda}"/include/cudnn.h /usr/local/cuda*/include/cudnn.h /usr/include/{,*-linux-gnu/}cudnn.h; do
    [[ ! -f $header ]] || return 0
  done
  return 1
}
has_cudnn || exit 0

version=1.32.0
folder=$root/build/cudnn-frontend
if [[ -f $folder/include/cudnn_frontend.h && -f $folder/$version ]]; then exit 0; fi
rm -rf "$folder"
mkdir -p "$folder"
log=$root/build/cudnn-frontend.log
say "downloading the headers of nvidia-cudnn-frontend $version into build/cudnn-frontend"
if timeout 180 python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
  --dest "$folder" "nvidia-cudnn-frontend==$version" >"$log" 2>&1 &&
  python3 -c 'import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        if name.startswith("include/"):
            wheel.extract(name, sys.argv[2])' "$folder"/*.whl "$folder" >>"$log" 2>&1; then
  rm -f "$folder"/*.whl
  touch "$folder/$version"
  exit 0
fi
rm -rf "$folder"
say "they could not be downloaded ($log): the program is built without cuDNN"
