#include "engine/plan/scenario/scenario.hpp"

#include <charconv>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace rankscope {

double ClusterSpec::peak_flops(DType type) const {
  switch (type) {
    case DType::f64: return peak_flops_fp64;
    case DType::f32: return peak_flops_fp32;
    case DType::bf16: return peak_flops_bf16;
    case DType::f16: return peak_flops_fp16;
    case DType::i32:
    case DType::u8: break;
  }
  throw std::invalid_argument("there is no peak for products of type " + std::string(name_of(type)));
}

std::string ClusterSpec::label() const {
  if (spec.empty()) return "own";
  return spec.find('/') == std::string::npos ? spec : std::filesystem::path(spec).stem().string();
}

double ClusterSpec::average_watts(double waiting) const {
  return power_watts * (1 - waiting) + (idle_watts > 0 ? idle_watts : power_watts) * waiting;
}

DType Scenario::compute_type() const {
  switch (plan.precision) {
    case Precision::fp64: return DType::f64;
    case Precision::fp32: return DType::f32;
    case Precision::bf16: return DType::bf16;
    case Precision::fp16: break;
  }
  return DType::f16;
}

std::optional<std::vector<int>> listed_layers(const std::string& stages) {
  std::vector<int> layers;
  const char* at = stages.data();
  const char* const end = at + stages.size();
  const auto skip = [&] {
    while (at != end && (*at == ' ' || *at == ',')) ++at;
  };
  for (skip(); at != end; skip()) {
    int count = 0;
    const auto [after, error] = std::from_chars(at, end, count);
    if (error != std::errc{} || count < 0) return std::nullopt;
    layers.push_back(count);
    at = after;
  }
  if (layers.empty()) return std::nullopt;
  return layers;
}

std::optional<std::array<double, 5>> listed_times(const std::string& pass_times) {
  std::istringstream in(pass_times);
  std::array<double, 5> times{};
  for (double& time : times)
    if (!(in >> time)) return std::nullopt;
  if (std::string more; in >> more) return std::nullopt;
  const auto [forward, input_gradient, weight_gradient, message, kept] = times;
  const bool positive = forward > 0 && input_gradient > 0 && weight_gradient > 0 && message >= 0 && kept > 0;
  return positive && kept <= 1 ? std::optional(times) : std::nullopt;
}

}  // namespace rankscope
