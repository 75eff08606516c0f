// Sums and maxima of vectors in a grid: under a window, or over all windows that contain a place.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class T>
void sum_grid(T* y, const VectorGrid& of, int64_t n, bool accumulate) {
  using A = Scalar<T>;
  sweep<T>(n, [&](int64_t j, auto part) {
    const auto* from = static_cast<const A*>(of.first) + j;
    Vector<T> sum = {};
    for (int64_t r = 0; r < of.rows; ++r)
      for (int64_t c = 0; c < of.columns; ++c) sum += load(from + r * of.row_stride + c * of.column_stride, part);
    if (accumulate) sum += load(y + j, part);
    store(y + j, sum, part);
  });
}

/// Places of a vector's elements, in lanes of the same width; in memory they are i32.
typedef std::int64_t LongVector __attribute__((vector_size(vector_bytes)));
typedef std::int32_t HalfIntVector __attribute__((vector_size(vector_bytes / 2)));
template <class T>
struct PlacesOf {
  using Vector = IntVector;
  using Memory = IntVector;
};
template <>
struct PlacesOf<double> {
  using Vector = LongVector;
  using Memory = HalfIntVector;
};
template <class T>
using Places = typename PlacesOf<T>::Vector;

template <class T>
RANKSCOPE_INLINE Places<T> load_places(const std::int32_t* p, Whole) {
  return __builtin_convertvector(raw_load<typename PlacesOf<T>::Memory>(p), Places<T>);
}
template <class T>
RANKSCOPE_INLINE Places<T> load_places(const std::int32_t* p, First some) {
  Places<T> places = {};
  for (int k = 0; k < some.count; ++k) places[k] = p[k];
  return places;
}
template <class T>
RANKSCOPE_INLINE void store_places(std::int32_t* p, Places<T> places, Whole) {
  const auto memory = __builtin_convertvector(places, typename PlacesOf<T>::Memory);
  __builtin_memcpy(p, &memory, sizeof memory);
}
template <class T>
RANKSCOPE_INLINE void store_places(std::int32_t* p, Places<T> places, First some) {
  for (int k = 0; k < some.count; ++k) p[k] = static_cast<std::int32_t>(places[k]);
}

template <class T>
void greatest_of_grid(T* y, std::int32_t* index, const VectorGrid& of, std::int32_t first_place, int64_t row_places,
                      int64_t n) {
  using P = Places<T>;
  sweep<T>(n, [&](int64_t j, auto part) {
    const auto* from = static_cast<const T*>(of.first) + j;
    Vector<T> greatest = load(from, part);
    P at = P{} + first_place;
    for (int64_t r = 0; r < of.rows; ++r)
      for (int64_t c = 0; c < of.columns; ++c) {
        const Vector<T> v = load(from + r * of.row_stride + c * of.column_stride, part);
        const P better = (v > greatest) | (v != v);
        greatest = better ? v : greatest;
        at = better ? P{} + static_cast<std::int32_t>(first_place + r * row_places + c) : at;
      }
    store(y + j, greatest, part);
    store_places<T>(index + j, at, part);
  });
}

template <class T>
void sum_where(T* dx, const VectorGrid& of, const std::int32_t* index, std::int32_t place, int64_t n) {
  sweep<T>(n, [&](int64_t j, auto part) {
    const Vector<T> zero = {};
    Vector<T> sum = {};
    for (int64_t r = 0; r < of.rows; ++r)
      for (int64_t c = 0; c < of.columns; ++c) {
        const int64_t at = r * of.row_stride + c * of.column_stride + j;
        sum += load_places<T>(index + at, part) == place ? load(static_cast<const T*>(of.first) + at, part) : zero;
      }
    store(dx + j, sum, part);
  });
}

}  // namespace

template <class T>
void add_windows(Loops& loops) {
  set<sum_grid<T>>(loops.sum_grid);
  set<greatest_of_grid<T>>(loops.greatest_of_grid);
  set<sum_where<T>>(loops.sum_where);
}
RANKSCOPE_FOR_ALL_TYPES(add_windows)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
