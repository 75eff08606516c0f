// The host as a device: the calling thread does the work.
#pragma once
#include "kernels/device/device.hpp"

namespace rankscope {

class HostQueue final : public Queue {
 public:
  void* handle() const override { return nullptr; }
  void copy(void* to, const void* from, std::int64_t bytes) override;
  void fill(void* to, std::uint8_t byte, std::int64_t bytes) override;
  void sum(DType type, std::span<void* const> into, std::span<const void* const> parts, std::int64_t elements) override;
  Mark mark() override { return nullptr; }
  /// Waits here, for another device's work.
  void wait_for(const Mark& mark) override {
    if (mark) mark->wait();
  }
};

class HostDevice final : public Device {
 public:
  std::string_view name() const override { return "cpu"; }
  bool is_host() const override { return true; }
  void use() override {}
  /// Page-aligned. Throws std::bad_alloc.
  Memory reserve(std::int64_t bytes) override;
  Memory reserve_host(std::int64_t bytes) override { return reserve(bytes); }
  std::unique_ptr<Queue> make_queue() override { return std::make_unique<HostQueue>(); }
  std::int64_t context_bytes() const override { return 0; }
  bool fit_clock() override { return true; }
  std::int64_t clock_uncertainty_ns() const override { return 0; }
};

}  // namespace rankscope
