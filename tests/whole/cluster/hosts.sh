#!/usr/bin/env bash
# Runs a command on the first of three hosts, a, b and c, which are namespaces of this machine: each has its own
# network, name, monotonic clock and folder for temporary files (so no host sees another's sockets and spools), the
# clocks are 10,000 s apart, and ssh connects every two hosts. Everything is removed when the command ends.
#   hosts.sh FOLDER COMMAND…     Exit status 77: this is impossible here; standard error has the reason.
set -euo pipefail
clock_of_b=10000 clock_of_c=20000

cannot() {
  printf 'hosts.sh: %s\n' "$*" >&2
  exit 77
}

if [[ $1 != --inside ]]; then
  folder=$1
  shift
  [[ $(id -u) -eq 0 ]] || cannot "namespaces with networks need root"
  PATH=$PATH:/usr/sbin:/sbin
  for program in unshare ip ssh ssh-keygen sshd mpirun; do
    command -v "$program" >/dev/null || cannot "there is no $program (packages: util-linux, iproute2, openssh-server, openmpi-bin)"
  done
  namespaces=(--net --mount --uts --pid --fork --mount-proc --propagation private)
  unshare "${namespaces[@]}" unshare --time --monotonic 1 --fork ip link add probe type bridge 2>/dev/null ||
    cannot "this system lets nobody make namespaces of networks and clocks"
  exec unshare "${namespaces[@]}" --kill-child bash "$0" --inside "$folder" "$@"
fi

folder=$2
shift 2
own=$folder/cluster
mkdir -p "$own" "$folder/tmp" /run/sshd

printf '127.0.0.1 localhost\n10.91.0.1 a\n10.91.0.2 b\n10.91.0.3 c\n' >"$own/hosts"
mount --bind "$own/hosts" /etc/hosts
hostname a
ip link set lo up
ip link add bridge type bridge
ip address add 10.91.0.1/24 dev bridge
ip link set bridge up

ssh-keygen -q -t ed25519 -N '' -f "$own/key"
ssh-keygen -q -t ed25519 -N '' -f "$own/host_key"
cp "$own/key.pub" "$own/authorized"
cat >"$own/sshd_config" <<END
HostKey $own/host_key
AuthorizedKeysFile $own/authorized
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
SetEnv TMPDIR=$folder/tmp
END
cat >"$own/ssh_config" <<END
Host *
  User root
  IdentityFile $own/key
  UserKnownHostsFile /dev/null
  StrictHostKeyChecking no
  BatchMode yes
  LogLevel ERROR
END

# make_host NAME ADDRESS CLOCK: starts sshd in its own namespaces, connected to the bridge.
make_host() {
  unshare --net --uts --mount --time --monotonic "$3" --fork bash -c '
    set -e
    hostname "$0"
    mount -t tmpfs tmpfs "$1/tmp"
    echo "$BASHPID" >"$1/cluster/pid.$0"
    until ip link show eth0 >/dev/null 2>&1; do sleep 0.01; done
    ip link set lo up
    ip address add "$2/24" dev eth0
    ip link set eth0 up
    exec "$(command -v sshd)" -D -e -f "$1/cluster/sshd_config" 2>"$1/cluster/sshd.$0"' "$1" "$folder" "$2" &
  until [[ -s $own/pid.$1 ]]; do sleep 0.01; done
  ip link add "to-$1" type veth peer name eth0 netns "$(cat "$own/pid.$1")"
  ip link set "to-$1" master bridge up
}
make_host b 10.91.0.2 "$clock_of_b"
make_host c 10.91.0.3 "$clock_of_c"
for host in b c; do
  for ((i = 0; i < 100; ++i)); do
    ssh -F "$own/ssh_config" -o ConnectTimeout=2 "$host" true 2>"$own/ssh.$host" && continue 2
    sleep 0.1
  done
  cannot "ssh to $host does not work: $(tail -n 1 "$own/ssh.$host")"
done

# The files that a user has in ~/.ssh. Root may start MPI jobs here.
export OMPI_MCA_plm_rsh_args="-F $own/ssh_config" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset OMPI_MCA_rmaps_base_oversubscribe
TMPDIR=$folder/tmp "$@"
