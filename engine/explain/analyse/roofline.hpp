// The kernels of a step under a roofline (Williams, Waterman and Patterson 2009, CACM 52:4): for each kind of op its
// FLOPs per byte moved, its speed, and the greatest speed that the machine allows.
#pragma once
#include <string>
#include <vector>

#include "engine/plan/program/compile.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

/// Ops of one kind and segment on all ranks of a step; for a folded op the segment is `whole`.
struct RooflinePoint {
  OpKind kind = OpKind::forward;
  Segment segment = Segment::whole;
  double flops = 0, bytes = 0;  ///< of one op, on average: the model's products; every operand once
  double seconds = 0;           ///< of one op, the median; of ops with different FLOPs the mean
  double all_seconds = 0;       ///< of all ops
  int ops = 0;
  double intensity() const { return flops / bytes; }  ///< FLOP per byte
  double rate() const { return flops / seconds; }     ///< FLOP/s
};

/// By kind and segment, the longest total time first. Only ops of the model with FLOPs: a logarithmic chart cannot show
/// the others.
std::vector<RooflinePoint> roofline_points(const StepProgram& step, const std::vector<Span>& spans);

/// A machine's two limits; 0: unknown.
struct Roof {
  double flops = 0;      ///< FLOP/s of one device
  double bandwidth = 0;  ///< bytes/s of its memory
  /// FLOP/s that an op with this intensity (FLOP per byte) can reach.
  double at(double intensity) const;
  /// FLOP per byte above which arithmetic is the limit.
  double ridge() const { return flops / bandwidth; }
  bool known() const { return flops > 0 && bandwidth > 0; }
};

}  // namespace rankscope
