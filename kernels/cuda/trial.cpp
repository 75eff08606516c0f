#include "kernels/cuda/trial.hpp"

#include <algorithm>
#include <limits>

#include "kernels/cuda/noise.hpp"

namespace rankscope::kernels::cuda {
namespace {

constexpr std::int64_t greatest_alignment = 256;  ///< of DeviceMemory
constexpr int rounds = 5;
/// An event has a resolution of about half a microsecond: short products are launched several times between two.
constexpr double least_ns = 100'000;
constexpr int most_times = 10;
constexpr double refused = std::numeric_limits<double>::infinity();

}  // namespace

Trial::Trial(const ProductSpec& spec, std::int64_t alignment, std::int64_t workspace_bytes) : alignment_(alignment) {
  memory_.emplace_back(workspace_bytes);
  work_ = {memory_.front().data(), stream_.handle()};
  const std::int64_t results = spec.m * spec.n;
  operands_.c = reserve(spec.result, results);
  operands_.a = reserve(spec.type, spec.m * spec.k);
  operands_.b = reserve(spec.type, spec.k * spec.n);
  if (spec.bias) operands_.bias = reserve(spec.type, spec.n);
  if (spec.residual) operands_.residual = reserve(spec.result, results);
  if (spec.epilogue == Epilogue::row_sums)
    operands_.auxiliary = reserve(spec.type == DType::f64 ? DType::f64 : DType::f32, spec.m);
  else if (spec.epilogue != Epilogue::none)
    operands_.auxiliary = reserve(spec.result, results);
  for (const View& tensor : tensors_) fill_with_noise(tensor.data, tensor.type, tensor.elements(), work_);
}

void* Trial::reserve(DType type, std::int64_t elements) {
  const std::int64_t offset = alignment_ % greatest_alignment;
  memory_.emplace_back(offset + elements * bytes_of(type));
  tensors_.push_back({memory_.back().data() + offset, type, {elements}});
  return tensors_.back().data;
}

double Trial::nanoseconds_of(const Launch& launch, int times) {
  DeviceEvent begin, end;
  begin.record(stream_);
  for (int i = 0; i < times; ++i)
    if (!launch(operands_, work_)) return refused;
  end.record(stream_);
  end.wait();
  return end.nanoseconds_since(begin) / times;
}

std::vector<double> Trial::nanoseconds(std::span<const Launch> launches) {
  std::vector<int> times;  // number of launches between two events; 0: it was refused
  for (const Launch& launch : launches) {
    nanoseconds_of(launch, 1);  // loads its code
    const double once = nanoseconds_of(launch, 1);
    times.push_back(once == refused ? 0 : std::clamp(static_cast<int>(least_ns / std::max(once, 1.0)), 1, most_times));
  }
  std::vector<std::vector<double>> measured(launches.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < launches.size(); ++i)
      if (times[i] > 0) measured[i].push_back(nanoseconds_of(launches[i], times[i]));
  std::vector<double> medians;
  for (std::vector<double>& of_one : measured) {
    std::sort(of_one.begin(), of_one.end());
    medians.push_back(of_one.empty() ? refused : of_one[of_one.size() / 2]);
  }
  return medians;
}

}  // namespace rankscope::kernels::cuda
