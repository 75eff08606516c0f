// One column of a batch as encoded in a message (format: event.fbs); shared by batch checks and batch readers.
#pragma once
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "event_generated.h"

namespace rankscope::wire {

/// Thrown for damaged or out-of-range data; the decoder catches it and returns it as an error.
struct Refusal {
  std::string why;
};
inline void require(bool condition, const char* why) {
  if (!condition) throw Refusal{why};
}
inline std::int64_t within(std::int64_t value, std::int64_t least, std::int64_t greatest, const char* what) {
  if (value < least || value > greatest) throw Refusal{fmt::format("{} {} is out of range", what, value)};
  return value;
}

/// Rows are read in blocks of at most this size: a few blocks of columns fit into the first-level cache.
inline constexpr std::size_t block_rows = 256;
using Block = std::array<std::int64_t, block_rows>;

class ColumnReader {
 public:
  /// Checks the lengths, and that every row is in [least, greatest]; throws Refusal.
  ColumnReader(const Column* column, std::size_t rows, std::int64_t least, std::int64_t greatest, const char* name)
      : ColumnReader(column, rows, name) {
    if (rows == 0 || lies_within(least, greatest)) return;
    Block block;
    for (std::size_t first = 0; first < rows; first += block_rows) {
      const std::size_t count = std::min(block_rows, rows - first);
      read(first, count, block);
      for (std::size_t i = 0; i < count; ++i) within(block[i], least, greatest, name);
    }
  }
  /// Any values.
  ColumnReader(const Column* column, std::size_t rows, const char* name) : rows_(rows) {
    if (!column) throw Refusal{std::string("column ") + name + " is missing"};
    base_ = column->base();
    planes_ = column->planes();
    const std::size_t bytes = column->data() ? column->data()->size() : 0;
    if (bytes != rows * static_cast<std::size_t>(std::popcount(planes_)))
      throw Refusal{std::string("column ") + name + " has a different length"};
    data_ = bytes == 0 ? nullptr : column->data()->data();
  }

  /// A column that was added to the format later: zeros if it is missing.
  static ColumnReader later(const Column* column, std::size_t rows, std::int64_t least, std::int64_t greatest,
                            const char* name) {
    return column ? ColumnReader(column, rows, least, greatest, name) : ColumnReader(rows);
  }

  /// Copies rows [first, first + count) to the front of `out`; count is at most block_rows.
  void read(std::size_t first, std::size_t count, Block& out) const {
    if (planes_ == 0) return void(std::fill_n(out.begin(), count, base_));
    const std::uint8_t* plane = data_ + first;
    if (planes_ < 16) {  // all differences in 32 bits: the processor adds twice as many at a time
      std::array<std::uint32_t, block_rows> sums{};
      for (unsigned k = 0; k < 4; ++k) {
        if ((planes_ >> k & 1) == 0) continue;
        for (std::size_t i = 0; i < count; ++i) sums[i] += std::uint32_t{plane[i]} << (8 * k);
        plane += rows_;
      }
      for (std::size_t i = 0; i < count; ++i) out[i] = sum(sums[i]);
      return;
    }
    std::array<std::uint64_t, block_rows> sums{};
    for (unsigned k = 0; k < 8; ++k) {
      if ((planes_ >> k & 1) == 0) continue;
      for (std::size_t i = 0; i < count; ++i) sums[i] += std::uint64_t{plane[i]} << (8 * k);
      plane += rows_;
    }
    for (std::size_t i = 0; i < count; ++i) out[i] = sum(sums[i]);
  }

 private:
  explicit ColumnReader(std::size_t rows) : rows_(rows) {}
  std::int64_t sum(std::uint64_t difference) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(base_) + difference);
  }
  // Compares the largest value that the planes can hold, so that most columns need no check of each row.
  bool lies_within(std::int64_t least, std::int64_t greatest) const {
    std::uint64_t most = 0;
    for (unsigned k = 0; k < 8; ++k) most |= (planes_ >> k & 1) != 0 ? std::uint64_t{0xFF} << (8 * k) : 0;
    return base_ >= least && base_ <= greatest &&
           most <= static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(base_);
  }

  std::size_t rows_;
  std::int64_t base_ = 0;
  std::uint8_t planes_ = 0;
  const std::uint8_t* data_ = nullptr;
};

/// The number of rows of a batch, from its op column; throws Refusal.
inline std::size_t rows_of(const Column* op, std::size_t limit) {
  require(op != nullptr, "a batch without op ids");
  const std::size_t bytes = op->data() ? op->data()->size() : 0;
  require((op->planes() & 1) != 0, "op ids without their lowest byte");
  const std::size_t rows = bytes / static_cast<std::size_t>(std::popcount(op->planes()));
  require(rows <= limit, "a batch of too many rows");
  return rows;
}

}  // namespace rankscope::wire
