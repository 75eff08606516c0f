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

struct Write {
  std::string operator()(const int* value) const { return std::to_string(*value); }
  std::string operator()(const std::uint64_t* value) const { return std::to_string(*value); }
  std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
  std::string operator()(const std::string* value) const { return quoted(*value); }
  std::string operator()(const AnyChoice* value) const { return quoted(value->name()); }
  std::string operator()(const double* value) const {
    const std::string text = plain(*value);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  template <class T>
  std::string operator()(const std::optional<T>* value) const {
    return (*this)(&**value);
  }
};

}  // namespace

std::string to_toml(const Scenario& scenario) {
  Scenario copy = scenario;
  std::string text = "title = " + quoted(scenario.title) + "\n";
  std::string_view table;
  for (const Key& key : scenario_keys()) {
    if (key.table != table) text += "\n[" + std::string(key.table) + "]\n";
    table = key.table;
    const Field field = key.field(copy);
    if (given(field)) text += std::string(key.name) + " = " + std::visit(Write{}, field) + "\n";
  }
  return text;
}

}  // namespace rankscope
