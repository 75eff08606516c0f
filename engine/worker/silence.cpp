#include "engine/worker/silence.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto look_every = 500ms;
constexpr auto silence_limit = 5s;  // a worker sends a heartbeat at least every 1.25 s
constexpr auto own_pause = 3s;      // between two looks: this process was stopped, or the machine is very busy

struct ProcessState {
  pid_t parent = 0;
  char state = '?';
};
std::optional<ProcessState> state_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = text.rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  ProcessState of;
  of.state = text[name_end + 2];
  const char* begin = text.data() + name_end + 4;
  std::from_chars(begin, text.data() + text.size(), of.parent);
  return of;
}
bool is_stopped(const ProcessState& of) { return of.state == 'T' || of.state == 't'; }

/// Which rank a process is, as its launcher told it in its environment; -1: it does not say.
int rank_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/environ", std::ios::binary);
  for (std::string variable; std::getline(file, variable, '\0');)
    for (const std::string name : {"OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK=", "SLURM_PROCID="})
      if (variable.starts_with(name)) return std::atoi(variable.c_str() + name.size());
  return -1;
}

/// Processes of this machine that descend from `ancestor`, itself included, and are stopped by a signal: by rank.
std::map<int, pid_t> stopped_among(pid_t ancestor) {
  std::map<pid_t, ProcessState> all;
  std::error_code ignored;
  for (fs::directory_iterator entry("/proc", ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    pid_t process = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), process).ptr != name.data() + name.size()) continue;
    if (const auto state = state_of(process)) all[process] = *state;
  }
  std::map<int, pid_t> stopped;
  for (const auto& [process, state] : all) {
    if (!is_stopped(state)) continue;
    pid_t at = process;
    for (int depth = 0; at != ancestor && at > 1 && depth < 16; ++depth) {
      const auto found = all.find(at);
      at = found == all.end() ? 0 : found->second.parent;
    }
    if (at == ancestor) stopped[rank_of(process)] = process;
  }
  return stopped;
}

std::string time_of_day(std::chrono::steady_clock::duration ago) {
  const time_t when = std::chrono::system_clock::to_time_t(
      std::chrono::system_clock::now() - std::chrono::duration_cast<std::chrono::system_clock::duration>(ago));
  tm parts{};
  localtime_r(&when, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

/// "rank 2", "ranks 0, 1 and 3", "ranks 0 to 3".
std::string names(const std::vector<std::int32_t>& ranks) {
  if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
  const auto count = static_cast<std::int32_t>(ranks.size());
  if (ranks.back() - ranks.front() + 1 == count) return fmt::format("ranks {} to {}", ranks.front(), ranks.back());
  constexpr std::size_t most = 8;
  std::string text = "ranks";
  for (std::size_t i = 0; i < std::min(most, ranks.size()); ++i)
    text += (i == 0 ? " " : i + 1 < ranks.size() ? ", " : " and ") + std::to_string(ranks[i]);
  if (ranks.size() > most) text += fmt::format(" and {} more", ranks.size() - most);
  return text;
}

}  // namespace

std::vector<std::string> SilenceReport::changes() {
  const auto now = Clock::now();
  if (now - looked_at_ < look_every) return {};
  if (now - looked_at_ > own_pause) awake_since_ = now, stopped_since_ = {};
  looked_at_ = now;
  const auto child = state_of(child_);
  if (!child || !is_stopped(*child))
    stopped_since_ = {};
  else if (stopped_since_ == Clock::time_point{})
    stopped_since_ = now;

  const std::vector<std::int32_t> all = watch_.silent(silence_limit, awake_since_);
  std::vector<std::int32_t> fallen, back;
  std::set_difference(all.begin(), all.end(), silent_.begin(), silent_.end(), std::back_inserter(fallen));
  std::set_difference(silent_.begin(), silent_.end(), all.begin(), all.end(), std::back_inserter(back));
  silent_ = {all.begin(), all.end()};
  std::vector<std::string> lines;
  if (!fallen.empty()) {
    std::int64_t step = watch_.last_step(fallen.front());
    for (const std::int32_t rank : fallen) step = std::min(step, watch_.last_step(rank));
    std::string line = fmt::format(
        "{} silent since {}, {}", names(fallen) + (fallen.size() == 1 ? " is" : " are"), time_of_day(silence_limit),
        step < 0 ? "before the first step was finished" : fmt::format("after step {}", step));
    const std::map<int, pid_t> stopped = stopped_among(child_);
    std::string processes;
    for (const auto& [rank, process] : stopped)
      if (rank < 0 || std::find(fallen.begin(), fallen.end(), rank) != fallen.end())
        processes += (processes.empty() ? "" : " ") + std::to_string(process);
    if (!processes.empty()) line += fmt::format(": stopped by a signal; `kill -CONT {}` lets it continue", processes);
    line += fmt::format("; the run ends when this lasts {} s", peers_wait_.count());
    lines.push_back(std::move(line));
  }
  if (!back.empty() && watch_.unended() > 0)
    lines.push_back(names(back) + (back.size() == 1 ? " reports" : " report") + " again");
  return lines;
}

std::string SilenceReport::over() const {
  if (stopped_since_ == Clock::time_point{} || Clock::now() - stopped_since_ < peers_wait_) return {};
  return fmt::format("its process {} was stopped by a signal for {} s, and was ended", child_, peers_wait_.count());
}

}  // namespace rankscope
