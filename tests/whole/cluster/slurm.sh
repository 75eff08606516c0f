#!/usr/bin/env bash
# Runs a command with its own Slurm: munge, controller and node daemon on this machine, in namespaces, so that no port
# or file of a real Slurm is used. Everything is removed when the command ends.
#   slurm.sh FOLDER COMMAND…     Exit status 77: this is impossible here; standard error has the reason.
set -euo pipefail
cores=8 address=10.92.0.1  # the number of tasks that tests start, on any machine

cannot() {
  printf 'slurm.sh: %s\n' "$*" >&2
  exit 77
}

if [[ $1 != --inside ]]; then
  folder=$1
  shift
  [[ $(id -u) -eq 0 ]] || cannot "its daemons need root"
  PATH=$PATH:/usr/sbin:/sbin
  for program in unshare ip munged slurmctld slurmd srun sbatch mpirun; do
    command -v "$program" >/dev/null || cannot "there is no $program (packages: util-linux, iproute2, slurm-wlm, munge, openmpi-bin)"
  done
  namespaces=(--net --mount --uts --pid --fork --mount-proc --propagation private)
  unshare "${namespaces[@]}" ip link add probe type bridge 2>/dev/null ||
    cannot "this system lets nobody make namespaces of networks"
  exec unshare "${namespaces[@]}" --kill-child bash "$0" --inside "$folder" "$@"
fi

folder=$2
shift 2
own=$folder/slurm
mkdir -p "$own/state" "$own/spool"
# Slurm resolves addresses only if there is an interface other than loopback.
hostname node
ip link set lo up
ip link add eth0 type bridge
ip address add "$address/24" dev eth0
ip link set eth0 up
printf '127.0.0.1 localhost\n%s node\n' "$address" >"$own/hosts"
mount --bind "$own/hosts" /etc/hosts

head -c 128 /dev/urandom >"$own/munge.key"
chmod 600 "$own/munge.key"
munged --force --socket "$own/munge.sock" --key-file "$own/munge.key" --pid-file "$own/munge.pid" \
  --log-file "$own/munge.log" --seed-file "$own/munge.seed" 2>"$own/munge.errors" ||
  cannot "munged does not start: $(tail -n 1 "$own/munge.errors")"
cat >"$own/slurm.conf" <<END
ClusterName=test
SlurmctldHost=node($address)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$own/munge.sock
CredType=cred/munge
StateSaveLocation=$own/state
SlurmdSpoolDir=$own/spool
SlurmctldPidFile=$own/controller.pid
SlurmdPidFile=$own/daemon.pid
SlurmctldLogFile=$own/controller.log
SlurmdLogFile=$own/daemon.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
NodeName=node NodeAddr=$address CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$own/slurm.conf
slurmctld 2>"$own/errors" && slurmd -N node 2>>"$own/errors" || cannot "Slurm does not start: $(tail -n 1 "$own/errors")"
for ((i = 0; i < 100; ++i)); do
  [[ $(timeout 2 sinfo --noheader --format %t 2>>"$own/errors") != idle ]] || break
  [[ $i -lt 99 ]] || cannot "Slurm's node does not come up: $(tail -n 1 "$own/daemon.log")"
  sleep 0.1
done

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset OMPI_MCA_rmaps_base_oversubscribe
"$@"
