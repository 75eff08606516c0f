#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class T>
Loops make() {
  Loops loops{};
  add_elementwise<T>(loops);
  add_gelu<T>(loops);
  add_norm<T>(loops);
  add_batch_norm<T>(loops);
  add_windows<T>(loops);
  add_cross_entropy<T>(loops);
  add_embedding<T>(loops);
  add_dropout<T>(loops);
  add_attention<T>(loops);
  add_update<T>(loops);
  add_adam8bit<T>(loops);
  add_adafactor<T>(loops);
  add_trust<T>(loops);
  return loops;
}

}  // namespace

const Loops& loops(int type) {
  static const Loops table[4] = {make<double>(), make<float>(), make<Bf16>(), make<F16>()};
  return table[type];
}

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
