// Rows of the embedding matrices.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class T>
void embed_row(T* y, const T* token_row, const T* position_row, int64_t width) {
  sweep<T>(width,
           [&](int64_t j, auto part) { store(y + j, load(token_row + j, part) + load(position_row + j, part), part); });
}

template <class T>
void accumulate(Scalar<T>* sum, const T* x, int64_t n) {
  sweep<T>(n, [&](int64_t j, auto part) { store(sum + j, load(sum + j, part) + load(x + j, part), part); });
}

}  // namespace

template <class T>
void add_embedding(Loops& loops) {
  set<embed_row<T>>(loops.embed_row);
  set<accumulate<T>>(loops.accumulate);
}
RANKSCOPE_FOR_ALL_TYPES(add_embedding)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
