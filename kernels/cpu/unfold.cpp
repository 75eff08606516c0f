// Columns of an image for a convolution by products, and back.
#include <cstring>

#include "kernels/cpu/convolution.hpp"
#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/windows.hpp"

namespace rankscope::kernels::cpu {

Prepared<View, View> unfold(const ConvolutionSpec& spec, const Options& options) {
  return {0, [spec, threads = options.threads](View columns, View x, const Stream&) {
            const WindowAxis down = vertical_axis(spec), across = horizontal_axis(spec);
            const std::int64_t row_length = spec.kernel * spec.in;  // one row of a window: its pixels are contiguous
            const auto bytes = [&](std::int64_t elements) {
              return static_cast<std::size_t>(elements * bytes_of(spec.type));
            };
            parallel_for(threads, spec.samples * down.places, [&](std::int64_t first, std::int64_t last, int) {
              for (std::int64_t row = first; row < last; ++row)
                for (std::int64_t j = 0; j < across.places; ++j) {
                  const Stretch w = across.pixels_of(j);
                  const std::int64_t before = w.count == 0 ? 0 : (w.first - across.begin(j)) * spec.in;
                  const std::int64_t inside = w.count * spec.in;
                  for (std::int64_t a = 0; a < spec.kernel; ++a) {
                    const std::int64_t h = down.begin(row % down.places) + a;
                    std::byte* to = at(columns, ((row * across.places + j) * spec.kernel + a) * row_length);
                    if (h < 0 || h >= spec.height) {
                      std::memset(to, 0, bytes(row_length));
                      continue;
                    }
                    std::memset(to, 0, bytes(before));
                    std::memcpy(to + bytes(before),
                                at(x, ((row / down.places * spec.height + h) * spec.width + w.first) * spec.in),
                                bytes(inside));
                    std::memset(to + bytes(before + inside), 0, bytes(row_length - before - inside));
                  }
                }
            });
          }};
}

Prepared<View, View> fold(const ConvolutionSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View dx, View columns, const Stream&) {
            const WindowAxis down = vertical_axis(spec), across = horizontal_axis(spec);
            const std::int64_t window = std::int64_t{spec.kernel} * spec.kernel * spec.in;
            parallel_each(threads, spec.samples * spec.height, [&](std::int64_t row) {
              const std::int64_t pixel = row % spec.height;
              const Stretch h = down.windows_over(pixel);
              for (std::int64_t j = 0; j < spec.width; ++j) {
                const Stretch w = across.windows_over(j);
                // The next window contains the same pixel `stride` places further up or to the left.
                const std::int64_t within =
                    ((pixel - down.begin(h.first)) * spec.kernel + j - across.begin(w.first)) * spec.in;
                const std::int64_t from =
                    ((row / spec.height * down.places + h.first) * across.places + w.first) * window + within;
                const bool any = h.count > 0 && w.count > 0;
                loops.sum_grid(at(dx, (row * spec.width + j) * spec.in),
                               {any ? at(columns, from) : nullptr, any ? h.count : 0, w.count,
                                across.places * window - std::int64_t{spec.stride} * spec.kernel * spec.in,
                                window - std::int64_t{spec.stride} * spec.in},
                               spec.in, spec.accumulate);
              }
            });
          }};
}

}  // namespace rankscope::kernels::cpu
