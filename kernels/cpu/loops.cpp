#include "kernels/cpu/loops.hpp"

#include <array>
#include <cassert>

#include "kernels/cpu/cpu.hpp"

namespace rankscope::kernels {
namespace cpu {
namespace {

struct InstructionSet {
  std::string_view name;
  bool here;
  const Loops& (*loops)(int type);
};

/// The best one first.
std::array<InstructionSet, 3> instruction_sets() {
  __builtin_cpu_init();
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512cd");
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  return {{{"x86-64-v4", v4, v4::loops}, {"x86-64-v3", v3, v3::loops}, {"x86-64-v2", true, v2::loops}}};
}

int index_of(DType type) {
  switch (type) {
    case DType::f64: return 0;
    case DType::f32: return 1;
    case DType::bf16: return 2;
    case DType::f16: return 3;
    case DType::i32:
    case DType::u8: break;
  }
  assert(false && "no loops for this element type");
  return 1;
}

}  // namespace

const Loops& loops_for(DType type, const Options& options) {
  for (const InstructionSet& set : instruction_sets())
    if (set.here && (options.instruction_set.empty() || options.instruction_set == set.name))
      return set.loops(index_of(type));
  throw Unsupported("this machine has no instruction set '" + options.instruction_set + "'");
}

}  // namespace cpu

std::vector<std::string_view> cpu_instruction_sets() {
  std::vector<std::string_view> names;
  for (const cpu::InstructionSet& set : cpu::instruction_sets())
    if (set.here) names.push_back(set.name);
  return names;
}

}  // namespace rankscope::kernels
