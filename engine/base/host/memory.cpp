#include "engine/base/host/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <sstream>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Of a file with lines "NAME: 123 kB".
std::optional<std::int64_t> kib_of(const char* file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1));
  return std::nullopt;
}

/// A file of one number; nullopt for "max".
std::optional<std::int64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::int64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

/// The file cache in a control group: the kernel frees it first.
std::int64_t reclaimable(const fs::path& stat) {
  std::ifstream in(stat);
  std::string name;
  std::int64_t value = 0, sum = 0;
  while (in >> name >> value)
    if (name == "inactive_file" || name == "total_inactive_file") sum = std::max(sum, value);
  return sum;
}

/// The bytes that remain under the limits of this process's control group and its parents (versions 2 and 1).
std::optional<std::int64_t> left_in_groups() {
  std::ifstream groups("/proc/self/cgroup");
  std::optional<std::int64_t> least;
  for (std::string line; std::getline(groups, line);) {
    const auto path = line.rfind(':');
    if (path == std::string::npos) continue;
    const bool v2 = line.starts_with("0::"), v1 = line.find(":memory:") != std::string::npos;
    if (!v2 && !v1) continue;
    const fs::path root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const char* limit_name = v2 ? "memory.max" : "memory.limit_in_bytes";
    const char* used_name = v2 ? "memory.current" : "memory.usage_in_bytes";
    fs::path at = root / fs::path(line.substr(path + 1)).relative_path();
    for (;; at = at.parent_path()) {
      const auto limit = number_in(at / limit_name), used = number_in(at / used_name);
      if (limit && used && *limit < std::numeric_limits<std::int64_t>::max() / 2) {
        const std::int64_t left = std::max<std::int64_t>(0, *limit - *used + reclaimable(at / "memory.stat"));
        least = std::min(least.value_or(left), left);
      }
      if (at == root || at == at.root_path() || !at.has_relative_path()) break;
    }
  }
  return least;
}

void end_without_memory() {
  // This function must not allocate memory.
  std::array<char, 400> line{};
  rlimit space{};
  getrlimit(RLIMIT_AS, &space);
  int length = std::snprintf(line.data(), line.size(), "%s: out of memory", program_invocation_short_name);
  if (space.rlim_cur != RLIM_INFINITY)
    length += std::snprintf(line.data() + length, line.size() - static_cast<std::size_t>(length),
                            ": this process may have %llu KiB of address space (ulimit -v); raise it, or choose a "
                            "smaller model, fewer ranks or fewer threads",
                            static_cast<unsigned long long>(space.rlim_cur / 1024));
  else
    length += std::snprintf(line.data() + length, line.size() - static_cast<std::size_t>(length),
                            ": no memory is left on this machine; choose a smaller model or fewer ranks");
  line[length++] = '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length));
  _exit(1);
}

}  // namespace

AvailableMemory available_memory() {
  AvailableMemory available;
  const auto limit_to = [&](std::int64_t bytes, const char* by) {
    if (!available.limited_by.empty() && bytes >= available.bytes) return;
    available = {bytes, by};
  };
  if (const auto kib = kib_of("/proc/meminfo", "MemAvailable")) limit_to(*kib * 1024, "available");
  if (const auto left = left_in_groups()) limit_to(*left, "left of the memory limit of this control group");
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    const std::int64_t used = kib_of("/proc/self/status", "VmSize").value_or(0) * 1024;
    limit_to(std::max<std::int64_t>(0, static_cast<std::int64_t>(space.rlim_cur) - used),
             "left of this process's address space (ulimit -v)");
  }
  return available;
}

void end_when_memory_runs_out() { std::set_new_handler(end_without_memory); }

}  // namespace rankscope
