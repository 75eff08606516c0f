#!/usr/bin/env bash
# Installs a browser for the test that opens an exported page: Debian's chromium, about 80 MB to download.
# Only for continuous integration; if it cannot be installed, the test is skipped with a message. (Ubuntu's package is a
# snap, which does not run in containers.)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=resources/setup/common.sh
source "$here/common.sh"

for program in chromium chromium-browser google-chrome; do
  if command -v "$program" >/dev/null; then exit 0; fi
done
if [[ $(id -u) -ne 0 || -z ${CI:-} ]] || ! command -v apt-get >/dev/null || [[ $(. /etc/os-release && echo "$ID") != debian ]]; then
  say "without a browser (install chromium yourself if you like) the test that opens an exported page will be skipped"
  exit 0
fi
say "installing chromium for the test that opens an exported page"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if (apt-get -qq update && DEBIAN_FRONTEND=noninteractive timeout 240 apt-get -qq -o DPkg::Lock::Timeout=300 install --yes \
  --no-install-recommends chromium) >"$log" 2>&1 && command -v chromium >/dev/null; then exit 0; fi
tail -n 3 "$log" >&2
say "chromium could not be installed (above): the test that opens an exported page will be skipped"
