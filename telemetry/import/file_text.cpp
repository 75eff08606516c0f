#include "telemetry/import/file_text.hpp"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "telemetry/import/rank_trace.hpp"

namespace rankscope::import {
namespace {

constexpr std::size_t most_bytes = std::size_t{4} << 30;

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view reason) {
  throw ImportError(fmt::format("{}: {}", file.string(), reason));
}
[[noreturn]] void refuse_size(const std::filesystem::path& file) {
  refuse(file, "it has more than 4 GB of text; profile fewer steps, or without with_stack");
}

FileText space_for(std::size_t size) {
  // Not touched, so that memory which the text does not need stays free.
  return {std::unique_ptr<char[]>(new char[size + text_padding]), size};
}

FileText read_bytes(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) refuse(file, "there is no such file");
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error) refuse(file, error.message());
  if (size == 0) refuse(file, "it is empty");
  if (size > most_bytes) refuse_size(file);
  FileText text = space_for(static_cast<std::size_t>(size));
  std::ifstream in(file, std::ios::binary);
  if (!in.read(text.bytes.get(), static_cast<std::streamsize>(size))) refuse(file, "it cannot be read");
  return text;
}

// A gzip file is one or more members, each of which says its size modulo 4 GiB at its end: a hint, for the last one.
FileText unpack(const std::filesystem::path& file, const FileText& packed) {
  // No byte of deflate becomes more than 1032.
  const std::size_t most = std::min(most_bytes, packed.size * 1032);
  std::uint32_t said = 0;
  if (packed.size > 4) std::memcpy(&said, packed.bytes.get() + packed.size - 4, 4);
  FileText text = space_for(std::clamp<std::size_t>(said, std::min(packed.size, most), most));
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!decompressor) throw std::bad_alloc();
  std::size_t from = 0, to = 0;
  while (from < packed.size) {
    std::size_t taken = 0, made = 0;
    const libdeflate_result result =
        libdeflate_gzip_decompress_ex(decompressor.get(), packed.bytes.get() + from, packed.size - from,
                                      text.bytes.get() + to, text.size - to, &taken, &made);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
      if (text.size >= most_bytes) refuse_size(file);
      if (text.size >= most) refuse(file, "its gzip data are damaged");
      FileText larger = space_for(std::min(most, 2 * text.size));
      std::memcpy(larger.bytes.get(), text.bytes.get(), to);
      text = std::move(larger);
      continue;
    }
    // Whatever follows a whole member is not ours to judge: gzip itself ignores it, too.
    if (result != LIBDEFLATE_SUCCESS && to > 0) break;
    if (result != LIBDEFLATE_SUCCESS)
      refuse(file, "its gzip data are cut or damaged; copy it again, or export the trace again");
    from += taken;
    to += made;
  }
  if (to == 0) refuse(file, "it is empty");
  text.size = to;
  return text;
}

}  // namespace

FileText read_text(const std::filesystem::path& file) {
  FileText text = read_bytes(file);
  if (text.view().starts_with("\x1f\x8b")) text = unpack(file, text);
  std::memset(text.bytes.get() + text.size, 0, text_padding);
  return text;
}

}  // namespace rankscope::import
