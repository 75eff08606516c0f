#!/usr/bin/env bash
# Installs what the tests of clusters need in addition to packages.txt: sshd for hosts made of namespaces, and Slurm. Only
# if systemd does not run (as in containers), since it would start these services. Otherwise, and if the installation
# fails, these tests are skipped with a message.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=resources/setup/common.sh
source "$here/common.sh"

packages=(iproute2 openssh-client openssh-server munge slurm-wlm)
PATH=$PATH:/usr/sbin:/sbin
has_all() {
  local program
  for program in ip ssh sshd munged slurmctld slurmd srun; do command -v "$program" >/dev/null || return 1; done
}

if has_all; then exit 0; fi
if [[ -d /run/systemd/system || $(id -u) -ne 0 ]] || ! command -v apt-get >/dev/null; then
  say "without ${packages[*]} (install them yourself if you like) the tests of clusters will be skipped"
  exit 0
fi
say "installing for tests of clusters: ${packages[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# RUNLEVEL: no service is started.
if (apt-get -qq update && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive timeout 180 apt-get -qq -o DPkg::Lock::Timeout=300 install --yes \
  --no-install-recommends "${packages[@]}") >"$log" 2>&1 && has_all; then exit 0; fi
tail -n 3 "$log" >&2
say "they could not be installed (above): the tests of clusters will be skipped"
