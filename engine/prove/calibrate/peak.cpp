#include "engine/prove/calibrate/peak.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "engine/base/host/clock.hpp"
#include "kernels/tensor/element.hpp"
#include "kernels/tensor/random.hpp"

namespace rankscope {
namespace {

using namespace std::chrono_literals;

/// Uniform in [-1, 1): a million values, repeated. A GPU's clock rate depends on how many bits change from product to
/// product: with zeros it is about 13 % faster than with real training data.
void put_random(Device& device, Queue& queue, const View& tensor) {
  const std::int64_t block = std::min<std::int64_t>(1'000'000, tensor.elements());
  const Memory values = device.reserve_host(block * bytes_of(tensor.type));
  const View host{values.get(), tensor.type, {block}};
  for (std::int64_t i = 0; i < block; ++i) set_element(host, i, 2 * uniform(1, 0, static_cast<std::uint64_t>(i)) - 1);
  for (std::int64_t first = 0; first < tensor.elements(); first += block)
    queue.copy(tensor.as<std::byte>() + first * bytes_of(tensor.type), values.get(),
               std::min(block, tensor.elements() - first) * bytes_of(tensor.type));
  if (const Mark written = queue.mark()) written->wait();
}

struct Nanoseconds {
  std::int64_t device = 0, wall = 0;
};

/// A product of two n by n matrices, ready to be repeated.
class Product {
 public:
  Product(std::int64_t n, DType type, const Platform& platform)
      : size_(n),
        product_(platform.kernels.prepare(
            &kernels::KernelSet::linear_forward,
            kernels::LinearSpec{.type = type, .result_type = type, .rows = n, .in = n, .out = n})),
        matrices_(platform.device->reserve(3 * n * n * bytes_of(type))),
        workspace_(platform.device->reserve(product_.workspace_bytes)),
        queue_(platform.device->make_queue()) {
    for (int i = 0; i < 3; ++i) views_[i] = {matrices_.get() + i * n * n * bytes_of(type), type, {n, n}};
    put_random(*platform.device, *queue_, {views_[1].data, type, {2 * n, n}});
    run();  // the first one includes initialisation
  }

  std::int64_t size() const { return size_; }

  Nanoseconds run() {
    const std::int64_t wall = monotonic_ns(), cpu = thread_cpu_ns();
    const Mark begun = queue_->mark();
    product_.launch(views_[0], views_[1], views_[2], {}, {}, {workspace_.get(), queue_->handle()});
    const Mark ended = queue_->mark();
    if (!ended) {
      const std::int64_t took = thread_cpu_ns() - cpu;
      return {took, monotonic_ns() - wall};
    }
    ended->wait();
    const std::int64_t took = ended->time_ns() - begun->time_ns();
    return {took, took};
  }

 private:
  std::int64_t size_;
  decltype(std::declval<const kernels::KernelSet&>().prepare(&kernels::KernelSet::linear_forward,
                                                             kernels::LinearSpec{})) product_;
  Memory matrices_, workspace_;
  std::unique_ptr<Queue> queue_;
  View views_[3];
};

double flops_of(std::int64_t n, std::int64_t ns) {
  const auto size = static_cast<double>(n);
  return ns > 0 ? 2 * size * size * size / (static_cast<double>(ns) * 1e-9) : 0;
}

/// The three best rates of one clock.
class Best {
 public:
  /// True if it is the best one.
  bool add(double rate) {
    rates_.insert(std::upper_bound(rates_.begin(), rates_.end(), rate, std::greater<>()), rate);
    if (rates_.size() > 3) rates_.pop_back();
    return rates_.front() == rate;
  }
  double rate() const { return rates_.empty() ? 0 : rates_.front(); }
  double spread() const { return rates_.size() < 3 ? 1 : 1 - rates_.back() / rates_.front(); }

 private:
  std::vector<double> rates_;
};

/// Products of any size.
struct Samples {
  Best device, wall;
  std::int64_t best_size = 0;
  int count = 0;
  void add(Product& product) {
    const Nanoseconds ns = product.run();
    if (device.add(flops_of(product.size(), ns.device))) best_size = product.size();
    wall.add(flops_of(product.size(), ns.wall));
    ++count;
  }
  PeakFlops best() const { return {device.rate(), wall.rate()}; }
  double spread() const { return std::max(device.spread(), wall.spread()); }
};

/// On a host, sizes that fit a core's caches, also small ones, which a busy machine interrupts less often. On a GPU one
/// that is large enough to keep it busy, and on a small GPU no larger than needed.
std::vector<std::int64_t> sizes_for(DType type, const Platform& platform) {
  if (platform.device->is_host()) return {384, 512, 768, 1024};
  std::int64_t n = 256;
  while (n < 8192 && Product(n, type, platform).run().device < 2'000'000) n *= 2;
  return {n};
}

}  // namespace

PeakMeasurement measure_peak(DType type, const Platform& platform, PeakEffort effort) {
  platform.device->use();
  std::vector<std::unique_ptr<Product>> products;
  for (const std::int64_t n : sizes_for(type, platform))
    products.push_back(std::make_unique<Product>(n, type, platform));
  Samples samples;
  const std::int64_t begin = monotonic_ns();
  const auto seconds = [&] { return static_cast<double>(monotonic_ns() - begin) * 1e-9; };
  do {
    for (const auto& product : products) {
      const std::int64_t burst = monotonic_ns();
      do samples.add(*product);
      while (monotonic_ns() - burst < 3'000'000);
      if (platform.device->is_host()) std::this_thread::sleep_for(5ms);
    }
  } while (seconds() < effort.least_seconds || (samples.spread() > 0.005 && seconds() < effort.most_seconds));
  return {samples.best(), samples.best_size, samples.count, samples.spread()};
}

PeakFlops glance_at_peak(DType type, const Platform& platform, std::int64_t size) {
  platform.device->use();
  Product product(size, type, platform);
  Samples samples;
  for (int i = 0; i < 5; ++i) samples.add(product);
  return samples.best();
}

}  // namespace rankscope
