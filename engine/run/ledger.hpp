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

/// What is alive all the time beside a program's buffers.
struct StandingBytes {
  std::int64_t workspace = 0;       ///< scratch of the kernels, and what communicators keep of the device's memory
  std::int64_t host_workspace = 0;  ///< scratch in the host's memory
  std::int64_t context = 0;         ///< of the device's driver and libraries; ranks that share a device share it
};

class Ledger {
 public:
  Ledger(const RankProgram& program, const StandingBytes& standing);

  /// This is what stands, and stood since the last take_peaks().
  void stand(const StandingBytes& standing);

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
    std::int64_t total = 0;  ///< greatest device_sum
  };
  /// The peaks since the last call; the next ones begin with what is alive now.
  Peaks take_peaks();

 private:
  template <class Changed>
  void apply(const std::optional<ClassBytes>& change, int sign, Changed changed) {
    if (!change) return;
    const std::lock_guard lock(mutex_);
    for (std::size_t c = 0; c < memory_class_count; ++c) {
      alive_[c] += sign * (*change)[c];
      peaks_.by_class[c] = std::max(peaks_.by_class[c], alive_[c]);
    }
    peaks_.total = std::max(peaks_.total, device_sum(alive_));
    changed(alive_);
  }

  std::vector<std::optional<ClassBytes>> acquired_, released_;  ///< by op; empty where nothing changes
  std::mutex mutex_;
  StandingBytes standing_;
  ClassBytes alive_{};
  Peaks peaks_;
};

}  // namespace rankscope
