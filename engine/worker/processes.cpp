#include "engine/worker/processes.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace rankscope {

namespace fs = std::filesystem;

std::optional<ProcessState> state_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = text.rfind(") ");  // a name may contain anything
  if (name_end == std::string::npos || name_end + 4 >= text.size()) return std::nullopt;
  ProcessState of;
  of.state = text[name_end + 2];
  const char* begin = text.data() + name_end + 4;
  std::from_chars(begin, text.data() + text.size(), of.parent);
  return of;
}

std::map<pid_t, ProcessState> all_processes() {
  std::map<pid_t, ProcessState> all;
  std::error_code ignored;
  for (fs::directory_iterator entry("/proc", ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    pid_t process = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), process).ptr != name.data() + name.size()) continue;
    if (const auto state = state_of(process)) all[process] = *state;
  }
  return all;
}

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> all;
  std::error_code ignored;
  for (fs::directory_iterator thread(fmt::format("/proc/{}/task", process), ignored), end; !ignored && thread != end;
       thread.increment(ignored)) {
    std::ifstream children(thread->path() / "children");
    for (pid_t child = 0; children >> child;) all.push_back(child);
  }
  return all;
}

bool descends(pid_t process, pid_t ancestor, const std::map<pid_t, ProcessState>& all) {
  for (int depth = 0; process != ancestor && process > 1 && depth < 16; ++depth) {
    const auto found = all.find(process);
    process = found == all.end() ? 0 : found->second.parent;
  }
  return process == ancestor;
}

std::string variable_of(pid_t process, const std::vector<std::string>& names) {
  std::ifstream file(fmt::format("/proc/{}/environ", process), std::ios::binary);
  for (std::string variable; std::getline(file, variable, '\0');)
    for (const std::string& name : names)
      if (variable.starts_with(name + "=")) return variable.substr(name.size() + 1);
  return {};
}

}  // namespace rankscope
