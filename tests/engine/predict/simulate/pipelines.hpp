// Programs for tests of time: pipelines folded to chunks, with messages of a given size, and single ops.
#pragma once
#include <array>
#include <exception>
#include <string>
#include <vector>

#include "engine/plan/program/program.hpp"
#include "engine/plan/schedule/schedule.hpp"

namespace rankscope {

/// A buffer of this size, for payloads.
inline BufferIndex add_bytes(RankProgram& program, std::int64_t bytes) {
  Buffer buffer;
  buffer.name = "payload";
  buffer.type = DType::u8;
  buffer.shape = Shape{bytes};
  program.buffers.push_back(buffer);
  return static_cast<BufferIndex>(program.buffers.size() - 1);
}

/// Appends an op and returns its index.
inline OpIndex add_op(RankProgram& program, const std::string& token, std::vector<OpIndex> after = {}) {
  Op op;
  op.id = parse_token(token).value();
  op.after = std::move(after);
  program.ops.push_back(std::move(op));
  return static_cast<OpIndex>(program.ops.size() - 1);
}
inline OpIndex add_message(RankProgram& program, const std::string& token, int peer, std::int64_t bytes,
                           std::vector<OpIndex> after = {}) {
  const OpIndex at = add_op(program, token, std::move(after));
  program.ops[at].peer = peer;
  program.ops[at].uses = {
      {add_bytes(program, bytes), program.ops[at].id.kind() == OpKind::send ? Access::read : Access::write}};
  return at;
}
inline OpIndex add_collective(RankProgram& program, const std::string& token, GroupKind group, std::int64_t bytes,
                              std::vector<OpIndex> after = {}) {
  const OpIndex at = add_op(program, token, std::move(after));
  program.ops[at].group = group;
  program.ops[at].uses = {{add_bytes(program, bytes), Access::accumulate}};
  return at;
}

/// The order of the programs themselves, as an executor runs them without reordering.
inline std::vector<std::array<std::vector<OpIndex>, lane_count>> program_order(
    const std::vector<RankProgram>& programs) {
  std::vector<std::array<std::vector<OpIndex>, lane_count>> order;
  for (const RankProgram& program : programs) order.push_back(program.lanes());
  return order;
}

/// The message of the exception that `act` threw; empty if there was none.
template <class Act>
std::string message_of(Act act) {
  try {
    act();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

/// One program per stage: the schedule's compute ops, each message on its lane, no optimizer. Receives are posted as
/// early as their lane allows. With `parts` > 1 each chunk op is divided into that many ops (blocks).
inline std::vector<RankProgram> pipeline_programs(const ChunkSchedule& schedule, std::int64_t bytes = 1000,
                                                  int parts = 1) {
  std::vector<RankProgram> programs;
  const int last = schedule.shape.chunks() - 1;
  for (int stage = 0; stage < schedule.shape.stages; ++stage) {
    RankProgram program;
    program.rank = stage;
    const auto stage_of = [&](int chunk) { return schedule.stage_of_chunk[static_cast<std::size_t>(chunk)]; };
    const auto& order = schedule.order[static_cast<std::size_t>(stage)];
    std::vector<std::vector<int>> sent_after(order.size());
    for (const auto& [op, after] : sending_order(schedule, stage))
      sent_after[static_cast<std::size_t>(after)].push_back(op);
    std::vector<OpIndex> done(order.size());
    const auto message = [&](const char* end, const OpFields& f, int neighbour, std::vector<OpIndex> after) {
      const std::string direction = f.kind == OpKind::forward ? "pipeline_forward" : "pipeline_backward";
      const std::string place = ":c" + std::to_string(f.chunk) + ":m" + std::to_string(f.micro_batch);
      return add_message(program, end + direction + place, stage_of(neighbour), bytes, std::move(after));
    };
    for (std::size_t i = 0; i < order.size(); ++i) {
      const OpFields f = order[i].fields();
      const bool forward = f.kind == OpKind::forward;
      const int from = forward ? f.chunk - 1 : f.chunk + 1;
      std::vector<OpIndex> after;
      // No op waits for a weight gradient, and chunks of the same stage share their tensors without a message.
      if (f.kind != OpKind::weight_gradient && from >= 0 && from <= last && stage_of(from) != stage)
        after.push_back(message("RECV.", f, from, {}));
      for (int part = 0; part < parts; ++part) {
        OpFields cut = f;
        if (parts > 1) cut.block = forward ? part : parts - 1 - part;
        done[i] = add_op(program, to_token(OpId::of(cut)), part == 0 ? after : std::vector<OpIndex>{});
      }
      for (const int op : sent_after[i]) {
        const OpFields sent = order[static_cast<std::size_t>(op)].fields();
        message("SEND.", sent, sent.kind == OpKind::forward ? sent.chunk + 1 : sent.chunk - 1,
                {done[static_cast<std::size_t>(op)]});
      }
    }
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace rankscope
