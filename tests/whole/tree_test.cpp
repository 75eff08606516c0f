// The folders are the architecture: no file of engine/ includes one of its own floor's other rooms, or of a floor
// above, and no folders of the whole tree include each other in a circle. resources/manual/architecture.md draws the
// floors.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/places.hpp"

namespace {

namespace fs = std::filesystem;

const fs::path root = rankscope::test::source_folder();

const std::map<std::string, int> floors = {{"base", 0},   {"op", 0},      {"step", 1},    {"plan", 2},  {"predict", 3},
                                           {"lesson", 3}, {"explain", 4}, {"execute", 4}, {"prove", 5}, {"worker", 6}};

struct Include {
  std::string file;      ///< from the root
  std::string included;  ///< as written
};

std::vector<Include> includes_below(const fs::path& folder) {
  std::vector<Include> all;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const std::string end = entry.path().extension().string();
    if (end != ".cpp" && end != ".hpp" && end != ".cu" && end != ".cuh") continue;
    std::ifstream text(entry.path());
    constexpr std::string_view begin = "#include \"";
    for (std::string line; std::getline(text, line);)
      if (line.starts_with(begin))
        all.push_back({fs::relative(entry.path(), root).string(),
                       line.substr(begin.size(), line.find('"', begin.size()) - begin.size())});
  }
  return all;
}

/// "plan" of "engine/plan/mesh/rank_grid.hpp"; empty for files outside of engine/.
std::string room_of(const std::string& path) {
  constexpr std::string_view engine = "engine/";
  if (!path.starts_with(engine)) return {};
  return path.substr(engine.size(), path.find('/', engine.size()) - engine.size());
}

bool starts_with_any(const std::string& text, std::initializer_list<const char*> beginnings) {
  for (const char* beginning : beginnings)
    if (text.starts_with(beginning)) return true;
  return false;
}

}  // namespace

TEST_CASE("every folder of engine/ is a room with a floor") {
  for (const auto& entry : fs::directory_iterator(root / "engine"))
    if (entry.is_directory()) CHECK(floors.contains(entry.path().filename().string()));
}

TEST_CASE("a folder of engine/ includes only itself and folders on lower floors") {
  const std::vector<Include> all = includes_below("engine");
  REQUIRE(all.size() > 1000);
  for (const auto& [file, included] : all) {
    const std::string from = room_of(file), to = room_of(included);
    if (to.empty() || to == from) continue;
    INFO(file << " includes " << included);
    REQUIRE(floors.contains(to));
    CHECK(floors.at(to) < floors.at(from));
  }
}

TEST_CASE("no folders include each other in a circle, whatever their rooms") {
  std::map<std::string, std::set<std::string>> included_by;  // by folder, such as "engine/predict/cost"
  for (const char* top : {"app", "engine", "kernels", "telemetry"})
    for (const auto& [file, included] : includes_below(top)) {
      const std::string from = fs::path(file).parent_path().string(), to = fs::path(included).parent_path().string();
      if (from != to && fs::exists(root / included)) included_by[from].insert(to);
    }
  REQUIRE(included_by.size() > 60);
  // Folders that include none of those left are removed, until none is left; a circle would stay.
  while (true) {
    const auto lowest = std::find_if(included_by.begin(), included_by.end(), [&](const auto& one) {
      return std::none_of(one.second.begin(), one.second.end(),
                          [&](const std::string& folder) { return included_by.contains(folder); });
    });
    if (lowest == included_by.end()) break;
    included_by.erase(lowest);
  }
  for (const auto& [folder, others] : included_by) FAIL_CHECK(folder << " is in a circle of includes");
}

TEST_CASE("telemetry's rooms know the vocabulary of ops and steps; only its programs know plans and analyses") {
  const std::set<std::string> programs = {"classroom", "cli", "page"};
  for (const auto& [file, included] : includes_below("telemetry")) {
    const std::string to = room_of(included);
    const std::string room = file.substr(10, file.find('/', 10) - 10);
    if (to.empty() || to == "base" || to == "op" || to == "step") continue;
    INFO(file << " includes " << included);
    CHECK(programs.contains(room));
  }
}

TEST_CASE("kernels include nothing but kernels, and only the window includes the window") {
  for (const auto& [file, included] : includes_below("kernels")) {
    INFO(file << " includes " << included);
    CHECK_FALSE(starts_with_any(included, {"engine/", "telemetry/", "app/"}));
  }
  for (const char* folder : {"engine", "telemetry"})
    for (const auto& [file, included] : includes_below(folder)) {
      INFO(file << " includes " << included);
      CHECK_FALSE(included.starts_with("app/"));
    }
}

TEST_CASE("no number is written by printf or read by strtod, whose decimal point is the locale's") {
  // %f, %.1f, %.*g, ...
  const std::regex by_locale("\\b(strto|sto)(d|f|ld)\\(|printf\\(.*%[-+ #0]*[.*0-9]*[fgeFGE]");
  for (const char* folder : {"app", "engine", "telemetry"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string end = entry.path().extension().string();
      if (end != ".cpp" && end != ".hpp") continue;
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        INFO(fs::relative(entry.path(), root).string() << ": " << line);
        CHECK_FALSE(std::regex_search(line, by_locale));
      }
    }
}

TEST_CASE("the window includes nothing that runs: no communicator, no executor, no kernel for GPUs") {
  for (const auto& [file, included] : includes_below("app")) {
    INFO(file << " includes " << included);
    // A prediction adds this machine's kernels' scratch; that part links no communicator.
    if (included == "engine/execute/run/scratch.hpp") continue;
    CHECK_FALSE(starts_with_any(included, {"engine/execute/", "engine/prove/", "engine/worker/", "kernels/cuda/"}));
  }
}
