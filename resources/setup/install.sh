#!/usr/bin/env bash
# Installs what packages.txt names and this machine lacks (Debian 12, Ubuntu 24.04). Does nothing, and needs no network
# and no rights, when all is there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=resources/setup/common.sh
source "$here/common.sh"

list=$here/packages.txt
mapfile -t wanted < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$list")

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  if command -v cmake >/dev/null && command -v c++ >/dev/null; then
    say "no apt-get here, so nothing is installed; $list lists the required packages"
    exit 0
  fi
  fail "no apt-get on this system: install what $list names, under the names your system has for it"
fi

is_installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
is_known() { [[ -n $(apt-cache madison "$1" 2>/dev/null) ]]; }

# Whether an entry of the list needs nothing done: "a|b" if one is installed, "a?" also if apt does not know it.
is_satisfied() {
  local name
  for name in ${1//[|?]/ }; do is_installed "$name" && return 0; done
  [[ $1 == *\? ]] && ! is_known "${1%\?}"
}

missing=()
for names in "${wanted[@]}"; do is_satisfied "$names" || missing+=("$names"); done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || fail "not root and no sudo here: as root run bash $here/install.sh, or install: ${missing[*]}"
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1 && return 0
  tail -n 15 "$log" >&2
  return 1
}

apt update || fail "apt-get update failed (above): is there a network, and are the package sources right?"

packages=()
for names in "${wanted[@]}"; do  # once more, since apt may know more now
  is_satisfied "$names" && continue
  found=
  for name in ${names//[|?]/ }; do
    if is_known "$name"; then
      found=$name
      break
    fi
  done
  [[ -n $found ]] || fail "apt knows no package named ${names//|/ or }: on Ubuntu the universe component must be enabled"
  packages+=("$found")
done
say "installing ${#packages[@]} packages: ${packages[*]}"
with_progress "installing" true apt install --yes --no-install-recommends "${packages[@]}" || fail "apt-get install failed (above) for: ${packages[*]}"
