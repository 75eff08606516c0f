// Each loops file fills its part of the table for one element type.
#pragma once
#include "kernels/cpu/vector/vector.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {

template <class T>
void add_elementwise(Loops& loops);
template <class T>
void add_gelu(Loops& loops);
template <class T>
void add_norm(Loops& loops);
template <class T>
void add_batch_norm(Loops& loops);
template <class T>
void add_windows(Loops& loops);
template <class T>
void add_cross_entropy(Loops& loops);
template <class T>
void add_embedding(Loops& loops);
template <class T>
void add_dropout(Loops& loops);
template <class T>
void add_attention(Loops& loops);
template <class T>
void add_update(Loops& loops);
template <class T>
void add_adam8bit(Loops& loops);
template <class T>
void add_adafactor(Loops& loops);
template <class T>
void add_trust(Loops& loops);

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA

/// Makes a loops file's part for all element types.
#define RANKSCOPE_FOR_ALL_TYPES(add) \
  template void add<double>(Loops&); \
  template void add<float>(Loops&);  \
  template void add<Bf16>(Loops&);   \
  template void add<F16>(Loops&);
