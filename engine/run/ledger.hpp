// Bytes alive by memory class while a program runs: a buffer lives from the begin of its first use (a gather's from
// where compute finds it in the program) to the end of its last.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/program/program.hpp"

namespace rankscope {

using ClassBytes = std::array<std::int64_t, memory_class_count>;

class Ledger {
 public:
  /// `workspace_bytes`: scratch of the kernels, alive all the time, counted as `buffers`.
  Ledger(const RankProgram& program, std::int64_t workspace_bytes);

  /// What is alive once the op has begun, or has ended; calls `changed` with it, one call at a time, when that is other
  /// than before.
  template <class Changed>
  void begin(OpIndex op, Changed changed) {
    apply(acquired_[op], +1, changed);
  }
  template <class Changed>
  void end(OpIndex op, Changed changed) {
    apply(released_[op], -1, changed);
  }

  struct Peaks {
    ClassBytes by_class{};
    std::int64_t total = 0;
  };
  /// The peaks since the last call; the next ones begin with what is alive now.
  Peaks take_peaks();

 private:
  template <class Changed>
  void apply(const std::optional<ClassBytes>& change, int sign, Changed changed) {
    if (!change) return;
    const std::lock_guard lock(mutex_);
    std::int64_t total = 0;
    for (std::size_t c = 0; c < memory_class_count; ++c) {
      alive_[c] += sign * (*change)[c];
      peaks_.by_class[c] = std::max(peaks_.by_class[c], alive_[c]);
      total += alive_[c];
    }
    peaks_.total = std::max(peaks_.total, total);
    changed(alive_);
  }

  std::vector<std::optional<ClassBytes>> acquired_, released_;  ///< by op; empty where nothing changes
  std::mutex mutex_;
  ClassBytes alive_{};
  Peaks peaks_;
};

}  // namespace rankscope
