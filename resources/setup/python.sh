#!/usr/bin/env bash
# Makes a Python environment in build/python with the external programs that tests use: mcap from PyPI, an independent
# MCAP reader. If it cannot be installed, these tests are skipped with a message.
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
say "they could not be installed ($log): the tests that need them will be skipped"
