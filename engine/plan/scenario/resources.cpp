#include "engine/plan/scenario/resources.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Folders KIND beside or above a scenario file, nearest first.
std::vector<fs::path> folders_seen(const std::string& kind, const fs::path& scenario_file) {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path start = fs::absolute(scenario_file, error).lexically_normal().parent_path();
  for (fs::path folder = start; !folder.empty(); folder = folder.parent_path()) {
    folders.push_back(folder / kind);
    if (folder == folder.parent_path()) break;
  }
  for (const fs::path& folder : resource_folders()) folders.push_back(folder / kind);
  return folders;
}

}  // namespace

std::vector<fs::path> resource_folders() {
  std::vector<fs::path> folders;
  const auto add = [&](const fs::path& folder) {
    std::error_code error;
    if (!folder.empty() && fs::is_directory(folder, error)) folders.push_back(folder);
  };
  if (const char* set = std::getenv("RANKSCOPE_RESOURCES")) {
    add(set);
    add(fs::path(set) / "scenarios");
  }
  // A user's own labs and courses, in the usual place for such files (XDG Base Directory Specification).
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data != '\0')
    add(fs::path(data) / "rankscope");
  else if (const char* home = std::getenv("HOME"))
    add(fs::path(home) / ".local" / "share" / "rankscope");
  std::error_code error;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error)
    add((program.parent_path() / RANKSCOPE_SCENARIOS_FROM_PROGRAM).lexically_normal());
  std::istringstream compiled_in(RANKSCOPE_SCENARIO_FOLDERS);
  for (std::string folder; std::getline(compiled_in, folder, ':');) add(folder);
  return folders;
}

std::vector<fs::path> toml_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".toml" && entry->is_regular_file(error)) files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  return files;
}

fs::path find_resource(const std::string& kind, const std::string& name, const fs::path& scenario_file) {
  std::error_code error;
  for (const fs::path& folder : folders_seen(kind, scenario_file))
    if (const fs::path file = folder / (name + ".toml"); fs::is_regular_file(file, error)) return file;
  return {};
}

fs::path find_scenario(const std::string& named) {
  std::error_code error;
  if (fs::exists(named, error)) return named;
  if (named.find('/') != std::string::npos) return {};
  for (const fs::path& folder : resource_folders())
    for (const char* kind : {"labs", "models"})
      if (const fs::path file = folder / kind / (named + ".toml"); fs::is_regular_file(file, error)) return file;
  return {};
}

std::vector<std::string> known_resources(const std::string& kind, const fs::path& scenario_file) {
  std::set<std::string> names;
  for (const fs::path& folder : folders_seen(kind, scenario_file))
    for (const fs::path& file : toml_files(folder)) names.insert(file.stem().string());
  return {names.begin(), names.end()};
}

std::vector<fs::path> resource_files(const std::string& kind) {
  std::map<std::string, fs::path> by_name;
  for (const fs::path& folder : resource_folders())
    for (const fs::path& file : toml_files(folder / kind)) by_name.emplace(file.filename().string(), file);
  std::vector<fs::path> files;
  for (const auto& [name, file] : by_name) files.push_back(file);
  return files;
}

}  // namespace rankscope
