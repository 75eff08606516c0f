// The text form of an order: a line for each stage, "stage 0: F:c0:m0 F:c0:m1 B:c0:m0 B:c0:m1".
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "engine/op/words.hpp"
#include "engine/plan/schedule/builder.hpp"
#include "engine/plan/schedule/unit_layout.hpp"

namespace rankscope {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

class Reader {
 public:
  explicit Reader(PipelineShape shape) : schedule_(empty_schedule(ScheduleKind::by_hand, shape)) {
    std::fill(schedule_.stage_of_chunk.begin(), schedule_.stage_of_chunk.end(), -1);
  }

  ChunkSchedule read(std::string_view text) {
    if (schedule_.shape.micro_batches < 1) throw std::invalid_argument("an order needs at least one micro-batch");
    while (!text.empty()) {
      ++line_;
      const auto end = text.find_first_of("\n;");
      std::string_view row = text.substr(0, end);
      text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
      row = trimmed(row.substr(0, row.find('#')));
      if (!row.empty()) read_stage(row);
    }
    check_whole();
    lay_out(schedule_);  // throws if it deadlocks
    return std::move(schedule_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw std::invalid_argument(fmt::format("line {}: {}", line_, why));
  }

  void read_stage(std::string_view row) {
    const auto colon = row.find(':');
    int stage = -1;
    if (row.starts_with("stage ") && colon != std::string_view::npos)
      stage = number_in<int>(trimmed(row.substr(6, colon - 6))).value_or(-1);
    if (stage < 0 || stage >= schedule_.shape.stages)
      refuse(fmt::format("it should begin with 'stage N:', N from 0 to {}", schedule_.shape.stages - 1));
    if (!schedule_.order[static_cast<std::size_t>(stage)].empty())
      refuse(fmt::format("stage {} has had its line already", stage));
    for (std::string_view rest = trimmed(row.substr(colon + 1)); !rest.empty();) {
      const auto end = std::min(rest.find_first_of(" \t"), rest.size());
      add(stage, rest.substr(0, end));
      rest = trimmed(rest.substr(end));
    }
  }

  void add(int stage, std::string_view token) {
    std::string error;
    const auto id = parse_token(token, &error);
    if (!id) refuse(error);
    const OpFields f = id->fields();
    const std::string quoted = "'" + std::string(token) + "'";
    const bool is_kind = f.kind == OpKind::forward || f.kind == OpKind::backward || f.kind == OpKind::input_gradient ||
                         f.kind == OpKind::weight_gradient;
    if (!is_kind || f.segment != Segment::whole || f.block >= 0 || f.index >= 0)
      refuse(quoted + " is not what a schedule consists of: F, B, I or W with a chunk and a micro-batch");
    if (f.chunk < 0 || f.chunk >= schedule_.shape.chunks())
      refuse(fmt::format("{} should name a chunk from c0 to c{}", quoted, schedule_.shape.chunks() - 1));
    if (f.micro_batch < 0 || f.micro_batch >= schedule_.shape.micro_batches)
      refuse(fmt::format("{} should name a micro-batch from m0 to m{}", quoted, schedule_.shape.micro_batches - 1));
    int& home = schedule_.stage_of_chunk[static_cast<std::size_t>(f.chunk)];
    if (home >= 0 && home != stage) refuse(fmt::format("{}: chunk {} is on stage {} already", quoted, f.chunk, home));
    home = stage;
    if (++count_[*id] > 1) refuse(quoted + " appears twice");
    (f.kind == OpKind::backward ? whole_ : split_) |= f.kind != OpKind::forward;
    if (whole_ && split_) refuse(quoted + ": backwards are either all whole (B) or all split (I and W)");
    schedule_.order[static_cast<std::size_t>(stage)].push_back(*id);
  }

  void check_whole() const {
    using enum OpKind;
    for (int chunk = 0; chunk < schedule_.shape.chunks(); ++chunk)
      for (int m = 0; m < schedule_.shape.micro_batches; ++m)
        for (const OpKind kind : {forward, whole_ ? backward : input_gradient, whole_ ? backward : weight_gradient})
          if (const OpId id = chunk_op(kind, chunk, m); !count_.count(id))
            throw std::invalid_argument(to_token(id) + " is missing");
  }

  ChunkSchedule schedule_;
  std::map<OpId, int> count_;
  bool whole_ = false, split_ = false;
  int line_ = 0;
};

}  // namespace

ChunkSchedule by_hand_schedule(std::string_view text, PipelineShape shape) { return Reader(shape).read(text); }

std::string to_text(const ChunkSchedule& schedule) {
  std::string text;
  for (std::size_t stage = 0; stage < schedule.order.size(); ++stage) {
    text += fmt::format("stage {}:", stage);
    for (const OpId id : schedule.order[stage]) text += " " + to_token(id);
    text += "\n";
  }
  return text;
}

bool splits_backward(const ChunkSchedule& schedule) {
  for (const auto& order : schedule.order)
    for (const OpId id : order)
      if (id.kind() == OpKind::input_gradient) return true;
  return false;
}

}  // namespace rankscope
