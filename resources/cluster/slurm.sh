#!/usr/bin/env bash
# Trains a scenario on nodes allocated by Slurm, from a folder that all nodes share:
#   sbatch --ntasks=8 resources/cluster/slurm.sh scenarios/labs/grid.toml [arguments of rankscope-engine run]
# --ntasks is the number of ranks of the plan. The recording is SCENARIO.JOB.mcap, the report is in slurm-JOB.out.
#SBATCH --job-name=rankscope
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=1
#SBATCH --time=01:00:00
#SBATCH --signal=B:USR1@60
set -euo pipefail
[[ $# -ge 1 ]] || {
  echo "slurm.sh: give a scenario: sbatch --ntasks=4 $0 SCENARIO [arguments of rankscope-engine run]" >&2
  exit 2
}
scenario=$1
shift
# A minute before the end of its time, and when it is cancelled, a run with checkpoints saves its last step and ends with
# status 10. The same line then continues it:
#   sbatch --ntasks=8 resources/cluster/slurm.sh grid.toml --checkpoint grid --checkpoint-every 100 --resume grid
# The supervisor is outside the MPI job, in the step of this script: it can report a rank that dies, and restart the ranks
# from a checkpoint (--restarts). mpirun gets the allocated nodes from Slurm.
exec rankscope-engine run "$scenario" --comm mpi --threads "${SLURM_CPUS_PER_TASK:-1}" \
  --record "$(basename "$scenario" .toml).$SLURM_JOB_ID.mcap" "$@"
