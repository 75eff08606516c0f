// Random numbers as a pure function of (seed, stream, index): the same on every rank and under every plan, in any order
// and from any thread. Used for initial weights, dropout masks, data order and the synthetic language.
//
// The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011):
// the key is the seed, the counter is (block, stream). One block is four 32-bit words.
#pragma once
#include <cmath>
#include <cstdint>

#include "kernels/tensor/host_device.hpp"

namespace rankscope {

struct RandomBlock {
  std::uint32_t word[4];
};

/// Ten rounds of Philox4x32 on a counter of four words under a key of two.
RANKSCOPE_HOST_DEVICE constexpr RandomBlock philox4x32_10(RandomBlock counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter.word[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(b >> 32) ^ counter.word[1] ^ key0, static_cast<std::uint32_t>(b),
                static_cast<std::uint32_t>(a >> 32) ^ counter.word[3] ^ key1, static_cast<std::uint32_t>(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// Four words at once: for kernels that iterate over indices (dropout uses one word per element).
RANKSCOPE_HOST_DEVICE constexpr RandomBlock random_block(std::uint64_t seed, std::uint64_t stream,
                                                         std::uint64_t block) {
  return philox4x32_10({{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                         static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)}},
                       static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

/// 32 bits; word index % 4 of block index / 4.
RANKSCOPE_HOST_DEVICE constexpr std::uint32_t random_word(std::uint64_t seed, std::uint64_t stream,
                                                          std::uint64_t index) {
  return random_block(seed, stream, index / 4).word[index % 4];
}

/// 64 bits; half index % 2 of block index / 2.
RANKSCOPE_HOST_DEVICE constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream,
                                                          std::uint64_t index) {
  const RandomBlock block = random_block(seed, stream, index / 2);
  const int half = index % 2 == 0 ? 0 : 2;
  return std::uint64_t{block.word[half + 1]} << 32 | block.word[half];
}

/// The 53 high bits of `bits` as a double in [0, 1).
RANKSCOPE_HOST_DEVICE constexpr double unit_interval(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// Uniform in [0, 1) with 53 bits.
RANKSCOPE_HOST_DEVICE constexpr double uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return unit_interval(random_bits(seed, stream, index));
}

/// The word below which an element is dropped with this probability (0 … 1): drop when
/// random_word(…) < drop_threshold(p). Widened, because p = 1 drops the greatest word too.
RANKSCOPE_HOST_DEVICE constexpr std::uint64_t drop_threshold(double probability) {
  return static_cast<std::uint64_t>(probability * 0x1p32);
}

struct NormalPair {
  double first, second;
};

/// Standard normals number 2·pair and 2·pair + 1, by Box–Muller. The random bits are the same everywhere; the accuracy
/// of the last digits is that of the C library's log, sin and cos.
RANKSCOPE_HOST_DEVICE inline NormalPair normal_pair(std::uint64_t seed, std::uint64_t stream, std::uint64_t pair) {
  const double u = 1.0 - uniform(seed, stream, 2 * pair);  // (0, 1]: its logarithm is finite
  const double angle = 6.283185307179586476925 * uniform(seed, stream, 2 * pair + 1);
  const double radius = std::sqrt(-2.0 * std::log(u));
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// One standard normal, a function of its index alone.
RANKSCOPE_HOST_DEVICE inline double normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const NormalPair both = normal_pair(seed, stream, index / 2);
  return index % 2 == 0 ? both.first : both.second;
}

/// Streams of one seed that must never overlap. A stream is a purpose in the high half and a number in the low one,
/// such as a layer's.
enum class RandomPurpose : std::uint32_t {
  weights = 1,
  dropout = 2,
  data_order = 3,
  language = 4,
  samples = 5,
  gradient_noise = 6,
  images = 7
};
RANKSCOPE_HOST_DEVICE constexpr std::uint64_t random_stream(RandomPurpose purpose, std::uint32_t number = 0) {
  return std::uint64_t{static_cast<std::uint32_t>(purpose)} << 32 | number;
}

}  // namespace rankscope
