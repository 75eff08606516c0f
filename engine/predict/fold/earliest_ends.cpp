#include <algorithm>

#include "engine/predict/fold/folded_costs.hpp"

namespace rankscope {
namespace {

class Earliest {
 public:
  Earliest(FoldedPlan& plan, const FoldedCosts& costs)
      : plan_(plan), costs_(costs), schedule_(plan.schedule), blocks_(!plan.cluster.software.overlap) {}

  std::vector<double> ends() const {
    const auto stages = schedule_.stages.size();
    const std::vector<double> there = first_inputs(), work = own_work();
    // The end of the last pass that another stage waits for, and the stage's remaining work after it.
    std::vector<double> gradient(stages), behind(stages);
    for (std::size_t s = 0; s < stages; ++s) {
      behind[s] = behind_last_gradient(s);
      gradient[s] = there[schedule_.stages[s].first_chunk] + work[s] - behind[s];
    }
    for (int c = costs_.chunks() - 1; c >= 0; --c) {
      const auto s = static_cast<std::size_t>(plan_.stage_of(c));
      const Pass& last = schedule_.stages[s].last_gradient;
      if (static_cast<int>(last.chunk) != c) continue;
      if (c + 1 < costs_.chunks()) {
        const auto from = static_cast<std::size_t>(plan_.stage_of(c + 1));
        const Pass& before = schedule_.stages[from].last_gradient;
        if (static_cast<int>(before.chunk) == c + 1 && before.micro_batch == last.micro_batch)
          gradient[s] = std::max(gradient[s], gradient[from] + costs_.message(false, c + 1) - costs_.chunk(c).ahead +
                                                  costs_.seconds(last));
      }
      if (c == 0 && static_cast<int>(last.micro_batch) == micro_batches() - 1)
        gradient[s] = std::max(gradient[s], rounds());
    }
    for (std::size_t s = 0; s < stages; ++s) gradient[s] += behind[s];
    return gradient;
  }

 private:
  int micro_batches() const { return schedule_.shape.micro_batches; }
  /// Without overlap, a sender computes nothing until its message has arrived.
  double blocking(OpKind kind, int chunk) const {
    return blocks_ && kind != OpKind::weight_gradient ? costs_.message(kind == OpKind::forward, chunk) : 0;
  }

  /// [chunk]: the earliest arrival of the first micro-batch.
  std::vector<double> first_inputs() const {
    std::vector<double> there{0};
    for (int c = 0; c + 1 < costs_.chunks(); ++c)
      there.push_back(there.back() + costs_.seconds(OpKind::forward, c, true) + costs_.message(true, c));
    return there;
  }

  /// [stage]: all its passes.
  std::vector<double> own_work() const {
    std::vector<double> work(schedule_.stages.size(), 0);
    const auto add = [&](OpKind kind, int c) {
      work[plan_.stage_of(c)] += costs_.seconds(kind, c, true) +
                                 (micro_batches() - 1) * costs_.seconds(kind, c, false) +
                                 micro_batches() * blocking(kind, c);
    };
    for (int c = 0; c < costs_.chunks(); ++c) {
      add(OpKind::forward, c);
      if (schedule_.splits) add(OpKind::weight_gradient, c);
      add(gradient_kind(), c);
    }
    return work;
  }
  OpKind gradient_kind() const { return schedule_.splits ? OpKind::input_gradient : OpKind::backward; }

  double behind_last_gradient(std::size_t s) const {
    const StageOrder& order = schedule_.stages[s];
    double seconds = blocking(order.last_gradient.op_kind(), static_cast<int>(order.last_gradient.chunk));
    for (const PassCount& one : order.behind)
      seconds += one.count * (costs_.seconds(one.kind, one.chunk, one.is_first) + blocking(one.kind, one.chunk));
    return seconds;
  }

  /// The first chunk has at most `in_flight` micro-batches at a time: it starts one only after the micro-batch
  /// `in_flight` before it has returned. So the step has this many round trips in sequence, after some forwards.
  double rounds() const {
    double round = 0;
    for (int c = 0; c < costs_.chunks(); ++c) {
      const double gradient =
          std::min(costs_.seconds(gradient_kind(), c, true), costs_.seconds(gradient_kind(), c, false));
      const double ahead = c + 1 < costs_.chunks() ? costs_.chunk(c).ahead : 0;
      round += costs_.seconds(OpKind::forward, c, false) + gradient - ahead + costs_.message(true, c) +
               costs_.message(false, c);
    }
    const int m = micro_batches(), limit = schedule_.in_flight;
    const double forward = costs_.seconds(OpKind::forward, 0, false) + blocking(OpKind::forward, 0);
    return (m - 1) % limit * forward + (m + limit - 1) / limit * round;
  }

  FoldedPlan& plan_;
  const FoldedCosts& costs_;
  const FoldedSchedule& schedule_;
  bool blocks_;
};

}  // namespace

std::vector<double> earliest_ends(FoldedPlan& plan, const FoldedCosts& costs) { return Earliest(plan, costs).ends(); }

}  // namespace rankscope
