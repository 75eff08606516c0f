// A whole text file in memory, plain or gzipped.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

namespace rankscope::import {

/// What simdjson may read beyond the end of a text.
inline constexpr std::size_t text_padding = 64;

struct FileText {
  std::unique_ptr<char[]> bytes;  ///< size + text_padding
  std::size_t size = 0;
  std::string_view view() const { return {bytes.get(), size}; }
};

/// Recognises gzip by its first bytes, not by the name. Throws ImportError if it cannot be read, is empty, is damaged
/// or is longer than 4 GB.
FileText read_text(const std::filesystem::path& file);

}  // namespace rankscope::import
