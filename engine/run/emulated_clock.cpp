#include "engine/run/emulated_clock.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "engine/run/ledger.hpp"
#include "engine/simulate/signature.hpp"

namespace rankscope {
namespace {

// Enough for a steady median of ops that run once a step, few enough to follow a machine that changes its clock.
constexpr std::size_t kept_samples = 63;

/// Appends what the rank has alive from each begin and end of its spans on: a Ledger kept in the spans' time.
void memory_of(const RankProgram& program, std::int64_t workspace_bytes, const std::vector<Span>& spans,
               std::vector<MemorySample>& memory) {
  struct Moment {
    std::int64_t time;
    bool begins;
    OpIndex op;
    const Span* span;
  };
  std::unordered_map<OpId, OpIndex> index;
  for (OpIndex op = 0; op < program.ops.size(); ++op) index.emplace(program.ops[op].id, op);
  std::vector<Moment> moments;
  for (const Span& span : spans) {
    if (span.rank != program.rank) continue;
    moments.push_back({span.begin_ns, true, index.at(span.op), &span});
    moments.push_back({span.end_ns, false, index.at(span.op), &span});
  }
  // At one time, what ends makes room before what begins.
  std::sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
    return std::tie(a.time, a.begins, a.op) < std::tie(b.time, b.begins, b.op);
  });
  Ledger ledger(program, workspace_bytes);
  for (const Moment& m : moments) {
    const auto add = [&](const ClassBytes& alive) {
      memory.push_back({program.rank, m.span->step, m.span->op, m.time, alive});
    };
    if (m.begins)
      ledger.begin(m.op, add);
    else
      ledger.end(m.op, add);
  }
}

}  // namespace

EmulatedClock::EmulatedClock(std::vector<RankProgram> programs, RankGrid grid, const Costs& costs, Publish publish)
    : programs_(std::move(programs)), emulator_(programs_, grid, costs), publish_(std::move(publish)) {
  std::unordered_map<OpSignature, std::size_t> known;
  for (const RankProgram& program : programs_) {
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
  const std::vector<Span> spans = emulator_.lay_out(executed).spans;
  std::vector<MemorySample> memory;
  for (std::size_t rank = 0; rank < programs_.size(); ++rank)
    memory_of(programs_[rank], traces.ranks[rank].workspace_bytes, spans, memory);
  publish_(spans, memory);
}

}  // namespace rankscope
