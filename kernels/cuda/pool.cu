// Pools, and pixels of bytes: a thread for each few channels of the output. Gradients are gathered, so that no two
// threads add to one place.
#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/windows.cuh"

namespace rankscope::kernels::cuda {
namespace {

template <class T>
struct Greatest {
  T* y;
  std::int32_t* index;
  const T* x;
  Images images;
  template <int V>
  __device__ void apply(int64_t i) const {
    const int64_t c = i % images.channels;
    const Place window = place_of(i / images.channels, images.down.places, images.across.places);
    const Stretch rows = images.down.pixels_of(window.row), columns = images.across.pixels_of(window.column);
    Arithmetic<T> greatest[V], value[V];
    std::int32_t at[V];
    load<V>(greatest, x + images.pixel(window.sample, rows.first, columns.first) + c);
#pragma unroll
    for (int v = 0; v < V; ++v) at[v] = static_cast<std::int32_t>(rows.first * images.across.size + columns.first);
    for (int64_t h = rows.first; h < rows.first + rows.count; ++h)
      for (int64_t w = columns.first; w < columns.first + columns.count; ++w) {
        load<V>(value, x + images.pixel(window.sample, h, w) + c);
#pragma unroll
        for (int v = 0; v < V; ++v)
          if (value[v] > greatest[v] || value[v] != value[v]) {  // a NaN is not skipped
            greatest[v] = value[v];
            at[v] = static_cast<std::int32_t>(h * images.across.size + w);
          }
      }
    store(y + i, greatest);
#pragma unroll
    for (int v = 0; v < V; ++v) index[i + v] = at[v];
  }
};

template <class T>
struct GreatestGradient {
  T* dx;
  const T* dy;
  const std::int32_t* index;
  Images images;
  template <int V>
  __device__ void apply(int64_t i) const {
    const int64_t c = i % images.channels;
    const Place pixel = place_of(i / images.channels, images.down.size, images.across.size);
    const Stretch rows = images.down.windows_over(pixel.row), columns = images.across.windows_over(pixel.column);
    const auto place = static_cast<std::int32_t>(pixel.row * images.across.size + pixel.column);
    Arithmetic<T> sum[V] = {}, value[V];
    for (int64_t r = rows.first; r < rows.first + rows.count; ++r)
      for (int64_t p = columns.first; p < columns.first + columns.count; ++p) {
        const int64_t from = images.window(pixel.sample, r, p) + c;
        load<V>(value, dy + from);
#pragma unroll
        for (int v = 0; v < V; ++v)
          if (index[from + v] == place) sum[v] += value[v];
      }
    store(dx + i, sum);
  }
};

template <class T>
struct Mean {
  T* y;
  const T* x;
  int64_t positions, channels;
  template <int V>
  __device__ void apply(int64_t i) const {
    const T* from = x + i / channels * positions * channels + i % channels;
    Arithmetic<T> sum[V] = {}, value[V];
    for (int64_t p = 0; p < positions; ++p) {
      load<V>(value, from + p * channels);
#pragma unroll
      for (int v = 0; v < V; ++v) sum[v] += value[v];
    }
#pragma unroll
    for (int v = 0; v < V; ++v) sum[v] /= static_cast<Arithmetic<T>>(positions);
    store(y + i, sum);
  }
};

template <class T>
struct MeanGradient {
  T* dx;
  const T* dy;
  int64_t positions, channels;
  template <int V>
  __device__ void apply(int64_t i) const {
    Arithmetic<T> value[V];
    load<V>(value, dy + i / (positions * channels) * channels + i % channels);
#pragma unroll
    for (int v = 0; v < V; ++v) value[v] /= static_cast<Arithmetic<T>>(positions);
    store(dx + i, value);
  }
};

template <class T>
struct Pixels {
  T* y;
  const std::int32_t* bytes;
  template <int V>
  __device__ void apply(int64_t i) const {
    using A = Arithmetic<T>;
    A value[V];
#pragma unroll
    for (int v = 0; v < V; ++v) value[v] = static_cast<A>(bytes[i + v]) / A(127.5) - A(1);
    store(y + i, value);
  }
};

}  // namespace

Prepared<View, View, View> max_pool_forward(const PoolSpec& spec, const Options&) {
  check_windows(spec, "pool", true);
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View> {
    return {0, [spec](View y, View index, View x, const Stream& stream) {
              for_each_channel<T>(
                  spec.samples * spec.out_height() * spec.out_width(), spec.channels, spec.channels, {y.data, x.data},
                  Greatest<T>{y.as<T>(), index.as<std::int32_t>(), x.as<const T>(), Images(spec, spec.channels)},
                  stream);
            }};
  });
}

Prepared<View, View, View> max_pool_backward(const PoolSpec& spec, const Options&) {
  check_windows(spec, "pool", true);
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View> {
    return {0, [spec](View dx, View dy, View index, const Stream& stream) {
              for_each_channel<T>(spec.samples * spec.height * spec.width, spec.channels, spec.channels,
                                  {dx.data, dy.data},
                                  GreatestGradient<T>{dx.as<T>(), dy.as<const T>(), index.as<const std::int32_t>(),
                                                      Images(spec, spec.channels)},
                                  stream);
            }};
  });
}

Prepared<View, View> mean_pool_forward(const MeanPoolSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View> {
    return {0, [spec](View y, View x, const Stream& stream) {
              for_each_channel<T>(spec.samples, spec.channels, spec.channels, {y.data, x.data},
                                  Mean<T>{y.as<T>(), x.as<const T>(), spec.positions, spec.channels}, stream);
            }};
  });
}

Prepared<View, View> mean_pool_backward(const MeanPoolSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View> {
    return {0, [spec](View dx, View dy, const Stream& stream) {
              for_each_channel<T>(spec.samples * spec.positions, spec.channels, spec.channels, {dx.data, dy.data},
                                  MeanGradient<T>{dx.as<T>(), dy.as<const T>(), spec.positions, spec.channels}, stream);
            }};
  });
}

Prepared<View, View> pixels(const ElementwiseSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View> {
    return {0, [n = spec.rows * spec.width](View y, View bytes, const Stream& stream) {
              for_each_element<T>(n, {y.data}, Pixels<T>{y.as<T>(), bytes.as<const std::int32_t>()}, stream);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
