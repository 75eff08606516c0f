// Adam with moments of one byte each (Dettmers, Lewis, Shleifer and Zettlemoyer 2022, arXiv 2110.02861).
#include "kernels/cpu/vector/tables.hpp"
#include "kernels/cpu/vector/update.hpp"
#include "kernels/quantised_levels.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class A>
constexpr Levels<A> signed_levels = make_levels<A>(true);
template <class A>
constexpr Levels<A> unsigned_levels = make_levels<A>(false);

// Bytes and integers with as many lanes as a vector of the arithmetic type.
typedef std::uint8_t FloatBytes __attribute__((vector_size(vector_bytes / 4)));
typedef std::uint8_t DoubleBytes __attribute__((vector_size(vector_bytes / 8)));
typedef std::int64_t LongVector __attribute__((vector_size(vector_bytes)));
template <class A>
struct CodesOf {
  using Bytes = FloatBytes;
  using Integers = IntVector;
};
template <>
struct CodesOf<double> {
  using Bytes = DoubleBytes;
  using Integers = LongVector;
};

/// The indices of the levels nearest to magnitudes in [0, 1].
template <class A>
RANKSCOPE_INLINE typename CodesOf<A>::Integers ranks_of(Vector<A> x, const Levels<A>& levels) {
  using Integers = typename CodesOf<A>::Integers;
  const Vector<A> zero = {};
  Vector<A> slope = zero + levels.slope[decades - 1], shift = zero + levels.shift[decades - 1];
  Vector<A> last = zero + levels.last[decades - 1], base = zero + levels.base[decades - 1];
  for (int e = decades - 2; e >= 0; --e) {
    const auto inside = x >= zero + levels.border[e];
    slope = inside ? zero + levels.slope[e] : slope;
    shift = inside ? zero + levels.shift[e] : shift;
    last = inside ? zero + levels.last[e] : last;
    base = inside ? zero + levels.base[e] : base;
  }
  Vector<A> bin = fused(x, slope, shift);
  bin = bin < zero ? zero : bin;
  bin = bin > last ? last : bin;
  const Integers none = {};
  Integers rank = __builtin_convertvector(base, Integers) + __builtin_convertvector(bin, Integers);
  rank = x < zero + levels.least ? none : rank;
  return x > zero + levels.greatest ? none + levels.top : rank;
}

RANKSCOPE_INLINE void store_codes(std::uint8_t* to, const void* bytes, int64_t size, Whole) {
  __builtin_memcpy(to, bytes, static_cast<std::size_t>(size));
}
RANKSCOPE_INLINE void store_codes(std::uint8_t* to, const void* bytes, int64_t, First some) {
  for (int i = 0; i < some.count; ++i) to[i] = static_cast<const std::uint8_t*>(bytes)[i];
}

/// Codes of x·inverse, which is in [-1, 1].
template <class A, bool is_signed>
RANKSCOPE_INLINE void quantise_scaled(std::uint8_t* codes, const A* x, int64_t n, A inverse) {
  using Integers = typename CodesOf<A>::Integers;
  const Vector<A> zero = {};
  sweep<A>(n, [&](int64_t i, auto part) {
    const Vector<A> scaled = load(x + i, part) * inverse;
    Integers code;
    if constexpr (is_signed) {
      const Integers rank = ranks_of<A>(scaled < zero ? -scaled : scaled, signed_levels<A>);
      const Integers middle = Integers{} + code_of_zero;
      // There is no level -1.
      code = scaled < zero ? middle - (rank > middle ? middle : rank) : middle + rank;
    } else {
      code = ranks_of<A>(scaled, unsigned_levels<A>);
    }
    const auto bytes = __builtin_convertvector(code, typename CodesOf<A>::Bytes);
    store_codes(codes + i, &bytes, sizeof bytes, part);
  });
}

template <class T>
void quantise(std::uint8_t* codes, Scalar<T>* scale, const Scalar<T>* x, int64_t n, bool is_signed) {
  using A = Scalar<T>;
  Vector<A> greatest = {};
  sweep<A>(n, [&](int64_t i, auto part) {
    const Vector<A> v = load(x + i, part), magnitude = v < 0 ? -v : v;
    greatest = magnitude > greatest ? magnitude : greatest;
  });
  const A top = greatest_of(greatest);
  *scale = top;
  const A inverse = top >= least_scale<A> ? 1 / top : 0;
  if (is_signed)
    quantise_scaled<A, true>(codes, x, n, inverse);
  else
    quantise_scaled<A, false>(codes, x, n, inverse);
}

template <class T>
void dequantise(Scalar<T>* x, const std::uint8_t* codes, const Scalar<T>* scale, int64_t n, bool is_signed) {
  using A = Scalar<T>;
  const A* level = is_signed ? signed_levels<A>.value : unsigned_levels<A>.value;
  const A factor = *scale;
  for (int64_t i = 0; i < n; ++i) x[i] = level[codes[i]] * factor;
}

template <class T>
void adam8bit(const UpdateStretch& stretch, int64_t n, const UpdateStep& step) {
  using A = Scalar<T>;
  const Adam<Math<A>, false> rule(step);
  auto* m_codes = static_cast<std::uint8_t*>(stretch.state[0]);
  auto* v_codes = static_cast<std::uint8_t*>(stretch.state[1]);
  auto *m_scale = static_cast<A*>(stretch.state[2]), *v_scale = static_cast<A*>(stretch.state[3]);
  alignas(64) A m[quantised_block], v[quantised_block];
  for (int64_t first = 0; first < n; first += quantised_block) {
    const int64_t count = n - first < quantised_block ? n - first : quantised_block, block = first / quantised_block;
    dequantise<T>(m, m_codes + first, m_scale + block, count, true);
    dequantise<T>(v, v_codes + first, v_scale + block, count, false);
    apply<T>(rule,
             {static_cast<T*>(stretch.parameter) + first,
              stretch.master ? static_cast<A*>(stretch.master) + first : nullptr,
              static_cast<const A*>(stretch.gradient) + first,
              {m, v}},
             count);
    quantise<T>(m_codes + first, m_scale + block, m, count, true);
    quantise<T>(v_codes + first, v_scale + block, v, count, false);
  }
}

}  // namespace

template <class T>
void add_adam8bit(Loops& loops) {
  set<adam8bit<T>>(loops.adam8bit);
  set<quantise<T>>(loops.quantise);
  set<dequantise<T>>(loops.dequantise);
}
RANKSCOPE_FOR_ALL_TYPES(add_adam8bit)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
