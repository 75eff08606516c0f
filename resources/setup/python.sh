#!/usr/bin/env bash
# Makes a Python environment under build/python with what tests ask of other people's programs: PyPI's mcap, an MCAP
# reader that is not ours. Where it cannot be had, those tests are skipped and say so.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=resources/setup/common.sh
source "$root/resources/setup/common.sh"

environment=$root/build/python
wanted=(mcap zstandard)
has_all() { [[ -x $environment/bin/python3 ]] && "$environment/bin/python3" -c 'import mcap, zstandard' 2>/dev/null; }

if has_all; then exit 0; fi
mkdir -p "$root/build"
log=$root/build/python.log
say "installing the Python packages ${wanted[*]} into build/python"
if python3 -m venv "$environment" >"$log" 2>&1 &&
  timeout 180 "$environment/bin/pip" install --quiet --disable-pip-version-check "${wanted[@]}" >>"$log" 2>&1 && has_all; then
  exit 0
fi
say "they cannot be had here ($log): the tests that need them will be skipped"
