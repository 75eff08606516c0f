// A training step as data: for each rank an ordered list of ops per lane, with the buffers they use and the ops they
// depend on.
//
// A RankProgram's ops are in *program order*: every op is after all ops it depends on. Each lane runs its ops in
// that order; between lanes only `after` counts. Buffers are alive from the first op that uses them to the last one in
// program order; two buffers may share memory only where edges enforce that order, so the memory peak does not depend
// on timing.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/op/memory_class.hpp"
#include "engine/op/op_id.hpp"
#include "engine/plan/mesh/rank_grid.hpp"
#include "kernels/tensor/type.hpp"

namespace rankscope {

using OpIndex = std::uint32_t;      ///< into RankProgram::ops
using BufferIndex = std::uint32_t;  ///< into RankProgram::buffers

/// The content of a buffer. Its name is for readers; the ledger counts it by its class, which also depends on its
/// lifetime.
enum class BufferRole : std::uint8_t {
  parameter,  ///< or a piece, a shard or a bucket of parameters, also on the host; the same applies to the next two
  gradient,
  state,       ///< an optimizer's, of a parameter
  master,      ///< the state that is the parameter itself, in a wider type
  loss_scale,  ///< fp16's: f64 [scale, steps since it has changed, updates made]
  scalar,      ///< a number passed between ops: norms, the host's copy of the loss scale
  activation,  ///< a tensor of the model, or of the batch
  activation_gradient,
};

struct Buffer {
  std::string name;  ///< such as "h.3.mlp.c_fc.weight", "gradient of …", "c2:m3:b5.qkv"
  BufferRole role = BufferRole::activation;
  MemoryClass memory = MemoryClass::activations;
  DType type = DType::f32;
  Shape shape;
  bool persistent = false;   ///< lives across steps (parameters, gradients, optimizer states)
  int parameter = -1;        ///< the model's parameter this holds, or holds the gradient or a state of; else -1
  int micro_batch = -1;      ///< of an activation; else -1
  std::int64_t offset = -1;  ///< in the rank's arena, bytes; set by place_buffers
  std::int64_t first = 0;    ///< of the parameter's elements on this rank, the first one in this buffer
  /// A view: this buffer is part of that one, at offset `at` in bytes, and has no memory of its own. There are no views
  /// of views.
  int within = -1;
  std::int64_t at = 0;
  /// A piece of a parameter (or its gradient) that this rank alone of its data group updates (ZeRO).
  bool piece = false;
  /// It is in host memory (`memory` is then its class, and the ledger counts it as the host's).
  bool host = false;
  int shard_of = -1;    ///< the bucket (Bucket::index) whose shard of this rank's it is (ZeRO); else -1
  std::string state{};  ///< of an optimizer's state: which one (StateSpec::name)
  std::int64_t bytes() const { return shape.elements() * bytes_of(type); }
};

enum class Access : std::uint8_t { read, write, accumulate };  ///< accumulate reads and writes: x += …

struct BufferUse {
  BufferIndex buffer = 0;
  Access access = Access::read;
};

struct Op {
  OpId id;
  GroupKind group = GroupKind::self;  ///< of a collective
  int peer = -1;                      ///< the other rank of a send or receive
  /// In the operand order of the segment (engine/plan/model); a communication's by the rules of communication.hpp.
  std::vector<BufferUse> uses{};
  std::vector<OpIndex> after{};           ///< ops of other lanes, earlier in program order, that must have finished
  std::vector<OpIndex> after_previous{};  ///< ops of other lanes that must have finished in the step before
  int root = -1;                          ///< of a broadcast, scatter, reduce or gather: a world rank

  Lane lane() const { return id.lane(); }
};

/// A state of a parameter's update, such as Adam's moments or the master.
inline bool is_state(const Buffer& buffer) {
  return buffer.role == BufferRole::state || buffer.role == BufferRole::master;
}
/// A persistent parameter, or its master: it begins with initial values and is compared between runs.
inline bool holds_weights(const Buffer& buffer) {
  return (buffer.role == BufferRole::parameter || buffer.role == BufferRole::master) && buffer.persistent &&
         buffer.parameter >= 0;
}
/// fp16's loss scale at the start.
Buffer loss_scale_buffer();

/// The class that the ledger counts a buffer in.
inline MemoryClass ledger_class(const Buffer& buffer) { return buffer.host ? MemoryClass::host : buffer.memory; }

/// The buffer that owns the memory of `b`: itself, unless it is a view.
inline BufferIndex base_of(const std::vector<Buffer>& buffers, BufferIndex b) {
  return buffers[b].within < 0 ? b : static_cast<BufferIndex>(buffers[b].within);
}

struct RankProgram {
  int rank = 0;
  std::vector<Op> ops;  ///< in program order
  std::vector<Buffer> buffers;
  std::int64_t arena_bytes = 0;  ///< after place_buffers: the rank must reserve this
  /// The same for the host's memory. Its offsets continue from arena_bytes, so an offset shows which of both it is in.
  std::int64_t host_bytes = 0;
  /// Scratch of the kernels, reserved outside the arena and always alive. The passes do not know these kernels:
  /// 0 until engine/execute/run/scratch.hpp has set it.
  std::int64_t scratch_bytes = 0;
  std::int64_t host_scratch_bytes = 0;  ///< the same for the host's computations, in its own memory
  std::int64_t context_bytes = 0;       ///< the same for a GPU's driver and libraries
  /// Of an asynchronous parameter server, whose ops are all on Lane::server: its contributions (the ops of one
  /// `micro_batch`, which are consecutive) run as they arrive, not in program order, each of a step at most this number
  /// of steps beyond the oldest one that lacks a contribution.
  std::optional<int> arrivals_ahead{};

  BufferIndex add(Buffer buffer) {
    buffers.push_back(std::move(buffer));
    return static_cast<BufferIndex>(buffers.size() - 1);
  }
  /// Indices of the ops of each lane, in order.
  std::array<std::vector<OpIndex>, lane_count> lanes() const;
  /// Bytes of a communication op's first operand: the payload of a message, broadcast or reduction; or of a copy.
  /// Contributions in other collectives depend on the number of members: see contribution_bytes in communication.hpp.
  std::int64_t payload_bytes(const Op& op) const;
};

/// The ops, in program order, between which a buffer must keep its place: from the first that uses it, or a view
/// in it, to the last. Views have none of their own.
struct Lifetime {
  static constexpr OpIndex never = ~OpIndex{0};
  OpIndex first = never, last = 0;
  bool used() const { return first != never; }
};
std::vector<Lifetime> lifetimes_of(const RankProgram& program);

/// Bytes alive by memory class, op by op in program order; views count in their buffers, scratch as
/// `workspace`, or as the host's.
struct MemoryProfile {
  std::vector<ClassBytes> at;  ///< while op i runs
  ClassBytes peak_by_class{};  ///< each class's own maximum
  std::int64_t peak = 0;       ///< maximum of device_sum
};
MemoryProfile memory_profile(const RankProgram& program);

/// 64-bit FNV-1a of the text form: two runs with the same hash ran the same program.
std::uint64_t hash_of(const std::string& program_text);

/// The readable text form (see text.cpp for the grammar, which is line by line: token, after, payload, buffers).
std::string to_text(const RankProgram& program);
/// Parses it back; throws std::invalid_argument "line N: …". The text has no roles: a parsed buffer has the role that
/// most buffers of its class have; it is for reading, not for running.
RankProgram parse_program(const std::string& text);

/// The greatest distance between steps whose ops run at the same time: a step is no barrier, so at least 1.
int steps_apart(const std::vector<RankProgram>& programs);

}  // namespace rankscope
