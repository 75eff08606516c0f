// The values of data.source: the synthetic language (or images), or a file of tokens.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

enum class DataSource : std::uint8_t {
  synthetic,
  text,    ///< "text:FILE": each byte is a token
  tokens,  ///< "tokens:FILE": little-endian numbers of data.token_bytes
};

struct NamedSource {
  DataSource source = DataSource::synthetic;
  std::string_view file;  ///< as written; empty for synthetic
};

/// nullopt for a source of any other form.
inline std::optional<NamedSource> named_source(const DataSpec& data) {
  const std::string_view text = data.source;
  const auto file_after = [&](std::string_view prefix) {
    return text.starts_with(prefix) ? text.substr(prefix.size()) : std::string_view();
  };
  if (text == "synthetic") return NamedSource{};
  if (const auto file = file_after("text:"); !file.empty()) return NamedSource{DataSource::text, file};
  if (const auto file = file_after("tokens:"); !file.empty()) return NamedSource{DataSource::tokens, file};
  return std::nullopt;
}

inline bool is_synthetic(const DataSpec& data) {
  const auto named = named_source(data);
  return named && named->source == DataSource::synthetic;
}

}  // namespace rankscope
