#include "engine/execute/data/permutation.hpp"

#include <cassert>

#include "kernels/tensor/random.hpp"

namespace rankscope {
namespace {
constexpr int rounds = 4;
}

Permutation::Permutation(std::int64_t size, std::uint64_t seed, std::uint32_t epoch)
    : size_(static_cast<std::uint64_t>(size)),
      seed_(seed),
      stream_(random_stream(RandomPurpose::data_order, epoch)),
      half_bits_(1) {
  assert(size >= 1);
  while (half_bits_ < 31 && (std::uint64_t{1} << (2 * half_bits_)) < size_) ++half_bits_;
}

std::uint64_t Permutation::scramble(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_, right = value & mask;
  for (int round = 0; round < rounds; ++round) {
    // The round's number and the unchanged half are the counter, so every round is a different function.
    const std::uint64_t mixed = random_bits(seed_, stream_, right * rounds + round) & mask;
    const std::uint64_t next = left ^ mixed;
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

std::int64_t Permutation::operator()(std::int64_t index) const {
  assert(index >= 0 && static_cast<std::uint64_t>(index) < size_);
  std::uint64_t value = static_cast<std::uint64_t>(index);
  do {
    value = scramble(value);
  } while (value >= size_);
  return static_cast<std::int64_t>(value);
}

}  // namespace rankscope
