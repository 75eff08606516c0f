#include "kernels/cpu/loops.hpp"

#include <cassert>

#include "kernels/cpu/cpu.hpp"

namespace rankscope::kernels {
namespace cpu {
namespace {

struct InstructionSet {
  std::string_view name;
  const Loops& (*loops)(int type);
};

InstructionSet best() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd"))
    return {"x86-64-v4", v4::loops};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    return {"x86-64-v3", v3::loops};
  return {"x86-64-v2", v2::loops};
}

}  // namespace

const Loops& loops_for(DType type) {
  static const InstructionSet chosen = best();
  switch (type) {
    case DType::f64: return chosen.loops(0);
    case DType::f32: return chosen.loops(1);
    case DType::bf16: return chosen.loops(2);
    case DType::f16:
    case DType::i32:
    case DType::u8: break;
  }
  assert(false && "no loops for this element type");
  return chosen.loops(1);
}

}  // namespace cpu

std::string_view cpu_instruction_set() { return cpu::best().name; }

}  // namespace rankscope::kernels
