// Reads a scenario file (TOML) and the cluster file it names, applies overrides, and rejects invalid scenarios.
#pragma once
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plan/scenario/check.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Bad input: what() is one line, "file:line:column: error; correction".
struct ScenarioError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "key=value" as typed after --set: `plan.pipeline=4`, or `pipeline=4` if only one table has that key.
struct Override {
  std::string key, value;
};
Override parse_override(const std::string& text);

/// "plan.pipeline" for "pipeline" or "plan.pipeline" as typed. Throws ScenarioError with `at` in front for a key that
/// does not exist, or that several tables have.
std::string full_key(const std::string& typed, const std::string& at);
/// Where a key ("plan.pipeline") was set: "FILE:LINE:COLUMN", or the text of the override; "FILE:1:1" if it
/// has its default. Throws ScenarioError as read_scenario does.
std::string place_of_key(const std::string& path, const std::vector<Override>& overrides, const std::string& key);
/// Puts a value, as allowed after "=" in `given`, into a scenario; throws ScenarioError with `at` in front for one
/// of the wrong type, or an unknown name. Whether the scenario is still valid is not checked.
void set_value(Scenario& scenario, const Override& given, const std::string& at);

/// Why another room rejects a scenario, if it does; the message then contains the place of the error's first key.
using ExtraCheck = std::function<std::optional<Complaint>(const Scenario&)>;

/// Reads, applies the overrides in order, checks. `cluster.spec` names a file under the folder "clusters" beside or
/// above the scenario, or in the installed resources. Throws ScenarioError.
/// `extra_check` is called last: other rooms' checks of the scenario.
Scenario read_scenario(const std::string& path, const std::vector<Override>& overrides = {},
                       const ExtraCheck& extra_check = {});
/// Only reads and applies: the result is not checked, because it will be changed further. An unknown name
/// is rejected.
Scenario read_unchecked(const std::string& path, const std::vector<Override>& overrides = {});
/// The same from text; `name` replaces the file in messages.
Scenario parse_scenario(const std::string& text, const std::string& name, const std::vector<Override>& overrides = {});

/// Reads to_toml's output, as stored in a trace: needs no other file, and accepts what this engine cannot run.
Scenario parse_recorded_scenario(const std::string& text);

/// A figure of a cluster that a scenario changed.
struct ChangedFigure {
  std::string_view name;  ///< as in [cluster] or [software]: "intra_bandwidth"
  std::string value;      ///< as after --set
};
/// Those that differ from the file of `cluster.spec`, in the order of the keys; none if there is no such file,
/// or it is rejected.
std::vector<ChangedFigure> changed_figures(const ClusterSpec& cluster);

/// Checks without file positions (a scenario created in memory): throws ScenarioError with the keys.
void check_scenario(const Scenario& scenario);

/// Path of the file behind `data.source`, relative ones resolved against the scenario's folder; empty for "synthetic".
std::string data_file(const Scenario& scenario);

/// The scenario as TOML that read_scenario accepts (it is stored in traces).
std::string to_toml(const Scenario& scenario);

}  // namespace rankscope
