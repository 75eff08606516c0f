#include "telemetry/relay/session_watch.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "telemetry/event/encoded.hpp"
#include "telemetry/event/stopped.hpp"

namespace rankscope {
namespace {

std::string how(ChildExit exit) {
  if (exit.signal != 0) return fmt::format("signal {} ({})", exit.signal, strsignal(exit.signal));
  return fmt::format("exit status {}", exit.status);
}

}  // namespace

ChildExit child_exit(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {0, WTERMSIG(wait_status)};
  return {WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 1, 0};
}

void SessionWatch::note_received(std::int32_t rank) {
  if (rank >= 0) ranks_[rank].last_received = std::chrono::steady_clock::now();
}

void SessionWatch::accept_encoded(const EncodedMessage& message) {
  if (!is_batch(message.kind())) return accept(message.message());
  const std::lock_guard lock(mutex_);
  note_received(message.envelope().rank);
}

void SessionWatch::accept(const Message& message) {
  const std::lock_guard lock(mutex_);
  if (const auto* hello = std::get_if<Hello>(&message.event)) {
    expected_ = hello->ranks;
    for (std::int32_t rank = 0; rank < expected_; ++rank)
      if (ranks_[rank].last_received == std::chrono::steady_clock::time_point{}) note_received(rank);
  }
  if (message.rank < 0) return;
  note_received(message.rank);
  if (const auto* summary = std::get_if<StepSummary>(&message.event)) {
    Rank& of = ranks_[summary->rank];
    of.last_step = std::max<std::int64_t>(of.last_step, summary->step);
    if (summary->loss_not_finite)
      loss_not_finite_since_ = std::min(loss_not_finite_since_.value_or(summary->step), summary->step);
  } else if (const auto* end = std::get_if<End>(&message.event); end && end->rank >= 0) {
    Rank& of = ranks_[end->rank];
    of.last_step = std::max(of.last_step, end->last_step);
    if (!of.end) of.ended_as = ++ended_;
    of.end = *end;
  }
}

void SessionWatch::read_launcher_line(std::string_view line) {
  constexpr std::string_view words = "process rank ";
  const auto at = line.find(words);
  const bool fatal = line.find("exited on signal") != std::string_view::npos ||
                     line.find("non-zero") != std::string_view::npos ||
                     line.find("noticed that") != std::string_view::npos;
  if (at == std::string_view::npos || !fatal) return;
  const std::string_view number = line.substr(at + words.size());
  std::int32_t rank = -1;
  if (std::from_chars(number.data(), number.data() + number.size(), rank).ec != std::errc{} || rank < 0) return;
  lost(rank);
}

void SessionWatch::lost(std::int32_t rank) {
  const std::lock_guard lock(mutex_);
  if (!named_by_launcher_) named_by_launcher_ = rank;
}

void SessionWatch::alive(std::int32_t rank) {
  const std::lock_guard lock(mutex_);
  note_received(rank);
}

void SessionWatch::finished(std::int32_t rank, std::int64_t step) {
  const std::lock_guard lock(mutex_);
  Rank& of = ranks_[rank];
  of.last_step = std::max(of.last_step, step);
}

std::vector<std::int32_t> SessionWatch::silent(std::chrono::milliseconds limit,
                                               std::chrono::steady_clock::time_point not_before) const {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  std::vector<std::int32_t> ranks;
  for (const auto& [number, rank] : ranks_)
    if (!rank.end && now - std::max(rank.last_received, not_before) > limit) ranks.push_back(number);
  return ranks;
}

std::int64_t SessionWatch::unended() const {
  const std::lock_guard lock(mutex_);
  return std::count_if(ranks_.begin(), ranks_.end(), [](const auto& entry) { return !entry.second.end; });
}

std::int64_t SessionWatch::last_step(std::int32_t rank) const {
  const std::lock_guard lock(mutex_);
  const auto found = ranks_.find(rank);
  return found == ranks_.end() ? -1 : found->second.last_step;
}

std::optional<std::uint32_t> SessionWatch::loss_not_finite_since() const {
  const std::lock_guard lock(mutex_);
  return loss_not_finite_since_;
}

std::int64_t SessionWatch::greatest_step() const {
  const std::lock_guard lock(mutex_);
  std::int64_t greatest = -1;
  for (const auto& [number, rank] : ranks_) greatest = std::max(greatest, rank.last_step);
  return greatest;
}

std::int64_t SessionWatch::common_last_step() const {
  if (ranks_.empty()) return -1;
  return std::min_element(ranks_.begin(), ranks_.end(),
                          [](const auto& a, const auto& b) { return a.second.last_step < b.second.last_step; })
      ->second.last_step;
}

// The launcher's report has priority. Else a rank that reported its own failure; else, after a failure, one that became
// silent without an end while others still reported theirs, the least advanced first; else the first that failed.
std::optional<std::int32_t> SessionWatch::culprit(ChildExit exit) const {
  if (named_by_launcher_) return named_by_launcher_;
  const auto first = [&](auto&& is, auto&& less) -> std::optional<std::int32_t> {
    const std::pair<const std::int32_t, Rank>* best = nullptr;
    for (const auto& entry : ranks_)
      if (is(entry.second) && (!best || less(entry.second, best->second))) best = &entry;
    return best ? std::optional(best->first) : std::nullopt;
  };
  const auto ended_before = [](const Rank& a, const Rank& b) { return a.ended_as < b.ended_as; };
  const auto failed = [](const Rank& r) { return r.end && !r.end->ok; };
  if (const auto own = first([&](const Rank& r) { return failed(r) && !r.end->in_communication; }, ended_before))
    return own;
  const bool anyone_failed = first(failed, ended_before).has_value();
  const bool anyone_ended = ended_ > 0;
  if (!exit.ok() || anyone_failed) {
    const auto unended =
        first([](const Rank& r) { return !r.end; },
              [](const Rank& a, const Rank& b) {
                return a.last_step != b.last_step ? a.last_step < b.last_step : a.last_received < b.last_received;
              });
    // If no rank reported an end, all of them ended together, and no single rank is the cause.
    if (unended && (anyone_ended || ranks_.size() == 1)) return unended;
  }
  return first(failed, ended_before);
}

Verdict SessionWatch::verdict(ChildExit exit) const {
  const std::lock_guard lock(mutex_);
  Verdict verdict;
  const auto rank = culprit(exit);
  const bool all_ended_well = std::all_of(ranks_.begin(), ranks_.end(),
                                          [](const auto& entry) { return entry.second.end && entry.second.end->ok; });
  verdict.ok = exit.ok() && !rank && all_ended_well && !ranks_.empty();
  verdict.last_step = common_last_step();
  if (verdict.ok) {
    verdict.stopped = std::any_of(ranks_.begin(), ranks_.end(),
                                  [](const auto& entry) { return entry.second.end->message == stopped_by_request; });
    verdict.message = "finished";
    return verdict;
  }
  const auto after = [](std::int64_t step) {
    return step < 0 ? std::string("before it finished a step") : fmt::format("after step {}", step);
  };
  if (!rank) {
    if (exit.ok() && ranks_.empty())
      verdict.message = "the run ended without a message";
    else
      verdict.message = "the run ended " + after(verdict.last_step) + " (" + how(exit) + "); no rank can be named";
    return verdict;
  }
  verdict.rank = *rank;
  const auto found = ranks_.find(*rank);
  verdict.last_step = found == ranks_.end() ? -1 : found->second.last_step;
  const std::optional<End> end = found == ranks_.end() ? std::nullopt : found->second.end;
  verdict.died = !end;
  verdict.message = fmt::format("rank {}{}{}", *rank, end ? " failed " : " died ", after(verdict.last_step));
  verdict.explained = end && !end->message.empty();
  if (verdict.explained)
    verdict.message += ": " + end->message;
  else if (!exit.ok())
    verdict.message += " (" + how(exit) + ")";
  return verdict;
}

}  // namespace rankscope
