#include "engine/predict/cost/device.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include "engine/predict/network/link.hpp"

namespace rankscope {
namespace {

std::int64_t pieces(std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; }

/// The share of full-width loads that rows of these lengths allow: 16 bytes a load, or the largest power of two below.
double load_width(const Product& product, std::int64_t element) {
  const std::int64_t unit = std::gcd(std::gcd(product.k, product.n) * element, std::int64_t{16});
  return static_cast<double>(unit) / 16;
}

/// One multiprocessor's rates.
struct Multiprocessor {
  double flops, loads, writes;  ///< FLOP/s, bytes/s, bytes/s; loads 0: infinite
};

double moved_for_result(const Product& product, double element) {
  return product.result_bytes > 0 ? product.result_bytes : element;
}

double tile_seconds(const Multiprocessor& one, double rows, double columns, double k, double element, double result) {
  const double arithmetic = 2 * rows * columns * k / one.flops;
  const double loads = one.loads > 0 ? (rows + columns) * k * element / one.loads : 0;
  return std::max(arithmetic, loads) + rows * columns * result / one.writes;
}

}  // namespace

double Product::bytes(DType type) const {
  const auto x = static_cast<double>(m), y = static_cast<double>(n), z = static_cast<double>(k);
  const auto element = static_cast<double>(bytes_of(type));
  return ((x * z + z * y) * element + x * y * moved_for_result(*this, element)) * static_cast<double>(batch);
}

double memory_seconds(const ClusterSpec& cluster, double bytes) {
  const double bandwidth = positive_figure(cluster.memory_bandwidth, "memory_bandwidth", cluster);
  return bytes / (bandwidth * cluster.memory_efficiency) + cluster.op_overhead_s;
}

double product_seconds(const ClusterSpec& cluster, DType type, const Product& product) {
  double peak = positive_figure(cluster.peak_flops(type), "peak FLOP/s in the plan's precision", cluster);
  const bool misaligned = load_width(product, bytes_of(type)) < 1;
  if (cluster.multiprocessors > 0 && product.batch > 1 && bytes_of(type) == 2 && misaligned)
    peak = std::min(peak, positive_figure(cluster.peak_flops_fp32, "peak_flops_fp32", cluster));
  const double rate = peak * cluster.product_efficiency;
  const double through_memory = memory_seconds(cluster, product.bytes(type));
  const double roofline = std::max(product.flops() / rate + cluster.op_overhead_s, through_memory);
  if (cluster.multiprocessors == 0) return roofline;

  const auto element = static_cast<double>(bytes_of(type));
  const double share = 1.0 / cluster.multiprocessors;
  const Multiprocessor one{rate * share, cluster.cache_bandwidth * share * load_width(product, bytes_of(type)),
                           cluster.memory_bandwidth * cluster.memory_efficiency * share};
  const std::int64_t r = cluster.tile_rows, c = cluster.tile_columns, half = std::max<std::int64_t>(1, c / 2);
  const std::int64_t tiles[][2] = {{r, c}, {c, r}, {c, c}, {c, half}, {half, c}, {half, half}};
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [rows, columns] : tiles) {
    const std::int64_t count = pieces(product.m, rows) * pieces(product.n, columns) * product.batch;
    for (std::int64_t parts = 1; parts <= 8; parts *= 2) {
      if (parts > 1 && (count * parts > cluster.multiprocessors || product.k / parts < columns)) break;
      const double tile =
          tile_seconds(one, static_cast<double>(rows), static_cast<double>(columns),
                       static_cast<double>(pieces(product.k, parts)), element, moved_for_result(product, element));
      double seconds = static_cast<double>(pieces(count * parts, cluster.multiprocessors)) * tile;
      // Parts are summed in fp32 (fp64 stays fp64): each written, and read again by a kernel that writes the sum.
      const double part = static_cast<double>(product.m * product.n * product.batch) * std::max(4.0, element);
      if (parts > 1) seconds += memory_seconds(cluster, 2 * static_cast<double>(parts) * part);
      best = std::min(best, seconds);
    }
  }
  return std::max(best + cluster.op_overhead_s, roofline);
}

}  // namespace rankscope
