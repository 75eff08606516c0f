// Compares the times of two steps, item by item. The steps may be of different plans: an item of both
// has two figures; for a missing item that step's figure is NaN.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/explain/analyse/step_analysis.hpp"
#include "engine/op/not_known.hpp"

namespace rankscope {

/// The kinds of rows in a table of differences.
enum class DifferenceKind : std::uint8_t {
  time,     ///< the classes of a step's time, averaged over ranks: these sum to the step
  cause,    ///< why compute was idle, averaged over ranks
  op,       ///< ops by kind and purpose: from begin to end, averaged over ranks
  compute,  ///< each rank's compute and recomputation
  idle,     ///< each rank's bubble
};

struct DifferenceSide {
  double seconds = not_known;
  double count = not_known;  ///< ops a rank and step; only of DifferenceKind::op
};

struct DifferenceRow {
  DifferenceKind kind = DifferenceKind::time;
  std::string name;        ///< "bubble", "warm_up", "all_reduce of data_gradient"; empty for ranks
  std::int32_t rank = -1;  ///< of the last two kinds
  DifferenceSide a, b;
  /// B minus A, where a missing value counts as zero.
  double seconds() const;
};

/// `spans` are only the analysed step's.
struct ComparedStep {
  const StepAnalysis* analysis = nullptr;
  std::span<const Span> spans;
};

/// By kind in the order above; within a kind by the size of the difference, ranks by number. Items that neither step
/// has are omitted.
std::vector<DifferenceRow> difference_of(const ComparedStep& a, const ComparedStep& b);

}  // namespace rankscope
