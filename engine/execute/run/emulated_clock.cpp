#include "engine/execute/run/emulated_clock.hpp"

#include <algorithm>

#include "engine/base/host/threads.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/cost/signature.hpp"

namespace rankscope {
namespace {

// Enough for a steady median of ops that run once per step, few enough to follow changes of the machine's clock rate.
constexpr std::size_t kept_samples = 63;

}  // namespace

EmulatedClock::EmulatedClock(std::vector<RankProgram> programs, RankGrid grid, const Costs& costs,
                             const FaultSpec& fault, Publish publish)
    : programs_(std::move(programs)),
      fault_(fault),
      emulator_(programs_, grid, costs),
      publish_(std::move(publish)),
      ranks_(programs_.size()) {
  std::unordered_map<OpSignature, std::size_t> known;
  for (const RankProgram& program : programs_) {
    auto& index = ranks_[program.rank].index;
    for (OpIndex op = 0; op < program.ops.size(); ++op) index.emplace(program.ops[op].id, op);
    auto& of_rank = signature_.emplace_back();
    for (const Op& op : program.ops)
      of_rank.push_back(known.emplace(signature_of(program, op), known.size()).first->second);
  }
  samples_.resize(known.size());
  thread_ = start_thread("the device clock", [this] { work(); });
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
    if (!next_) next_ = step;
    Step& traces = steps_[step];
    traces.ranks.resize(signature_.size());
    traces.ranks[rank] = trace;
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
        if (!next_) return false;
        const auto found = steps_.find(*next_);
        return found != steps_.end() && found->second.finished == static_cast<int>(signature_.size());
      };
      ready_.wait(lock, [&] { return complete() || closing_; });
      if (!complete()) return;
      step = (*next_)++;
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
    executed.arrivals.push_back(traces.ranks[rank].arrivals);
    auto& costs = executed.cost_ns.emplace_back();
    for (std::size_t op = 0; op < signature_[rank].size(); ++op)
      costs.push_back(
          slowed_ns(fault_, programs_[rank].rank, programs_[rank].ops[op].id.kind(), cost[signature_[rank][op]]));
    auto& ledger = ranks_[rank].ledger;
    if (!ledger)
      ledger.emplace(programs_[rank], traces.ranks[rank].resident);
    else
      ledger->set_resident(traces.ranks[rank].resident);
  }
  const std::vector<Span> spans = emulator_.lay_out(executed).spans;
  for (auto begin = spans.begin(); begin != spans.end();) {
    const auto end = std::find_if(begin, spans.end(), [&](const Span& span) { return span.step != begin->step; });
    publish({begin, end});
    begin = end;
  }
}

void EmulatedClock::publish(const std::vector<Span>& spans) {
  std::vector<std::vector<const Span*>> by_rank(programs_.size());
  for (const Span& span : spans) by_rank[span.rank].push_back(&span);
  std::vector<MemorySample> memory;
  memory.reserve(2 * spans.size());
  for (std::size_t rank = 0; rank < programs_.size(); ++rank) add_memory(rank, by_rank[rank], memory);
  publish_(spans, memory);
}

// The rank's live bytes after each begin and each end of its spans.
void EmulatedClock::add_memory(std::size_t rank, const std::vector<const Span*>& spans,
                               std::vector<MemorySample>& memory) {
  std::vector<OpTime> times;
  times.reserve(spans.size());
  for (const Span* span : spans)
    times.push_back({ranks_[rank].index.at(span->op), span->step, span->begin_ns, span->end_ns});
  const RankProgram& program = programs_[rank];
  for (const AliveFrom& level : memory_along(*ranks_[rank].ledger, times))
    memory.push_back({program.rank, level.step, program.ops[level.op].id, level.time_ns, level.bytes});
}

}  // namespace rankscope
