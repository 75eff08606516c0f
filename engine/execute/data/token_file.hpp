// A file of tokens as a data set: bytes, or little-endian integers of 16 or 32 bits (resources/manual/data.md). A
// header of llm.c, and the index of Megatron's .bin, must agree with that.
//
// The file is split into samples of `context` tokens, each with the one token after it as the last target; the rest at
// the end is not used. Sample g of the run is in epoch g / n, at index g % n of that epoch's permutation.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/execute/data/dataset.hpp"

namespace rankscope {

class TokenFile : public Dataset {
 public:
  enum class Coding { bytes, little_endian_16, little_endian_32 };
  /// Throws DataError if the file cannot be read, is too short for one sample, seems to have tokens of another width,
  /// or has a token beyond the vocabulary (in its first 16 MiB).
  TokenFile(const std::string& path, Coding coding, int context, int vocabulary, std::uint64_t seed);
  ~TokenFile() override;
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;

  void fill(std::int64_t first_sample, int samples, std::int32_t* tokens, std::int32_t* targets) const override;
  double entropy_nats() const override;

  /// The position in the file, in tokens, where a sample of the run begins.
  std::int64_t position_of(std::int64_t sample) const;

 private:
  /// Tokens [first, first + count) of the file, checked.
  void read(std::int64_t first, std::int64_t count, std::int32_t* into, std::vector<std::uint8_t>& raw) const;
  /// Of the width that a header states; throws if it is another one than the coding's. Returns the header's bytes.
  std::int64_t header_bytes() const;
  void check_width(const std::vector<std::int32_t>& tokens) const;
  [[noreturn]] void refuse(const std::string& what) const;

  std::string path_;
  Coding coding_;
  int context_, vocabulary_;
  std::uint64_t seed_;
  int file_ = -1;
  std::int64_t header_ = 0, samples_ = 0;
};

}  // namespace rankscope
