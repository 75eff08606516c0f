#include <algorithm>
#include <cstddef>
#include <optional>

#include "engine/plan/schedule/builder.hpp"

namespace rankscope {
namespace {

enum class Pass { forward, input_gradient, weight_gradient };

struct Stage {
  int warm_up = 1;  ///< forwards in flight before the first input gradient, and after each one
  int forwards = 0, input_gradients = 0, weight_gradients = 0;
  double free = 0, bubble = 0;
  bool owes_weight_gradient() const { return weight_gradients < input_gradients; }
};

/// Places passes in time, on all stages, in the order in which they begin.
class Placement {
 public:
  explicit Placement(PipelineShape shape)
      : shape_(shape),
        times_(shape.times),
        limit_(2 * shape.stages),
        stages_(static_cast<std::size_t>(shape.stages)),
        forward_end_(stages_.size()),
        gradient_end_(stages_.size()),
        schedule_(empty_schedule(ScheduleKind::zb_2p, shape)) {
    for (int s = 0; s < shape.stages; ++s) {
      // The passes that fit into the time until the first gradient is back from the last stage.
      const int behind = shape.stages - s - 1;
      const double way = behind * (times_.forward + times_.input_gradient + 2 * times_.message);
      at(s).warm_up = std::min({shape.micro_batches, limit_, 1 + static_cast<int>(way / times_.forward + small)});
      at(s).free = s * (times_.forward + times_.message);  // before its first forward it is not waiting
    }
  }

  ChunkSchedule run() {
    while (const auto next = first_to_begin()) {
      const auto [stage, pass, begin] = *next;
      if (weight_gradient_goes_before(stage, pass, begin))
        place(stage, Pass::weight_gradient, at(stage).free);
      else
        place(stage, pass, begin);
    }
    return std::move(schedule_);
  }

 private:
  struct Next {
    int stage;
    Pass pass;
    double begin;
  };
  static constexpr double small = 1e-9;  // of a pass: greater than differences by rounding

  Stage& at(int stage) { return stages_[static_cast<std::size_t>(stage)]; }

  /// One forward and one input gradient in turn after the warm-up; weight gradients alone at the end.
  std::optional<Pass> pass_after(const Stage& stage) const {
    const int m = shape_.micro_batches;
    if (stage.forwards < m && stage.forwards < stage.warm_up + stage.input_gradients) return Pass::forward;
    if (stage.input_gradients < m) return Pass::input_gradient;
    if (stage.weight_gradients < m) return Pass::weight_gradient;
    return std::nullopt;
  }

  /// When the pass's inputs are ready; nullopt while they have not been placed.
  std::optional<double> ready(int s, Pass pass) {
    if (pass == Pass::weight_gradient || (pass == Pass::forward && s == 0)) return 0;
    const bool forward = pass == Pass::forward, turns = !forward && s + 1 == shape_.stages;
    const auto& ends = forward ? forward_end_[static_cast<std::size_t>(s) - 1]
                       : turns ? forward_end_[static_cast<std::size_t>(s)]
                               : gradient_end_[static_cast<std::size_t>(s) + 1];
    const auto micro_batch = static_cast<std::size_t>(forward ? at(s).forwards : at(s).input_gradients);
    if (micro_batch >= ends.size()) return std::nullopt;
    return ends[micro_batch] + (turns ? 0 : times_.message);
  }

  std::optional<Next> first_to_begin() {
    std::optional<Next> first;
    for (int s = 0; s < shape_.stages; ++s) {
      const auto pass = pass_after(at(s));
      const auto when = pass ? ready(s, *pass) : std::nullopt;
      if (!when) continue;
      const double begin = std::max(*when, at(s).free);
      if (!first || begin < first->begin) first = Next{s, *pass, begin};
    }
    return first;
  }

  /// If there is no memory for a forward; if one fits into the gap before `begin`; or if the gap would make the stage's
  /// bubble the greatest of all.
  bool weight_gradient_goes_before(int s, Pass pass, double begin) {
    const Stage& stage = at(s);
    if (pass == Pass::weight_gradient || !stage.owes_weight_gradient()) return false;
    if (pass == Pass::forward && memory(stage) + 1 > limit_ + small) return true;
    const double gap = begin - stage.free;
    if (gap <= small) return false;
    if (gap >= times_.weight_gradient - small) return true;
    double greatest = 0;
    for (const Stage& other : stages_) greatest = std::max(greatest, other.bubble);
    return stage.bubble + gap > greatest - small;
  }

  /// In units of one micro-batch's activations.
  double memory(const Stage& stage) const {
    return stage.forwards - stage.input_gradients + times_.kept * (stage.input_gradients - stage.weight_gradients);
  }

  void place(int s, Pass pass, double begin) {
    Stage& stage = at(s);
    auto& order = schedule_.order[static_cast<std::size_t>(s)];
    stage.bubble += begin - stage.free;
    switch (pass) {
      case Pass::forward:
        order.push_back(forward_of(s, stage.forwards++));
        stage.free = begin + times_.forward;
        forward_end_[static_cast<std::size_t>(s)].push_back(stage.free);
        break;
      case Pass::input_gradient:
        order.push_back(input_gradient_of(s, stage.input_gradients++));
        stage.free = begin + times_.input_gradient;
        gradient_end_[static_cast<std::size_t>(s)].push_back(stage.free);
        break;
      case Pass::weight_gradient:
        order.push_back(weight_gradient_of(s, stage.weight_gradients++));
        stage.free = begin + times_.weight_gradient;
        break;
    }
  }

  PipelineShape shape_;
  PassTimes times_;
  int limit_;
  std::vector<Stage> stages_;
  std::vector<std::vector<double>> forward_end_, gradient_end_;  ///< [stage][micro-batch], of those placed
  ChunkSchedule schedule_;
};

}  // namespace

ChunkSchedule zb_2p_schedule(PipelineShape shape) { return Placement(shape).run(); }

}  // namespace rankscope
