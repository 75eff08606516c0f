// Bytes alive by memory class while a program runs, counted along the program: a buffer lives from the op that uses it
// first to the one that uses it last, in program order, and the rank's main lane (compute; a parameter server's own)
// runs in that order. So the peak is memory_profile's, independent of the timing.
//
// Other lanes may be ahead of compute, or behind it. A message that arrives early, or leaves late, then uses memory
// that the program does not reuse then: edges (add_edges) let no op write there until all others have finished with
// it. It is not counted twice, and a rank never uses more than its arena.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "engine/plan/program/program.hpp"

namespace rankscope {

/// Lifetimes of buffers by program order: the common rule for memory_profile, a run's ledger and memory over time.
/// An op allocates the buffers that it (or a view) uses first, and frees those that it uses last.
struct BufferLife {
  std::vector<ClassBytes> takes, leaves;  ///< by op
  ClassBytes persistent{};                ///< across steps
};
BufferLife life_of_buffers(const RankProgram& program);

/// Memory that stays allocated in addition to a program's buffers.
struct ResidentBytes {
  std::int64_t workspace = 0;       ///< scratch of the kernels, and device memory of communicators
  std::int64_t host_workspace = 0;  ///< scratch in the host's memory
  std::int64_t context = 0;         ///< of the device's driver and libraries; ranks that share a device share it
};
/// The program's prediction.
ResidentBytes resident_bytes_of(const RankProgram& program);

class Ledger {
 public:
  Ledger(const RankProgram& program, const ResidentBytes& resident);

  /// Sets the resident memory, also for steps in progress, from their begin.
  void set_resident(const ResidentBytes& resident);

  /// The op has begun, or has ended. If that changes the live memory, `changed(op, alive)` is called, one call at a
  /// time, with the op of the program at that level. Ops of lanes other than the main one change nothing: they are
  /// processed with the main lane's. While compute is between two ops, the maximum between them counts.
  template <class Changed>
  void begin(OpIndex op, std::uint32_t step, Changed changed) {
    if (!is_main_[op]) return;
    const std::lock_guard lock(mutex_);
    if (apply(at_begin_[op], open(step))) changed(op, alive_);
  }
  template <class Changed>
  void end(OpIndex op, std::uint32_t step, Changed changed) {
    if (!is_main_[op]) return;
    const std::lock_guard lock(mutex_);
    if (apply(at_end_[op], open(step))) changed(at_end_[op].at, alive_);
  }

  struct Peaks {
    ClassBytes by_class{};
    std::int64_t total = 0;  ///< greatest device_sum
  };
  /// The peaks of a step whose ops are all done.
  Peaks take_peaks(std::uint32_t step);

 private:
  struct Move {
    OpIndex op = 0;
    int sign = 1;  ///< +1: the op allocates these bytes; -1: it frees them
    ClassBytes bytes{};
  };
  /// Moves [begin, end), after which op `at` holds the live memory.
  struct Part {
    std::size_t begin = 0, end = 0;
    OpIndex at = 0;
  };

  void add_moves(const BufferLife& life);
  void find_pauses(const RankProgram& program);
  Peaks& open(std::uint32_t step);
  bool apply(const Part& part, Peaks& peaks);
  static void raise(Peaks& peaks, const ClassBytes& alive);

  std::vector<Move> moves_;     ///< in program order
  std::vector<bool> is_main_;   ///< by op
  std::vector<Part> at_begin_;  ///< by op of the main lane: from the pause before it to its own allocations
  std::vector<Part> at_end_;    ///< by op of the main lane: what it frees, and on to the pause after it

  std::mutex mutex_;
  ResidentBytes resident_;
  ClassBytes alive_{};
  std::map<std::uint32_t, Peaks> peaks_;  ///< of steps in progress
};

/// When an op ran.
struct OpTime {
  OpIndex op = 0;
  std::uint32_t step = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
};
/// The live memory from a moment on, and the op of the program that uses it.
struct AliveFrom {
  OpIndex op = 0;
  std::uint32_t step = 0;
  std::int64_t time_ns = 0;
  ClassBytes bytes{};
};
/// Memory over the time in which a rank's ops ran, on a clock where ops follow each other without a pause, in order
/// of time; `ledger` is as after the previous step. Levels of zero duration are left out, unless above those before
/// and after: these last one nanosecond.
std::vector<AliveFrom> memory_along(Ledger& ledger, std::span<const OpTime> ops);

}  // namespace rankscope
