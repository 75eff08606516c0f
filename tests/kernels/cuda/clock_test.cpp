// Compares the device's clock, mapped to the host's, with the time at which its queue reached a mark.
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "kernels/cuda/queue_device.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cuda/emulated/runtime.hpp"

using namespace rankscope;

namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Records the time when the queue reaches its current end.
std::shared_ptr<std::int64_t> stamp_in(Queue& queue) {
  const auto stamp = std::make_shared<std::int64_t>(0);
  if (emulated::enqueue(queue.handle(), [stamp] { *stamp = now_ns(); }) != cudaSuccess) std::abort();
  return stamp;
}

}  // namespace

// The device's clock is slow, so each fit gives earlier times than the fit before.
TEST_CASE("a mark's time error is at most the device's stated bound, fit after fit") {
  emulated::set_pace({.seed = 3, .greatest_delay_us = 100, .slow_by = 20'000});
  // A device states the largest bound of all its fits. New devices are used, so that a single poor fit (on a busy
  // machine) does not make the check of all others weak.
  for (int devices = 0; devices < 20; ++devices) {
    std::int64_t begin = now_ns();  // of the last successful fit
    const auto device = kernels::cuda_device(0);
    device->use();
    const auto queue = device->make_queue();
    for (int fit = 0; fit < 10; ++fit) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      const std::int64_t asked = now_ns();
      if (device->fit_clock()) begin = asked;
      const auto before = stamp_in(*queue);
      const Mark mark = queue->mark();
      const auto after = stamp_in(*queue);
      queue->mark()->wait();
      const std::int64_t since_the_fit = (now_ns() - begin) / 50;  // the clock is slow by this rate
      const std::int64_t uncertainty = device->clock_uncertainty_ns();
      INFO("device " << devices << ", fit " << fit << ", off by " << uncertainty << " ns at most");
      CHECK(mark->time_ns() >= *before - uncertainty - since_the_fit);
      CHECK(mark->time_ns() <= *after + uncertainty + since_the_fit);
    }
  }
  emulated::set_pace({});
}
