// Columns of images for a convolution by products, and the inverse: a thread for each few elements of the output, which
// gathers its inputs.
#include "kernels/cuda/unfold.hpp"
#include "kernels/cuda/windows.cuh"

namespace rankscope::kernels::cuda {
namespace {

template <class T>
struct Unfold {
  T* columns;
  const T* x;
  Images images;
  int64_t depth;
  template <int V>
  __device__ void apply(int64_t i) const {
    const int64_t row = i / depth;
    const Place window = place_of(row, images.down.places, images.across.places);
    // A row of columns contains the pixels of one window, each with its channels.
    const auto k = static_cast<std::uint32_t>(i - row * depth), channels = static_cast<std::uint32_t>(images.channels);
    const std::uint32_t pixel = k / channels, kernel = static_cast<std::uint32_t>(images.down.kernel);
    const int64_t h = images.down.begin(window.row) + pixel / kernel;
    const int64_t w = images.across.begin(window.column) + pixel % kernel;
    Arithmetic<T> value[V] = {};
    if (h >= 0 && h < images.down.size && w >= 0 && w < images.across.size)
      load<V>(value, x + images.pixel(window.sample, h, w) + (k - pixel * channels));
    store(columns + i, value);
  }
};

template <class T>
struct Fold {
  using A = Arithmetic<T>;
  T* dx;
  const A* columns;
  Images images;
  bool accumulate;
  template <int V>
  __device__ void apply(int64_t i) const {
    const int64_t channels = images.channels, c = i % channels;
    const Place pixel = place_of(i / channels, images.down.size, images.across.size);
    const Stretch rows = images.down.windows_over(pixel.row), places = images.across.windows_over(pixel.column);
    const int64_t depth = images.down.kernel * images.down.kernel;
    A sum[V] = {}, term[V];
    for (int64_t r = rows.first; r < rows.first + rows.count; ++r)
      for (int64_t p = places.first; p < places.first + places.count; ++p) {
        const int64_t within =
            (pixel.row - images.down.begin(r)) * images.down.kernel + pixel.column - images.across.begin(p);
        load<V>(term, columns + images.window(pixel.sample, r, p) * depth + within * channels + c);
#pragma unroll
        for (int v = 0; v < V; ++v) sum[v] += term[v];
      }
    if (accumulate) {
      load<V>(term, dx + i);
#pragma unroll
      for (int v = 0; v < V; ++v) sum[v] += term[v];
    }
    store(dx + i, sum);
  }
};

}  // namespace

Prepared<View, View> unfold(const ConvolutionSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View> {
    return {0, [spec](View columns, View x, const Stream& stream) {
              const int64_t rows = spec.samples * spec.out_height() * spec.out_width();
              const int64_t depth = int64_t{spec.kernel} * spec.kernel * spec.in;
              for_each_channel<T>(rows, depth, spec.in, {columns.data, x.data},
                                  Unfold<T>{columns.as<T>(), x.as<const T>(), Images(spec, spec.in), depth}, stream);
            }};
  });
}

Prepared<View, View> fold(const ConvolutionSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View> {
    using A = Arithmetic<T>;
    return {0, [spec](View dx, View columns, const Stream& stream) {
              for_each_channel<T>(spec.samples * spec.height * spec.width, spec.in, spec.in, {dx.data, columns.data},
                                  Fold<T>{dx.as<T>(), columns.as<const A>(), Images(spec, spec.in), spec.accumulate},
                                  stream);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
