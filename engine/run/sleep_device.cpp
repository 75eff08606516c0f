#include "engine/run/device.hpp"
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
    return [this, cost](std::uint32_t) {
      if (!precise_) kernels::sleep_precisely();
      precise_ = true;
      const std::int64_t now = kernels::monotonic_ns();
      deadline_ = (now - deadline_ < late_limit_ns ? deadline_ : now) + cost;
      if (deadline_ > now) kernels::sleep_until(deadline_);
    };
  }
  void reserve() override {}
  std::int64_t workspace_bytes() const override { return 0; }
  void initialise() override {}

 private:
  // A wake-up later than this is taken for waiting on a peer, not for the scheduler's lateness.
  static constexpr std::int64_t late_limit_ns = 300'000;
  std::function<std::int64_t(const Op&)> cost_ns_;
  std::int64_t deadline_ = 0;
  bool precise_ = false;
};

}  // namespace

std::unique_ptr<ComputeDevice> sleep_device(std::function<std::int64_t(const Op&)> cost_ns) {
  return std::make_unique<SleepDevice>(std::move(cost_ns));
}

}  // namespace rankscope
