#include "tests/whole/cluster/job_script.hpp"

#include <algorithm>
#include <map>

#include "tests/judged.hpp"
#include "tests/places.hpp"

namespace rankscope::test {

std::string lab_run(const Arguments& more) {
  Arguments all = with_small_model({"run", lab("pipeline-1f1b")});
  all.insert(all.end(), more.begin(), more.end());
  return quoted(engine_command(all));
}

StartOptions job_environment() {
  return {.environment = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                          "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_base_binding_policy=none"},
          .input = {}};
}

Ended script(const Folder& folder, const std::string& text, const Arguments& before) {
  Arguments command = before;
  command.insert(command.end(), {"/bin/bash", folder.file("script", "set -eu\n" + text)});
  return Process(folder, command, job_environment()).wait(a_minute);
}

std::optional<Ended> script_on(const std::string& cluster, const Folder& folder, const std::string& text) {
  static std::map<std::string, std::string> impossible;  // by cluster, why
  if (!can_use_mpi()) return std::nullopt;
  if (!impossible[cluster].empty()) return std::nullopt;
  const std::string maker = source_folder() + "/tests/whole/cluster/" + cluster;
  Ended ended = script(folder, text, {"/bin/bash", maker, folder.path().string()});
  if (ended.status != skipped_status) return ended;
  impossible[cluster] = ended.err;
  not_judged("ranks on a cluster that cannot be made here: " + ended.err);
  return std::nullopt;
}

std::vector<double> losses(const json& report) {
  std::vector<double> all;
  for (const json& step : report["steps"]) all.push_back(step["loss"]);
  return all;
}

std::vector<double> losses_of_threads(const Folder& folder, int steps) {
  return losses(only_object(script(folder, lab_run({"--json", "--steps", std::to_string(steps)}))));
}

std::string own_lines(const std::string& errors) {
  std::string own;
  for (std::size_t at = 0; at < errors.size();) {
    const std::size_t end = std::min(errors.find('\n', at), errors.size());
    const std::string line = errors.substr(at, end - at);
    if (line.starts_with("rankscope-engine: ")) own += line.substr(line.find(' ') + 1) + "\n";
    at = end + 1;
  }
  return own;
}

}  // namespace rankscope::test
