#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04X", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_value(const Field& field) {
  const std::string text = written(field);
  if (std::holds_alternative<std::string*>(field) || std::holds_alternative<AnyChoice*>(field)) return quoted(text);
  const bool is_real = std::holds_alternative<double*>(field) || std::holds_alternative<std::optional<double>*>(field);
  return is_real && text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

}  // namespace

std::string to_toml(const Scenario& scenario) {
  Scenario copy = scenario;
  std::string text = "title = " + quoted(scenario.title) + "\n";
  std::string_view table;
  for (const Key& key : scenario_keys()) {
    if (key.table != table) text += "\n[" + std::string(key.table) + "]\n";
    table = key.table;
    const Field field = key.field(copy);
    if (given(field) && !key.only_read) text += std::string(key.name) + " = " + toml_value(field) + "\n";
  }
  return text;
}

}  // namespace rankscope
