// Positions of sliding windows over an image, for convolutions and pools of every set.
#pragma once
#include <cstdint>
#include <string>

#include "kernels/kernel_set.hpp"
#include "kernels/tensor/host_device.hpp"

namespace rankscope::kernels {

/// Integers [first, first + count).
struct Stretch {
  std::int64_t first = 0, count = 0;
};

/// One axis of an image, and the windows along it.
struct WindowAxis {
  std::int64_t size = 0, places = 0;  ///< pixels; windows
  std::int64_t kernel = 1, stride = 1, padding = 0;

  /// The begin of a window, which may be before the image.
  RANKSCOPE_HOST_DEVICE std::int64_t begin(std::int64_t window) const { return window * stride - padding; }
  /// The pixels of the image under a window.
  RANKSCOPE_HOST_DEVICE Stretch pixels_of(std::int64_t window) const {
    const std::int64_t from = begin(window) < 0 ? 0 : begin(window);
    const std::int64_t to = begin(window) + kernel > size ? size : begin(window) + kernel;
    return {from, to > from ? to - from : 0};
  }
  /// The windows over a pixel.
  RANKSCOPE_HOST_DEVICE Stretch windows_over(std::int64_t pixel) const {
    const std::int64_t reach = pixel + padding;
    const std::int64_t from = reach < kernel ? 0 : (reach - kernel) / stride + 1;
    const std::int64_t to = reach / stride + 1 > places ? places : reach / stride + 1;
    return {from, to > from ? to - from : 0};
  }
};

template <class Spec>
WindowAxis vertical_axis(const Spec& spec) {
  return {spec.height, spec.out_height(), spec.kernel, spec.stride, spec.padding};
}
template <class Spec>
WindowAxis horizontal_axis(const Spec& spec) {
  return {spec.width, spec.out_width(), spec.kernel, spec.stride, spec.padding};
}

/// Throws Unsupported if an image has no window, or (`each_has_a_pixel`) if a window is outside of it.
template <class Spec>
void check_windows(const Spec& spec, const char* what, bool each_has_a_pixel) {
  const std::int64_t least = spec.height < spec.width ? spec.height : spec.width;
  if (spec.kernel >= 1 && spec.stride >= 1 && spec.padding >= 0 && least + 2 * spec.padding >= spec.kernel &&
      (!each_has_a_pixel || 2 * spec.padding <= spec.kernel))
    return;
  throw Unsupported(std::string("there is no ") + what + " of " + std::to_string(spec.height) + " x " +
                    std::to_string(spec.width) + " pixels with a kernel of " + std::to_string(spec.kernel) +
                    ", a stride of " + std::to_string(spec.stride) + " and a padding of " +
                    std::to_string(spec.padding));
}

}  // namespace rankscope::kernels
