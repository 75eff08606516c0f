// Rows of the embedding matrices.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class T>
void embed_row(void* y_, const void* token_row_, const void* position_row_, int64_t width) {
  auto* y = static_cast<T*>(y_);
  const auto* token_row = static_cast<const T*>(token_row_);
  const auto* position_row = static_cast<const T*>(position_row_);
  sweep<T>(width,
           [&](int64_t j, auto part) { store(y + j, load(token_row + j, part) + load(position_row + j, part), part); });
}

template <class T>
void accumulate(void* sum_, const void* x_, int64_t n) {
  auto* sum = static_cast<Scalar<T>*>(sum_);
  const auto* x = static_cast<const T*>(x_);
  sweep<T>(n, [&](int64_t j, auto part) { store(sum + j, load(sum + j, part) + load(x + j, part), part); });
}

}  // namespace

template <class T>
void add_embedding(Loops& loops) {
  loops.embed_row = embed_row<T>;
  loops.accumulate = accumulate<T>;
}
RANKSCOPE_FOR_ALL_TYPES(add_embedding)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
