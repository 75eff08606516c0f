#include "engine/worker/silence.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/worker/processes.hpp"
#include "engine/worker/step_marks.hpp"

namespace rankscope {
namespace {

using namespace std::chrono_literals;

constexpr auto own_pause = 3s;  // between two polls: this process was stopped, or the machine is very busy

bool is_stopped(char state) { return state == 'T'; }
bool is_suspended(char state) { return state == 'T' || state == 't'; }  // by a signal, or by a debugger

/// The rank of a process, from its launcher's environment variables; -1: unknown.
int rank_of(pid_t process) {
  const std::string rank = variable_of(process, {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"});
  return rank.empty() ? -1 : std::atoi(rank.c_str());
}

struct RankProcess {
  pid_t process = 0;
  char state = '?';
};

/// The processes of ranks that are on this host, by rank; a process with all ranks has the key -1.
std::map<int, RankProcess> rank_processes(const RankPlaces& places) {
  std::map<int, RankProcess> ranks;
  if (places.one_process) {
    if (const auto child = state_of(places.child)) ranks[-1] = {places.child, child->state};
    return ranks;
  }
  const std::map<pid_t, ProcessState> all = all_processes();
  for (const auto& [process, state] : all) {
    const bool is_child = process == places.child;
    if (places.launched_namespace.empty()) {
      if (is_child || !descends(process, places.child, all)) continue;
    } else if (!is_child && variable_of(process, {"PMIX_NAMESPACE"}) != places.launched_namespace) {
      continue;
    }
    const int rank = rank_of(process);
    // For a launched job's rank 0 there are also the supervisor and its parent.
    if (rank < 0 || (!places.launched_namespace.empty() && rank == 0 && !is_child)) continue;
    ranks[rank] = {process, state.state};
  }
  return ranks;
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
  return "ranks " + listed_up_to(8, ranks);
}

}  // namespace

/// The last step that all of them have finished; -1: none.
std::int64_t SilenceReport::least_step(const std::vector<std::int32_t>& ranks) const {
  const std::vector<std::int64_t> marks = read_step_marks(places_.directory, ranks.back() + 1);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const std::int32_t rank : ranks) least = std::min(least, std::max(watch_.last_step(rank), marks[rank]));
  return least;
}

void SilenceReport::check_processes(Clock::time_point now) {
  if (silent_.empty()) return;
  const std::map<int, RankProcess> processes = rank_processes(places_);
  for (auto& [rank, of] : silent_) {
    auto found = processes.find(rank);
    if (found == processes.end()) found = processes.find(-1);
    of.process = found == processes.end() ? 0 : found->second.process;
    if (found == processes.end() || !is_stopped(found->second.state))
      of.stopped_since = {};
    else if (of.stopped_since == Clock::time_point{})
      of.stopped_since = now;
  }
}

void SilenceReport::check_progress(Clock::time_point now) {
  if (!places_.other_hosts) return;
  const std::int64_t step = watch_.greatest_step();
  if (step == step_) return;
  if (step_ >= 0) longest_step_ = std::max(longest_step_, (now - step_at_) / (step - step_));
  step_ = step;
  step_at_ = now;
}

bool SilenceReport::is_elsewhere(std::int32_t rank, const Silent& of) const {
  // A rank without reported steps may be unable to report at all.
  return places_.other_hosts && of.process == 0 && watch_.last_step(rank) >= 0;
}

SilenceReport::Clock::duration SilenceReport::patience_elsewhere() const {
  return std::max<Clock::duration>(limits_.elsewhere, 2 * longest_step_);
}

/// The known state of ranks that have just become silent.
std::string SilenceReport::named(const std::vector<std::int32_t>& ranks) const {
  const std::int64_t step = least_step(ranks);
  std::string line = fmt::format("{} silent since {}, {}", names(ranks) + (ranks.size() == 1 ? " is" : " are"),
                                 silent_.at(ranks.front()).since,
                                 step < 0 ? "before the end of the first step" : fmt::format("after step {}", step));
  const auto elsewhere =
      std::all_of(ranks.begin(), ranks.end(), [&](std::int32_t rank) { return is_elsewhere(rank, silent_.at(rank)); });
  Clock::duration limit = elsewhere ? patience_elsewhere() : Clock::duration(limits_.peers_wait);
  std::vector<pid_t> held;
  for (const std::int32_t rank : ranks) {
    const Silent& of = silent_.at(rank);
    if (of.stopped_since != Clock::time_point{}) limit = limits_.stopped;
    const auto state = of.process > 0 ? state_of(of.process) : std::nullopt;
    if (state && is_suspended(state->state) && !contains(held, of.process)) held.push_back(of.process);
  }
  if (!held.empty())
    line += fmt::format(": stopped by a signal; `kill -CONT {}` lets it continue", fmt::join(held, " "));
  return line + fmt::format("; the run ends if this continues for {} s",
                            std::chrono::duration_cast<std::chrono::seconds>(limit).count());
}

std::vector<std::string> SilenceReport::changes() {
  const auto now = Clock::now();
  if (now - looked_at_ < limits_.look_every) return {};
  if (now - looked_at_ > own_pause) awake_since_ = now, stopped_since_ = {};
  looked_at_ = now;
  const auto child = state_of(places_.child);
  if (!child || !is_suspended(child->state))
    stopped_since_ = {};
  else if (stopped_since_ == Clock::time_point{})
    stopped_since_ = now;
  check_progress(now);

  const std::vector<std::int32_t> all = watch_.silent(limits_.silence, awake_since_);
  std::vector<std::int32_t> fallen, back;
  for (const auto& [rank, of] : silent_)
    if (!std::binary_search(all.begin(), all.end(), rank)) back.push_back(rank);
  for (const std::int32_t rank : back) silent_.erase(rank);
  for (const std::int32_t rank : all)
    if (silent_.emplace(rank, Silent{time_of_day(limits_.silence), now}).second) fallen.push_back(rank);
  check_processes(now);
  std::vector<std::string> lines;
  if (!fallen.empty()) lines.push_back(named(fallen));
  if (!back.empty() && watch_.unended() > 0)
    lines.push_back(names(back) + (back.size() == 1 ? " reports" : " report") + " again");
  return lines;
}

std::map<std::int32_t, std::string> SilenceReport::silent() const {
  std::map<std::int32_t, std::string> ranks;
  for (const auto& [rank, of] : silent_) ranks[rank] = of.since;
  return ranks;
}

std::optional<SilentEnd> SilenceReport::over() const {
  const auto whole_seconds = [](Clock::duration time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
  };
  const auto stopped_for = [&](pid_t process, Clock::duration time) {
    return fmt::format("its process {} was stopped by a signal for {} s, and was killed", process, whole_seconds(time));
  };
  SilentEnd end;
  for (const auto& [rank, of] : silent_) {
    if (of.stopped_since == Clock::time_point{} || looked_at_ - of.stopped_since < limits_.stopped) continue;
    if (end.why.empty()) {
      end.rank = places_.one_process ? -1 : rank;
      end.why = stopped_for(of.process, limits_.silence + (looked_at_ - of.named_at));
    }
    if (!contains(end.processes, of.process)) end.processes.push_back(of.process);
  }
  if (!end.why.empty()) return end;
  const auto patience = patience_elsewhere();
  for (const auto& [rank, of] : silent_)
    if (is_elsewhere(rank, of) && looked_at_ - of.named_at >= patience && looked_at_ - step_at_ >= patience)
      return SilentEnd{rank,
                       fmt::format("it sent nothing for {} s, and no rank finished a step",
                                   whole_seconds(limits_.silence + (looked_at_ - of.named_at))),
                       {}};
  if (stopped_since_ == Clock::time_point{} || looked_at_ - stopped_since_ < limits_.peers_wait) return std::nullopt;
  return SilentEnd{-1, stopped_for(places_.child, limits_.peers_wait), {places_.child}};
}

}  // namespace rankscope
