#include "engine/execute/data/token_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/execute/data/permutation.hpp"
#include "engine/op/not_known.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

constexpr std::int64_t looked_at = 16 << 20;  // bytes that are checked when a file is opened

int width_of(TokenFile::Coding coding) { return coding == TokenFile::Coding::bytes ? 1 : 2; }

}  // namespace

TokenFile::TokenFile(const std::string& path, Coding coding, int context, int vocabulary, std::uint64_t seed)
    : path_(path), coding_(coding), context_(context), vocabulary_(vocabulary), seed_(seed) {
  if (coding == Coding::bytes && vocabulary < 256)
    refuse(fmt::format("its tokens are bytes, and the vocabulary is {}; it must be at least 256", vocabulary));
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) refuse(std::string(std::strerror(errno)) + "; a path in a scenario starts at the scenario's folder");
  try {
    struct stat status {};
    if (::fstat(file_, &status) != 0) refuse(std::strerror(errno));
    if (!S_ISREG(status.st_mode)) refuse("it is no ordinary file; give one that can be read at any place");
    const std::int64_t bytes = status.st_size, width = width_of(coding);
    if (bytes % width != 0)
      refuse(fmt::format("it has {}, an odd number; tokens are 16-bit, little-endian", counted(bytes, "byte")));
    samples_ = std::max<std::int64_t>(0, bytes / width - 1) / context;
    if (samples_ == 0)
      refuse(fmt::format("it has {}; one sample needs {} (the context, and one token after it)",
                         counted(bytes / width, "token"), context + 1));
    if (coding != Coding::bytes) {
      const std::int64_t count = std::min(bytes, looked_at) / width;
      std::vector<std::int32_t> tokens(count);
      std::vector<std::uint8_t> raw;
      read(0, count, tokens.data(), raw);
    }
  } catch (...) {
    ::close(file_);
    throw;
  }
}

TokenFile::~TokenFile() { ::close(file_); }

void TokenFile::refuse(const std::string& what) const { throw DataError(path_ + ": " + what); }

double TokenFile::entropy_nats() const { return not_known; }

std::int64_t TokenFile::position_of(std::int64_t sample) const {
  const Permutation order(samples_, seed_, static_cast<std::uint32_t>(sample / samples_));
  return order(sample % samples_) * context_;
}

void TokenFile::read(std::int64_t first, std::int64_t count, std::int32_t* into, std::vector<std::uint8_t>& raw) const {
  const int width = width_of(coding_);
  raw.resize(count * width);
  for (std::size_t done = 0; done < raw.size();) {
    const ssize_t got = ::pread(file_, raw.data() + done, raw.size() - done,
                                static_cast<off_t>(first * width) + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(std::strerror(errno));
    if (got == 0) refuse("it became shorter while it was read; leave it alone during a run");
    done += static_cast<std::size_t>(got);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t token = width == 1 ? raw[i] : raw[2 * i] | raw[2 * i + 1] << 8;
    if (token >= vocabulary_)
      refuse(fmt::format("token {} is {}; the vocabulary has {}, so tokens must be below that", first + i, token,
                         vocabulary_));
    into[i] = token;
  }
}

void TokenFile::fill(std::int64_t first_sample, int samples, std::int32_t* tokens, std::int32_t* targets) const {
  std::vector<std::int32_t> window(static_cast<std::size_t>(context_) + 1);
  std::vector<std::uint8_t> raw;
  for (int i = 0; i < samples; ++i) {
    read(position_of(first_sample + i), context_ + 1, window.data(), raw);
    std::copy(window.begin(), window.end() - 1, tokens + std::int64_t{i} * context_);
    std::copy(window.begin() + 1, window.end(), targets + std::int64_t{i} * context_);
  }
}

}  // namespace rankscope
