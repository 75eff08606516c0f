// Measured times of ops on a device, which take precedence over the model.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/op/kind.hpp"
#include "engine/plan/model/model.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// The work of an op, as the model counts it.
struct OpWork {
  double flops = 0, bytes = 0;
  double walked_bytes = 0;  ///< SegmentSpec's
};
/// Of a segment's forward, backward, input or weight gradient.
OpWork work_of(const SegmentSpec& segment, OpKind kind);

/// Times of ops by their work, for one precision.
///
/// An op of a measured size needs its measured time. An op of another size needs launch + FLOPs/rate +
/// bytes/bandwidth + walked bytes/rate; the terms (none negative) fit the measured sizes best in relative terms. That
/// is valid if its FLOPs (or bytes, if it has none) are within a factor of four of theirs; beyond that the time is
/// unknown. The last term is for attention: pages and prefetchers also load what is between the rows of a head, and on
/// a Xeon the same head takes 1.4 times as long forward, and 1.8 times backward, with nine other heads as with one. If
/// no measured size has the term, it is omitted.
class MeasuredOps {
 public:
  MeasuredOps(const std::vector<MeasuredCost>& costs, std::string_view precision);
  bool empty() const { return ops_.empty(); }
  /// Seconds; nullopt if unknown.
  std::optional<double> seconds(OpKind kind, Segment segment, OpWork work) const;
  /// "forward qkv".
  static std::string name(OpKind kind, Segment segment);

 private:
  using Terms = std::array<double, 4>;  ///< launch, per FLOP, per byte, per walked byte
  struct Op {
    std::vector<MeasuredCost> sizes;
    Terms terms{};
  };
  static void fit(Op& op);
  std::map<std::string, Op> ops_;
};

}  // namespace rankscope
