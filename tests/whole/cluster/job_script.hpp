// Runs that a cluster's own programs start: shell scripts with mpirun, or on hosts and under a Slurm that are made of
// namespaces of this machine (hosts.sh, slurm.sh).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

namespace rankscope::test {

using Arguments = std::vector<std::string>;

/// The command of a run of a small pipeline with four ranks.
std::string lab_run(const Arguments& more);
/// The environment in which root may start MPI jobs, and a machine may have fewer cores than ranks.
StartOptions job_environment();
/// A shell script's run in that environment; `before`: a command that starts it.
Ended script(const Folder& folder, const std::string& text, const Arguments& before = {});
/// The same inside what hosts.sh or slurm.sh makes. None, with a message, if it cannot be made here: which is tried
/// once.
std::optional<Ended> script_on(const std::string& cluster, const Folder& folder, const std::string& text);

std::vector<double> losses(const json& report);
/// Of the same run with threads in the place of processes.
std::vector<double> losses_of_threads(const Folder& folder, int steps);
/// The part of the output that our program wrote.
std::string own_lines(const std::string& errors);

}  // namespace rankscope::test
