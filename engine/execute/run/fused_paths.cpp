#include "engine/execute/run/fused_paths.hpp"

#include <fmt/format.h>

namespace rankscope {
namespace {

bool& option_of(kernels::Options& options, FusedPath path) {
  switch (path) {
    case FusedPath::attention: return options.fused_attention;
    case FusedPath::gelu: return options.fused_gelu;
    case FusedPath::bias_gradient: break;
  }
  return options.fused_bias_gradient;
}

}  // namespace

kernels::Options without_paths(std::span<const std::string> unfused) {
  kernels::Options options;
  for (const std::string& word : unfused) option_of(options, Choice<FusedPath>(word)) = false;
  return options;
}

std::string gpu_line(const Platform& platform) {
  kernels::Options options = platform.kernels.options;
  std::string fused, separate;
  for (std::size_t i = 0; i < word_table<FusedPath>.size(); ++i) {
    std::string& list = option_of(options, static_cast<FusedPath>(i)) ? fused : separate;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", word_table<FusedPath>[i]);
  }
  std::string line = fmt::format("{}, {}", platform.chip, platform.libraries);
  if (!fused.empty()) line += ", fused: " + fused;
  if (!separate.empty()) line += fmt::format("{} separate kernels: {}", fused.empty() ? "," : ";", separate);
  return line;
}

}  // namespace rankscope
