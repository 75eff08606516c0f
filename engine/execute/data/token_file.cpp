#include "engine/execute/data/token_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "engine/execute/data/permutation.hpp"
#include "engine/op/not_known.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

constexpr std::int64_t looked_at = 16 << 20;  // bytes that are checked when a file is opened

int width_of(TokenFile::Coding coding) {
  switch (coding) {
    case TokenFile::Coding::bytes: return 1;
    case TokenFile::Coding::little_endian_16: return 2;
    case TokenFile::Coding::little_endian_32: break;
  }
  return 4;
}

/// The bytes of a token in Megatron-LM's .bin, by the type that its .idx states (megatron/core/datasets/
/// indexed_dataset.py); 0: there is no such file.
int width_in_index(const std::string& path) {
  if (!path.ends_with(".bin")) return 0;
  std::ifstream file(path.substr(0, path.size() - 4) + ".idx", std::ios::binary);
  constexpr std::string_view magic("MMIDIDX\0\0", 9);
  std::array<char, magic.size() + 8 + 1> head{};  // the magic, a version of 64 bits, the type
  if (!file.read(head.data(), head.size()) || !std::string_view(head.data(), head.size()).starts_with(magic)) return 0;
  constexpr std::array widths{0, 1, 1, 2, 4, 8, 4, 8, 2};
  const auto type = static_cast<std::size_t>(static_cast<unsigned char>(head.back()));
  return type < widths.size() ? widths[type] : 0;
}

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
    if (coding != Coding::bytes) header_ = header_bytes();
    const std::int64_t bytes = status.st_size - header_, width = width_of(coding);
    if (bytes % width != 0)
      refuse(fmt::format("it has {}, which is no multiple of {}; tokens have {} bits, little-endian",
                         counted(bytes, "byte"), width, 8 * width));
    samples_ = std::max<std::int64_t>(0, bytes / width - 1) / context;
    if (samples_ == 0)
      refuse(fmt::format("it has {}; one sample needs {} (the context, and one token after it)",
                         counted(bytes / width, "token"), context + 1));
    if (coding != Coding::bytes) {
      const std::int64_t count = std::min(bytes, looked_at) / width;
      std::vector<std::int32_t> tokens(count);
      std::vector<std::uint8_t> raw;
      read(0, count, tokens.data(), raw);
      check_width(tokens);
    }
  } catch (...) {
    ::close(file_);
    throw;
  }
}

TokenFile::~TokenFile() { ::close(file_); }

std::int64_t TokenFile::header_bytes() const {
  // llm.c: 256 numbers of 32 bits, the first a magic number, for each width another (dev/data/data_common.py).
  constexpr std::int64_t header = 1024;
  constexpr std::uint32_t magic_16 = 20240520, magic_32 = 20240801;
  std::array<unsigned char, 4> first{};
  if (::pread(file_, first.data(), first.size(), 0) != static_cast<ssize_t>(first.size())) return 0;
  const std::uint32_t magic = first[0] | first[1] << 8 | first[2] << 16 | static_cast<std::uint32_t>(first[3]) << 24;
  const bool has_header = magic == magic_16 || magic == magic_32;
  const int stated = has_header ? (magic == magic_16 ? 2 : 4) : width_in_index(path_);
  if (stated == 0 || stated == width_of(coding_)) return has_header ? header : 0;
  refuse(fmt::format(
      "its {} says that tokens have {} bits; {}", has_header ? "header (llm.c)" : "index (Megatron)", 8 * stated,
      stated == 2 || stated == 4 ? fmt::format("use data.token_bytes = {}", stated) : "convert them to 16 or 32 bits"));
}

void TokenFile::check_width(const std::vector<std::int32_t>& tokens) const {
  constexpr std::size_t enough = 64;
  if (tokens.size() < enough) return;
  const auto all_zero = [&](std::size_t first, std::size_t step) {
    for (std::size_t i = first; i < tokens.size(); i += step)
      if (tokens[i] != 0) return false;
    return true;
  };
  if (!all_zero(1, 2)) return;
  const int seen = coding_ == Coding::little_endian_32 || all_zero(2, 4) ? 64 : 32;
  refuse(fmt::format("every second token is 0, as if tokens had {} bits; {}", seen,
                     seen == 32 ? "use data.token_bytes = 4" : "convert them to 16 or 32 bits"));
}

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
                                static_cast<off_t>(header_ + first * width) + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(std::strerror(errno));
    if (got == 0) refuse("it became shorter while it was read; leave it alone during a run");
    done += static_cast<std::size_t>(got);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t token = 0;
    for (int byte = width; byte-- > 0;) token = token << 8 | raw[i * width + byte];
    if (token >= static_cast<std::uint32_t>(vocabulary_))
      refuse(fmt::format("token {} is {}; the vocabulary has {}, so tokens must be below that", first + i, token,
                         vocabulary_));
    into[i] = static_cast<std::int32_t>(token);
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
