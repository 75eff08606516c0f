// Ops that were measured on the device itself go before the model of it.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/op/kind.hpp"
#include "engine/scenario/scenario.hpp"

namespace rankscope {

/// Times of ops by their FLOPs and bytes, for one precision.
///
/// An op of a size that was measured takes what it took. Of another size it takes launch + FLOPs/rate +
/// bytes/bandwidth, whose three terms (none negative) fit the op's measured sizes best in relative terms, where its
/// work lies within four times of theirs; beyond that nothing is known of it.
class MeasuredOps {
 public:
  MeasuredOps(const std::vector<MeasuredCost>& costs, std::string_view precision);
  bool empty() const { return ops_.empty(); }
  /// Seconds; nullopt where nothing is known.
  std::optional<double> seconds(OpKind kind, Segment segment, double flops, double bytes) const;
  /// "forward qkv".
  static std::string name(OpKind kind, Segment segment);

 private:
  struct Op {
    std::vector<MeasuredCost> sizes;
    double launch = 0, per_flop = 0, per_byte = 0;
  };
  static void fit(Op& op);
  std::map<std::string, Op> ops_;
};

}  // namespace rankscope
