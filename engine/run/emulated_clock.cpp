#include "engine/run/emulated_clock.hpp"

#include <unordered_map>

#include "engine/simulate/signature.hpp"

namespace rankscope {
namespace {

// Enough for a steady median of ops that run once a step, few enough to follow a machine that changes its clock.
constexpr std::size_t kept_samples = 63;

}  // namespace

EmulatedClock::EmulatedClock(std::vector<RankProgram> programs, RankGrid grid, const Costs& costs,
                             std::function<void(std::uint32_t, const std::vector<Span>&)> publish)
    : emulator_(programs, grid, costs), publish_(std::move(publish)) {
  std::unordered_map<OpSignature, std::size_t> known;
  for (const RankProgram& program : programs) {
    auto& of_rank = signature_.emplace_back();
    for (const Op& op : program.ops)
      of_rank.push_back(known.emplace(signature_of(program, op), known.size()).first->second);
  }
  samples_.resize(known.size());
  thread_ = std::thread([this] { work(); });
}

EmulatedClock::~EmulatedClock() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  ready_.notify_one();
  thread_.join();
}

void EmulatedClock::step_done(int rank, std::uint32_t step, const StepTrace& trace) {
  {
    const std::lock_guard lock(mutex_);
    Step& traces = steps_[step];
    traces.ranks.resize(signature_.size());
    traces.ranks[static_cast<std::size_t>(rank)] = trace;
    ++traces.finished;
  }
  ready_.notify_one();
}

void EmulatedClock::work() {
  for (;;) {
    Step traces;
    std::uint32_t step = 0;
    {
      std::unique_lock lock(mutex_);
      const auto complete = [&] {
        const auto found = steps_.find(next_);
        return found != steps_.end() && found->second.finished == static_cast<int>(signature_.size());
      };
      ready_.wait(lock, [&] { return complete() || closing_; });
      if (!complete()) return;
      step = next_++;
      traces = std::move(steps_.extract(step).mapped());
    }
    lay_out(step, traces);
  }
}

void EmulatedClock::lay_out(std::uint32_t step, const Step& traces) {
  for (std::size_t rank = 0; rank < signature_.size(); ++rank)
    for (std::size_t op = 0; op < signature_[rank].size(); ++op) {
      auto& samples = samples_[signature_[rank][op]];
      samples.push_back(traces.ranks[rank].cpu_ns[op]);
      if (samples.size() > kept_samples) samples.pop_front();
    }
  std::vector<std::int64_t> cost;
  for (const auto& samples : samples_) cost.push_back(median({samples.begin(), samples.end()}));
  ExecutedStep executed;
  executed.step = step;
  for (std::size_t rank = 0; rank < signature_.size(); ++rank) {
    executed.order.push_back(traces.ranks[rank].executed);
    auto& costs = executed.cost_ns.emplace_back();
    for (const std::size_t signature : signature_[rank]) costs.push_back(cost[signature]);
  }
  publish_(step, emulator_.lay_out(executed).spans);
}

}  // namespace rankscope
