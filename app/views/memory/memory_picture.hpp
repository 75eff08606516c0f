// SPDX-License-Identifier: GPL-3.0-or-later
// The memory view as arithmetic: bytes by class in each pixel column, and every rank at its own peak. No widgets.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/plan/program/program.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

/// One pixel column: the moment with the greatest sum within it. Sums are the device's; the host's memory, if a plan
/// uses it, is separate.
struct MemoryColumn {
  enum class State : std::uint8_t { before, known, unknown } state = State::before;  ///< before: nothing reported yet
  ClassBytes bytes{};
  OpId op;  ///< that ran then
};

struct RankPeak {
  int rank = 0;
  ClassBytes bytes{};           ///< at the moment of the greatest sum within the step
  std::int64_t predicted = -1;  ///< its predicted greatest sum; -1 if there is none
  OpId op{};                    ///< that ran then
};

struct MemoryPicture {
  int rank = 0;
  TimeRange range;
  std::int64_t origin_ns = 0;  ///< origin of the time axis: the step's begin
  std::vector<MemoryColumn> columns;
  std::vector<std::int64_t> predicted;  ///< greatest predicted sum of each column; -1 if there is none
  std::vector<RankPeak> peaks;
  std::int64_t greatest = 0;  ///< of all above, sums, predicted ones and the host's: the least end of the axis
  std::array<bool, memory_class_count> shown{};  ///< [class]: some of the picture is of this class
  bool shows(MemoryClass memory) const { return shown[static_cast<std::size_t>(memory)]; }
  bool empty() const { return greatest == 0; }
};

struct MemoryRequest {
  std::shared_ptr<const StoreView> run, prediction;  ///< `prediction` may be null
  Obtained shown = Obtained::measured;
  int rank = 0;
  TimeRange range;
  int columns = 0;
  std::optional<std::uint32_t> step;  ///< of the compared peaks; none: the last step
};

/// Cost depends on the columns and the ranks, not on the samples.
MemoryPicture compose_memory(const MemoryRequest& request);

/// The bytes of each column from samples in time order, each valid until the next sample. Samples before the range
/// give the level at its beginning.
std::vector<MemoryColumn> columns_of(const std::vector<MemorySample>& samples, TimeRange range, int columns);

}  // namespace rankscope::app
