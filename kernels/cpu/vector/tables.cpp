#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class T>
Loops make() {
  Loops loops{};
#define RANKSCOPE_ADD(file) add_##file<T>(loops);
  RANKSCOPE_LOOPS_FILES(RANKSCOPE_ADD);
#undef RANKSCOPE_ADD
  return loops;
}

}  // namespace

const Loops& loops(int type) {
  static const Loops table[4] = {make<double>(), make<float>(), make<Bf16>(), make<F16>()};
  return table[type];
}

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
