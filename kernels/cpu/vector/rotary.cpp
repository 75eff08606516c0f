// A head's numbers turned by their position.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class T>
RANKSCOPE_INLINE Vector<T> sum_of_heads(const T* x, int64_t count, int64_t stride, auto part) {
  Vector<T> sum = load(x, part);
  for (int64_t c = 1; c < count; ++c) sum += load(x + c * stride, part);
  return sum;
}

template <class T>
void rotate_head(T* y, const T* x, int64_t count, int64_t stride, const Scalar<T>* cosine, const Scalar<T>* sine,
                 int64_t half, bool back) {
  using A = Scalar<T>;
  if (!cosine) {
    sweep<T>(2 * half, [&](int64_t i, auto part) { store(y + i, sum_of_heads(x + i, count, stride, part), part); });
    return;
  }
  const A sign = back ? A(-1) : A(1);
  sweep<T>(half, [&](int64_t i, auto part) {
    const Vector<T> a = sum_of_heads(x + i, count, stride, part), b = sum_of_heads(x + half + i, count, stride, part);
    const Vector<T> c = load(cosine + i, part), s = load(sine + i, part) * sign;
    store(y + i, a * c - b * s, part);
    store(y + half + i, b * c + a * s, part);
  });
}

}  // namespace

template <class T>
void add_rotary(Loops& loops) {
  set<rotate_head<T>>(loops.rotate_head);
}
RANKSCOPE_FOR_ALL_TYPES(add_rotary)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
