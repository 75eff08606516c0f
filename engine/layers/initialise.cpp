#include "engine/layers/initialise.hpp"

#include <bit>
#include <stdexcept>
#include <string>

#include "engine/model/part.hpp"
#include "kernels/tensor/random.hpp"

namespace rankscope {
namespace {

/// fp32 to bf16: to nearest, ties to even.
std::uint16_t rounded_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

double value_at(const ParameterSpec& spec, std::uint64_t seed, std::int64_t index) {
  switch (spec.init) {
    case Init::zeros: return 0;
    case Init::ones: return 1;
    case Init::normal:
      return spec.std_dev * normal(seed, random_stream(RandomPurpose::weights),
                                   static_cast<std::uint64_t>(spec.global_offset + index));
  }
  return 0;
}

void store(const View& parameter, std::int64_t i, double value, const ParameterSpec& spec) {
  switch (parameter.type) {
    case DType::f64: parameter.as<double>()[i] = value; return;
    case DType::f32: parameter.as<float>()[i] = static_cast<float>(value); return;
    // Through fp32, so that a bf16 parameter is its fp32 master rounded, as after every update.
    case DType::bf16: parameter.as<std::uint16_t>()[i] = rounded_to_bf16(static_cast<float>(value)); return;
    case DType::f16:
    case DType::i32:
    case DType::u8:
      throw std::invalid_argument("no initial weights in " + std::string(name_of(parameter.type)) + " for " +
                                  spec.name + "; known: fp64, fp32, bf16");
  }
}

}  // namespace

void initialise(View parameter, const ParameterSpec& spec, std::uint64_t seed, std::int64_t first, int tensor) {
  for (const ElementRun& run : element_runs(spec, tensor, first, parameter.elements()))
    for (std::int64_t i = 0; i < run.count; ++i)
      store(parameter, run.local + i, run.is_padding() ? 0 : value_at(spec, seed, run.global + i), spec);
}

}  // namespace rankscope
