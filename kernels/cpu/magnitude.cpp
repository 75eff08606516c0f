#include "kernels/tensor/magnitude.hpp"

#include <array>
#include <bit>

#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/tensor/element.hpp"

namespace rankscope::kernels::cpu {
namespace {

constexpr std::int64_t elements_per_count = 16384;
using Counts = std::array<std::int64_t, magnitude_bins>;

int bin_of(float x) { return magnitude_bin(std::bit_cast<std::uint32_t>(x), 8, 23); }
int bin_of(double x) { return magnitude_bin(std::bit_cast<std::uint64_t>(x), 11, 52); }

/// `at`: the element at an index, in fp32 or fp64.
template <class At>
void count(double* counts, const At& at, std::int64_t n, std::byte* workspace, int threads) {
  auto* of_thread = reinterpret_cast<Counts*>(workspace);
  for (int t = 0; t < threads; ++t) of_thread[t].fill(0);
  parallel_for(threads, blocks_of(n, elements_per_count), [&](std::int64_t first, std::int64_t last, int thread) {
    Counts& own = of_thread[thread];
    const std::int64_t end = std::min(n, last * elements_per_count);
    for (std::int64_t i = first * elements_per_count; i < end; ++i) ++own[bin_of(at(i))];
  });
  for (int t = 0; t < threads; ++t)
    for (std::size_t b = 0; b < of_thread[t].size(); ++b) counts[b] += static_cast<double>(of_thread[t][b]);
}

}  // namespace

Prepared<View, View> count_magnitudes(const FlatSpec& spec, const Options& options) {
  return {aligned(static_cast<std::int64_t>(sizeof(Counts)) * options.threads),
          [n = spec.elements, type = spec.type, threads = options.threads](View counts, View x, const Stream& stream) {
            const auto with = [&](const auto& at) { count(counts.as<double>(), at, n, stream.workspace, threads); };
            if (type == DType::f64)
              with([values = x.as<const double>()](std::int64_t i) { return values[i]; });
            else if (type == DType::f32)
              with([values = x.as<const float>()](std::int64_t i) { return values[i]; });
            else
              with([x](std::int64_t i) { return static_cast<float>(element(x, i)); });
          }};
}

}  // namespace rankscope::kernels::cpu
