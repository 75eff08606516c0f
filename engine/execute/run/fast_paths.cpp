#include "engine/execute/run/fast_paths.hpp"

#include <fmt/format.h>

#include "kernels/product_choices.hpp"

namespace rankscope {
namespace {

bool is_on(const kernels::Options& options, FastPath path) {
  switch (path) {
    case FastPath::attention: return options.fused_attention;
    case FastPath::cudnn: return options.library_attention;
    case FastPath::gelu: return options.fused_gelu;
    case FastPath::bias_gradient: return options.fused_bias_gradient;
    case FastPath::norm: return options.fused_norm;
    case FastPath::measured: break;
  }
  return options.choices != nullptr;
}

void switch_off(kernels::Options& options, FastPath path) {
  switch (path) {
    case FastPath::attention: options.fused_attention = false; return;
    case FastPath::cudnn: options.library_attention = false; return;
    case FastPath::gelu: options.fused_gelu = false; return;
    case FastPath::bias_gradient: options.fused_bias_gradient = false; return;
    case FastPath::norm: options.fused_norm = false; return;
    case FastPath::measured: options.choices = nullptr; return;
  }
}

}  // namespace

kernels::Options without_paths(std::span<const std::string> words) {
  kernels::Options options;
  options.choices = std::make_shared<kernels::ProductChoices>();
  for (const std::string& word : words) switch_off(options, Choice<FastPath>(word));
  return options;
}

std::string gpu_line(const Platform& platform) {
  std::string on, off;
  for (std::size_t i = 0; i < word_table<FastPath>.size(); ++i) {
    std::string& list = is_on(platform.kernels.options, static_cast<FastPath>(i)) ? on : off;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", word_table<FastPath>[i]);
  }
  std::string line = fmt::format("{}, {}", platform.chip, platform.libraries);
  if (!on.empty()) line += ", fast paths: " + on;
  if (!off.empty()) line += fmt::format("{} without: {}", on.empty() ? "," : ";", off);
  return line;
}

}  // namespace rankscope
