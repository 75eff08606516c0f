#include <algorithm>

#include "engine/base/host/clock.hpp"
#include "engine/execute/run/dispatch.hpp"

namespace rankscope {
namespace {

class HostDispatch final : public Dispatch {
 public:
  HostDispatch(const RankProgram& program, std::int64_t start_ns, DispatchCalls calls)
      : program_(program), start_ns_(start_ns), calls_(std::move(calls)) {}

  void begin(std::uint32_t, bool) override {}

  void run(OpIndex index, std::uint32_t step) override {
    FinishedOp done;
    done.op = index;
    done.span = {program_.rank, step, program_.ops[index].id, 0, 0, 0, -1};
    Span& span = done.span;
    span.begin_ns = monotonic_ns() - start_ns_;
    calls_.began(span, index);
    const std::int64_t cpu = thread_cpu_ns();
    done.outcome = calls_.launch(index, step);
    done.cost_ns = span.cpu_ns = thread_cpu_ns() - cpu;
    span.end_ns = monotonic_ns() - start_ns_;
    const std::int64_t active_ns = done.outcome.active_ns;
    span.active_ns = active_ns < 0 ? span.begin_ns : std::clamp(active_ns - start_ns_, span.begin_ns, span.end_ns);
    calls_.ended(span, index);
    calls_.done(std::move(done));
    if (calls_.launched) calls_.launched(index, step);
  }

  void abort() override {}  // no waiting here
  void end(bool) override {}

 private:
  const RankProgram& program_;
  const std::int64_t start_ns_;
  const DispatchCalls calls_;
};

}  // namespace

std::unique_ptr<Dispatch> dispatch_on_host(const RankProgram& program, std::int64_t start_ns, DispatchCalls calls) {
  return std::make_unique<HostDispatch>(program, start_ns, std::move(calls));
}

}  // namespace rankscope
