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
/// An op of a size that was measured takes what it took. Of another size it takes launch + FLOPs/rate +
/// bytes/bandwidth + walked bytes/rate, whose terms (none negative) fit the op's measured sizes best in relative terms,
/// where its FLOPs (or bytes, where it has none) lie within four times of theirs; beyond that nothing is known of it.
/// The last term is attention's: pages and prefetchers see what lies between a head's rows, and on a Xeon the same head
/// takes 1.4 times as long forward, and 1.8 times backward, beside nine others as beside one. Where no measured size
/// has it, there is none.
class MeasuredOps {
 public:
  MeasuredOps(const std::vector<MeasuredCost>& costs, std::string_view precision);
  bool empty() const { return ops_.empty(); }
  /// Seconds; nullopt where nothing is known.
  std::optional<double> seconds(OpKind kind, Segment segment, OpWork work) const;
  /// "forward qkv".
  static std::string name(OpKind kind, Segment segment);

 private:
  using Terms = std::array<double, 4>;  ///< launch, per FLOP, per byte, per byte walked over
  struct Op {
    std::vector<MeasuredCost> sizes;
    Terms terms{};
  };
  static void fit(Op& op);
  std::map<std::string, Op> ops_;
};

}  // namespace rankscope
