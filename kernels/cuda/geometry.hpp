// Divides work into blocks and threads: plain arithmetic, tested without a device. Internal to kernels/cuda.
#pragma once
#include <cstdint>
#include <initializer_list>

namespace rankscope::kernels::cuda {

inline constexpr int warp_size = 32;

/// The number of pieces of `per_piece` that cover n.
constexpr std::int64_t pieces_of(std::int64_t n, std::int64_t per_piece) { return (n + per_piece - 1) / per_piece; }

/// Bytes rounded up so that the next data are aligned.
constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Threads for rows of `width` elements, `each` per thread at a time: complete warps, at most `most`.
constexpr int threads_for_row(std::int64_t width, int each, int most) {
  const std::int64_t wanted = pieces_of(pieces_of(width, each), warp_size) * warp_size;
  return static_cast<int>(wanted < warp_size ? warp_size : wanted < most ? wanted : most);
}

/// Whether all rows of `width` elements in these tensors begin at a multiple of `bytes`, and every row consists of
/// complete packs of `pack` elements. Null means that there is no such tensor.
inline bool rows_are_packs(std::int64_t width, int pack, std::int64_t bytes,
                           std::initializer_list<const void*> tensors) {
  if (width % pack != 0) return false;
  for (const void* tensor : tensors)
    if (reinterpret_cast<std::uintptr_t>(tensor) % static_cast<std::uintptr_t>(bytes) != 0) return false;
  return true;
}

}  // namespace rankscope::kernels::cuda
