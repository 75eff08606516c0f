// Pools, and pixels of bytes. Gradients are gathered: each place sums those of the windows over it, in order.
#include <cassert>
#include <cstring>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/windows.hpp"

namespace rankscope::kernels::cpu {

Prepared<View, View, View> max_pool_forward(const PoolSpec& spec, const Options& options) {
  check_windows(spec, "pool", true);
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View y, View index, View x, const Stream&) {
            const WindowAxis down = vertical_axis(spec), across = horizontal_axis(spec);
            const std::int64_t c = spec.channels;
            parallel_each(threads, spec.samples * down.places, [&](std::int64_t row) {
              const Stretch h = down.pixels_of(row % down.places);
              for (std::int64_t j = 0; j < across.places; ++j) {
                const Stretch w = across.pixels_of(j);
                const std::int64_t place = h.first * spec.width + w.first, to = (row * across.places + j) * c;
                const void* from = at(x, (row / down.places * spec.height * spec.width + place) * c);
                loops.greatest_of_grid(at(y, to), index.as<std::int32_t>() + to,
                                       {from, h.count, w.count, spec.width * c, c}, static_cast<std::int32_t>(place),
                                       spec.width, c);
              }
            });
          }};
}

Prepared<View, View, View> max_pool_backward(const PoolSpec& spec, const Options& options) {
  check_windows(spec, "pool", true);
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View dx, View dy, View index, const Stream&) {
            const WindowAxis down = vertical_axis(spec), across = horizontal_axis(spec);
            const std::int64_t c = spec.channels;
            parallel_each(threads, spec.samples * spec.height, [&](std::int64_t row) {
              const std::int64_t pixel = row % spec.height;
              const Stretch h = down.windows_over(pixel);
              for (std::int64_t j = 0; j < spec.width; ++j) {
                const Stretch w = across.windows_over(j);
                const std::int64_t from = ((row / spec.height * down.places + h.first) * across.places + w.first) * c;
                loops.sum_where(
                    at(dx, (row * spec.width + j) * c), {at(dy, from), h.count, w.count, across.places * c, c},
                    index.as<const std::int32_t>() + from, static_cast<std::int32_t>(pixel * spec.width + j), c);
              }
            });
          }};
}

Prepared<View, View> mean_pool_forward(const MeanPoolSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  const Loops& sums = loops_for(wide(spec.type), options);
  return {aligned(spec.samples * spec.channels * bytes_of(wide(spec.type))),
          [&loops, &sums, spec, threads = options.threads](View y, View x, const Stream& stream) {
            const View sum{stream.workspace, wide(spec.type), {spec.samples, spec.channels}};
            parallel_each(threads, spec.samples, [&](std::int64_t s) {
              void* of_sample = at(sum, s * spec.channels);
              loops.column_sums(of_sample, at(x, s * spec.positions * spec.channels), spec.positions, spec.channels);
              sums.scale(of_sample, 1 / static_cast<double>(spec.positions), spec.channels);
              loops.narrow(at(y, s * spec.channels), of_sample, spec.channels);
            });
          }};
}

Prepared<View, View> mean_pool_backward(const MeanPoolSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View dx, View dy, const Stream&) {
            const auto row_bytes = static_cast<std::size_t>(spec.channels * bytes_of(spec.type));
            parallel_each(threads, spec.samples, [&](std::int64_t s) {
              const std::int64_t row = s * spec.positions;
              std::memcpy(at(dx, row * spec.channels), at(dy, s * spec.channels), row_bytes);
              loops.scale(at(dx, row * spec.channels), 1 / static_cast<double>(spec.positions), spec.channels);
              for (std::int64_t p = 1; p < spec.positions; ++p)
                std::memcpy(at(dx, (row + p) * spec.channels), at(dx, row * spec.channels), row_bytes);
            });
          }};
}

Prepared<View, View> pixels(const ElementwiseSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View y, View bytes, const Stream&) {
            parallel_for(threads, spec.rows, [&](std::int64_t first, std::int64_t last, int) {
              loops.pixels(at(y, first * spec.width), bytes.as<const std::int32_t>() + first * spec.width,
                           (last - first) * spec.width);
            });
          }};
}

}  // namespace rankscope::kernels::cpu
