#include <array>

#include "engine/execute/run/device.hpp"
#include "kernels/sleep/sleep.hpp"

namespace rankscope {
namespace {

class SleepDevice : public ComputeDevice {
 public:
  explicit SleepDevice(std::function<std::int64_t(const Op&)> cost_ns) : cost_ns_(std::move(cost_ns)) {}

  // A chain of ops sleeps until deadlines, so that late wake-ups do not add up: an op that follows another at once
  // begins when that one should have ended.
  BoundCompute bind(const Op& op) override {
    const std::int64_t cost = cost_ns_(op);
    return [&chain = chains_[static_cast<std::size_t>(op.lane())], cost](std::uint32_t) {
      if (!chain.precise) kernels::sleep_precisely();
      chain.precise = true;
      const std::int64_t now = kernels::monotonic_ns();
      chain.deadline_ns = (now - chain.deadline_ns < late_limit_ns ? chain.deadline_ns : now) + cost;
      if (chain.deadline_ns > now) kernels::sleep_until(chain.deadline_ns);
    };
  }
  void reserve() override {}
  std::int64_t workspace_bytes() const override { return 0; }
  std::int64_t host_workspace_bytes() const override { return 0; }
  void initialise() override {}
  void report_values(StepValues& values, Queue&) override { values = {}; }

 private:
  // A wake-up later than this is attributed to waiting for a peer, not to the scheduler.
  static constexpr std::int64_t late_limit_ns = 300'000;
  std::function<std::int64_t(const Op&)> cost_ns_;
  struct Chain {
    std::int64_t deadline_ns = 0;
    bool precise = false;
  };
  std::array<Chain, lane_count> chains_;  ///< each is used by its lane's thread only
};

}  // namespace

std::unique_ptr<ComputeDevice> sleep_device(std::function<std::int64_t(const Op&)> cost_ns) {
  return std::make_unique<SleepDevice>(std::move(cost_ns));
}

}  // namespace rankscope
