// Finds the folders of scenarios, labs and clusters.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace rankscope {

/// Folders that hold `labs`, `models` and `clusters`, best first: the environment variable RANKSCOPE_RESOURCES if set,
/// those of the installation that the running program is in, then the source tree's and the configured installation's,
/// as compiled in. Folders that do not exist are left out.
std::vector<std::filesystem::path> resource_folders();

/// All files of that kind ("clusters", "software") that can be named from there, without .toml.
std::vector<std::string> known_resources(const std::string& kind, const std::filesystem::path& scenario_file);

/// The scenario that a user names: that file, or else the lab or model of that name ("data-parallel", "gpt2-124m") in
/// the resource folders; empty if there is neither.
std::filesystem::path find_scenario(const std::string& named);

/// The files *.toml of a folder, by name; none if there is no such folder.
std::vector<std::filesystem::path> toml_files(const std::filesystem::path& folder);
/// The file KIND/NAME.toml ("clusters", "measured") in the folder of `scenario_file` or in those above it, then in the
/// resource folders; empty if there is none.
std::filesystem::path find_resource(const std::string& kind, const std::string& name,
                                    const std::filesystem::path& scenario_file);
/// The files KIND/*.toml of the resource folders ("labs", "courses"), by name; of equal names the better folder's.
std::vector<std::filesystem::path> resource_files(const std::string& kind);

}  // namespace rankscope
