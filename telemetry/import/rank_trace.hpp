// What one rank's trace by another program says, before it is joined with other ranks' traces: the result of a reader
// (kineto.hpp) and the input of join.hpp. Names are the trace's own. Times are nanoseconds of the host's clock.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/op/kind.hpp"

namespace rankscope::import {

/// One line: the file, what is wrong and, where it helps, what would be right.
struct ImportError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file that is no trace at all, such as a configuration beside the traces of a folder.
struct NotATrace : ImportError {
  using ImportError::ImportError;
};

enum class TracedUse : std::uint8_t {
  compute,        ///< a stream of kernels; without a GPU a thread that computes
  copy,           ///< a stream of copies only
  communication,  ///< of one process group's collectives or messages
  host,           ///< a thread that launches kernels: what it does is not the device's work
};
/// A stream or a thread. Communication has a lane for each process group, whatever the stream: `name` is then the same
/// on all members.
struct TracedLane {
  std::string name;  ///< "stream 7", "thread 4711", "autograd thread", "collectives of default_pg"
  TracedUse use = TracedUse::compute;
  bool operator==(const TracedLane&) const = default;
};

/// A process group. `ranks` are world ranks; empty: unknown.
struct TracedGroup {
  std::string name;         ///< the trace's own, such as "0" or "default_pg"
  std::string description;  ///< such as "mesh_tp"; may be empty
  std::vector<int> ranks;
  bool operator==(const TracedGroup&) const = default;
};

/// One occurrence of a message or a collective on this rank.
struct TracedExchange {
  int group = -1;              ///< into RankTrace::groups; -1: unknown
  std::int64_t sequence = -1;  ///< within the group; -1: unknown
  int peer = -1;               ///< of a send or receive, a world rank; -1: unknown
  std::int64_t bytes = -1;     ///< what this rank contributes; -1: unknown
  bool is_of_unknown_kind = false;  ///< the trace does not say what it does: its span is called a send
};

/// A kernel, a copy, a communication or an outermost operator of a thread. Of a step that the trace marks
/// (ProfilerStep#N): a kernel belongs to the step that launched it.
struct TracedSpan {
  std::uint32_t lane = 0, name = 0;  ///< into RankTrace's
  OpKind kind = OpKind::forward;     ///< as far as it can be inferred (kineto.hpp); `compute` is "some computation"
  std::uint32_t step = 0;
  std::int32_t exchange = -1;  ///< into RankTrace::exchanges
  std::int64_t begin_ns = 0, end_ns = 0;
};

struct TracedStep {
  std::uint32_t number = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// Bytes of a device's allocator from this time on.
struct TracedMemory {
  std::int64_t time_ns = 0;
  std::int64_t allocated = 0, reserved = 0;
};

struct RankTrace {
  std::string file;
  int rank = -1, world_size = -1;  ///< -1: not in the trace
  std::string host, backend,
      device;  ///< "node17", "nccl", "NVIDIA H100 80GB HBM3"; empty: unknown. Device "cpu" without a GPU
  std::vector<TracedLane> lanes;
  std::vector<std::string> names;
  std::vector<TracedGroup> groups;
  std::vector<TracedExchange> exchanges;
  std::vector<TracedSpan> spans;  ///< by begin
  std::vector<TracedStep> steps;  ///< by number; one step 0 of everything if the trace marks none
  bool marks_steps = false;
  std::vector<TracedMemory> memory;  ///< by time
  /// What could not be read or had to be assumed, a sentence each, such as "gloo's collectives have no group: …".
  /// A number at its end is added up over the ranks that say the same.
  std::vector<std::string> remarks;
};

}  // namespace rankscope::import
