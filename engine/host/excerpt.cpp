#include "engine/host/excerpt.hpp"

namespace rankscope {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::string excerpt(std::string_view value, std::size_t most) {
  std::string text(value);
  if (value.size() > most) {
    std::size_t head = most * 3 / 4, tail = value.size() - (most - head);
    while (head > 0 && continues(value[head])) --head;
    while (tail < value.size() && continues(value[tail])) ++tail;
    text = std::string(value.substr(0, head)) + "…" + std::string(value.substr(tail)) + " (" +
           std::to_string(value.size()) + " characters)";
  }
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

}  // namespace rankscope
