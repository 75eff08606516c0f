// Divides a kernel's work over the threads of one rank. Internal to kernels/cpu.
#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace rankscope::kernels::cpu {

/// Calls body(first, last, thread) for consecutive parts of [0, n), one per thread. It uses OpenMP's threads, which
/// oneDNN uses, too; with one thread OpenMP is not called at all.
template <class Body>
void parallel_for(int threads, std::int64_t n, Body&& body) {
  const auto pieces = static_cast<int>(std::min<std::int64_t>(threads, n));
  if (pieces <= 1) {
    if (n > 0) body(std::int64_t{0}, n, 0);
    return;
  }
#pragma omp parallel num_threads(pieces)
  {
    const int thread = omp_get_thread_num(), running = omp_get_num_threads();
    body(n * thread / running, n * (thread + 1) / running, thread);
  }
}

/// Calls body(i) for every i of [0, n).
template <class Body>
void parallel_each(int threads, std::int64_t n, Body&& body) {
  parallel_for(threads, n, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i) body(i);
  });
}

/// Rows of one partial sum: fixed, so that sums do not depend on the number of threads.
inline constexpr std::int64_t rows_per_block = 64;
inline std::int64_t blocks_of(std::int64_t rows, std::int64_t per_block = rows_per_block) {
  return (rows + per_block - 1) / per_block;
}

/// Bytes rounded up to a cache line, so that the next data are aligned.
constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace rankscope::kernels::cpu
