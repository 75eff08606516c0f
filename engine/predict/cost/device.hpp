// The cost of single kernels on a device: matrix products by their shape, and kernels that only move bytes.
//
// A product's result is cut into tiles. Multiprocessors compute a tile each, in step, so a last wave that is not full
// costs as much as a full one (NVIDIA, Matrix Multiplication Background User's Guide: tile and wave quantisation), and
// tiles that extend beyond the result are fully computed. Each tile costs its arithmetic, or the loads of its
// operands from the shared cache where these are slower, and then the time to write it out, during which its
// multiprocessor computes nothing: therefore products of a short inner dimension are slow.
#pragma once
#include <cstdint>

#include "engine/plan/scenario/scenario.hpp"
#include "kernels/tensor/type.hpp"

namespace rankscope {

/// `batch` products [m, k] × [k, n].
struct Product {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  double result_bytes = 0;  ///< moved for each element of the result; 0: one of the operands' type is written
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * batch;
  }
  /// Each operand once.
  double bytes(DType type) const;
};

/// Seconds, the launch included. The library is assumed to choose the fastest of the tiles R×C, C×R, C×C and halves of
/// these (R, C: cluster.tile_rows, tile_columns), and to divide a long inner dimension among multiprocessors that would
/// be idle, whose parts must then be summed through memory. Rows of k or n elements that are not multiples of 16
/// bytes are loaded in smaller pieces, at a smaller bandwidth in proportion; for 16-bit products in batches, whose
/// matrices then begin anywhere, cuBLAS uses kernels without tensor cores, which run at the peak of fp32 (heads of 108
/// elements in BLOOM's trials: bloom-trials.toml). Never less than the roofline. Without cluster.multiprocessors it is
/// the roofline. Throws std::invalid_argument that names the missing figure.
double product_seconds(const ClusterSpec& cluster, DType type, const Product& product);

/// Seconds of a kernel that moves this number of bytes through memory, the launch included.
double memory_seconds(const ClusterSpec& cluster, double bytes);

}  // namespace rankscope
