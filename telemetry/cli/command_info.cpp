#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/base/host/excerpt.hpp"
#include "engine/base/progress/progress_line.hpp"
#include "engine/op/words.hpp"
#include "telemetry/cli/commands.hpp"
#include "telemetry/event/stopped.hpp"
#include "telemetry/trace/fitted_times.hpp"

namespace rankscope {
namespace {

nlohmann::json to_json(const DamageReport& damage) {
  return {{"any", damage.any()},
          {"bytes_skipped", damage.bytes_skipped},
          {"messages_skipped", damage.messages_skipped},
          {"chunks_skipped", damage.chunks_skipped},
          {"messages_refused", damage.messages_refused},
          {"cut_short", damage.cut_short},
          {"index_missing", damage.index_missing},
          {"head_damaged", damage.head_damaged},
          {"notes", damage.notes}};
}

nlohmann::json to_json(const TraceMark& mark) {
  const bool op = mark.op.valid();
  return {{"text", mark.text},
          {"begin_ns", mark.time.begin_ns},
          {"end_ns", mark.time.end_ns},
          {"obtained", name_of(mark.obtained)},
          {"step", mark.step ? nlohmann::json(*mark.step) : nlohmann::json()},
          {"rank", op ? nlohmann::json(mark.rank) : nlohmann::json()},
          {"op", op ? nlohmann::json(to_token(mark.op)) : nlohmann::json()}};
}

bool has_failed(const std::optional<End>& end) { return end && !end->ok && !was_stopped(*end); }

nlohmann::json ended_json(const std::optional<End>& end) {
  if (!end) return nullptr;
  return {{"ok", end->ok},
          {"last_step", end->last_step < 0 ? nlohmann::json() : nlohmann::json(end->last_step)},
          {"message", end->message}};
}

/// As `stats --json` has it.
nlohmann::json lost_json(const std::optional<End>& end) {
  if (!has_failed(end) || end->failed_rank < 0) return nullptr;
  return {{"rank", end->failed_rank},
          {"last_step", end->last_step < 0 ? nlohmann::json() : nlohmann::json(end->last_step)},
          {"reason", end->message}};
}

nlohmann::json to_json(const TraceInfo& info) {
  nlohmann::json marks = nlohmann::json::array();
  for (const TraceMark& mark : info.marks) marks.push_back(to_json(mark));
  nlohmann::json topics = nlohmann::json::array();
  for (const TraceTopic& topic : info.topics)
    topics.push_back(
        {{"name", topic.name}, {"encoding", topic.encoding}, {"schema", topic.schema}, {"messages", topic.messages}});
  return {{"path", info.path},
          {"file_bytes", info.file_bytes},
          {"data_bytes", info.data_bytes},
          {"library", info.library},
          {"session", info.session.empty() ? nlohmann::json() : nlohmann::json(info.session)},
          {"run", info.run},
          {"ended", ended_json(info.end)},
          {"lost", lost_json(info.end)},
          {"faults", has_failed(info.end) ? nlohmann::json{info.end->message} : nlohmann::json::array()},
          {"chunks", info.chunks},
          {"messages", info.messages},
          {"unrecorded_messages", info.unrecorded},
          {"forged_messages", info.forged < 0 ? nlohmann::json() : nlohmann::json(info.forged)},
          {"first_ns", info.first_ns},
          {"last_ns", info.last_ns},
          {"topics", topics},
          {"marks", marks},
          {"damage", to_json(info.damage)}};
}

/// Times on rank 0's clock, if the ranks' clocks differ. The report lists unreadable messages, not this line.
TraceInfo on_common_clock(TraceInfo info) {
  if (info.session.empty()) return info;
  try {
    if (const auto times = fitted_times(info.path)) {
      info.first_ns = times->begin_ns;
      info.last_ns = times->end_ns;
    }
  } catch (const TraceError&) {  // no run in it, such as a sweep's recording
  }
  return info;
}

void line(const char* name, const std::string& value) {
  std::cout << fmt::format("{:<12} {}\n", name, printable(value));
}

std::string seconds(std::int64_t ns) { return fmt::format("{:.6f} s", static_cast<double>(ns) * 1e-9); }

/// "0.001200 s, step 3, B:c2:m3 on rank 2: waits for rank 1".
std::string in_words(const TraceMark& mark) {
  std::string words = seconds(mark.time.begin_ns);
  if (!mark.time.empty()) words += " … " + seconds(mark.time.end_ns);
  if (mark.step) words += fmt::format(", step {}", *mark.step);
  if (mark.op.valid()) words += fmt::format(", {} on rank {}", to_token(mark.op), mark.rank);
  return words + ": " + excerpt(mark.text, greatest_mark_bytes);
}

}  // namespace

void print_json(const nlohmann::json& json) {
  std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

void print_damage(const std::string& trace, const DamageReport& damage) {
  constexpr std::size_t most_lines = 20;
  for (std::size_t i = 0; i < std::min(damage.notes.size(), most_lines); ++i)
    std::cerr << trace << ": " << damage.notes[i] << "\n";
  if (damage.notes.size() > most_lines)
    std::cerr << trace << ": and " << damage.notes.size() - most_lines << " places more\n";
}

int show_info(const std::string& trace, bool json) {
  const TraceInfo info = on_common_clock(read_trace_info(trace));
  if (json) {
    print_json(to_json(info));
    return 0;
  }
  line("file", info.path);
  line("size", fmt::format("{}, {} before compression, {}", figure::bytes(static_cast<double>(info.file_bytes)),
                           figure::bytes(static_cast<double>(info.data_bytes)), counted(info.chunks, "chunk")));
  line("written by", info.library.empty() ? "unknown" : info.library);
  line("session", info.session.empty() ? "unknown" : info.session);
  for (const char* key : {"title", "ranks", "communicator", "device", "host", "started_utc", "headline_clock"})
    if (const auto found = info.run.find(key); found != info.run.end() && !found->second.empty())
      line(key == std::string("started_utc")      ? "started"
           : key == std::string("headline_clock") ? "clock"
                                                  : key,
           found->second);
  line("time", seconds(info.first_ns) + " … " + seconds(info.last_ns) + " since the session's start");
  if (info.end) line("ended", info.end->message);
  line("messages", std::to_string(info.messages));
  if (info.unrecorded > 0)
    line("lost",
         fmt::format("{} that the disk did not take: {}", counted(info.unrecorded, "message"), info.unrecorded_reason));
  if (info.forged > 0)
    line("forged", fmt::format("{} of no worker of the run, ignored", counted(info.forged, "message")));
  for (const TraceTopic& topic : info.topics)
    std::cout << fmt::format("             {:8}  {}{}{}\n", topic.messages, printable(topic.name),
                             topic.encoding.empty() ? "" : ", ", printable(topic.encoding));
  for (const TraceMark& mark : info.marks) line("mark", in_words(mark));
  for (const std::string& note : info.damage.notes) line("damage", note);
  return 0;
}

int recover(const std::string& trace, const std::string& output, bool json) {
  DamageReport damage;
  {
    ProgressLine line("recovering");
    recover_trace(trace, output, &damage, shown_on(line, trace));
  }
  const TraceInfo info = read_trace_info(output);
  if (json) {
    print_json({{"output", to_json(info)}, {"damage", to_json(damage)}});
    return 0;
  }
  print_damage(trace, damage);
  std::cout << fmt::format("{}: {} messages, {}\n", output, info.messages,
                           damage.data_lost() ? "without the damaged parts" : "all of them");
  return 0;
}

}  // namespace rankscope
