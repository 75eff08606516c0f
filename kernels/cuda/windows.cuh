// Index arithmetic of images in kernels: the pixels that each thread reads. Internal to kernels/cuda.
#pragma once
#include "kernels/cuda/launch.cuh"
#include "kernels/windows.hpp"

namespace rankscope::kernels::cuda {

/// One of the pixels of several images, or of the windows over them.
struct Place {
  int64_t sample, row, column;
};
/// Divides in 32 bits, which is much faster than in 64: no tensor has more pixels.
__device__ inline Place place_of(int64_t index, int64_t rows, int64_t columns) {
  const auto i = static_cast<std::uint32_t>(index), width = static_cast<std::uint32_t>(columns);
  const std::uint32_t row = i / width, height = static_cast<std::uint32_t>(rows);
  return {row / height, row % height, i - row * width};
}

/// The images of a convolution or pool.
struct Images {
  WindowAxis down, across;
  int64_t channels;
  template <class Spec>
  Images(const Spec& spec, int64_t of_channels)
      : down(vertical_axis(spec)), across(horizontal_axis(spec)), channels(of_channels) {}
  /// The offset of the channels of a pixel or window.
  __device__ int64_t pixel(int64_t sample, int64_t row, int64_t column) const {
    return ((sample * down.size + row) * across.size + column) * channels;
  }
  __device__ int64_t window(int64_t sample, int64_t row, int64_t column) const {
    return ((sample * down.places + row) * across.places + column) * channels;
  }
};

/// Runs each_element on `rows` of `width` elements, with 16-byte accesses of T if `channels` is a multiple of a pack
/// and all `tensors` are aligned for them: the elements of one thread then belong to one pixel.
template <class T, class Body>
void for_each_channel(int64_t rows, int64_t width, int64_t channels, std::initializer_list<const void*> tensors,
                      const Body& body, const Stream& stream) {
  constexpr int v = pack<T>;
  if (rows_are_packs(channels, v, 16, tensors))
    launch(each_element<v, Body>, {grid_of(pieces_of(rows * width, 256 * v)), dim3(256)}, stream, rows * width, body);
  else
    launch(each_element<1, Body>, {grid_of(pieces_of(rows * width, 256)), dim3(256)}, stream, rows * width, body);
}

}  // namespace rankscope::kernels::cuda
