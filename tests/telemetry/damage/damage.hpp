// Damage of every kind that a disk, a network or a person can do to bytes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace rankscope::test {

class Damage {
 public:
  explicit Damage(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t end) { return end == 0 ? 0 : static_cast<std::size_t>(random_() % end); }

  /// Applies one to four faults.
  std::string done_to(std::string bytes) {
    for (std::size_t n = 1 + below(4); n > 0 && !bytes.empty(); --n) one_fault(bytes);
    return bytes;
  }

 private:
  void one_fault(std::string& bytes) {
    const std::size_t at = below(bytes.size()), length = 1 + below(std::min<std::size_t>(bytes.size() - at, 64));
    switch (below(8)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); return;
      case 1: bytes[at] = static_cast<char>(random_()); return;
      case 2:
        for (std::size_t i = 0; i < length; ++i) bytes[at + i] = static_cast<char>(random_());
        return;
      case 3: bytes.resize(at); return;
      case 4: bytes.erase(at, length); return;
      case 5: bytes.insert(at, bytes.substr(below(bytes.size()), length)); return;
      case 6: std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), length, '\0'); return;
      default: number(bytes, at);
    }
  }
  // Writes a length or an offset that is extreme or slightly wrong.
  void number(std::string& bytes, std::size_t at) {
    constexpr std::uint64_t extremes[] = {0, 1, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, ~std::uint64_t{0}};
    std::uint64_t value = extremes[below(std::size(extremes))];
    const std::size_t width = std::min<std::size_t>(bytes.size() - at, std::size_t{1} << below(4));
    if (below(3) == 0) {
      value = 0;
      std::memcpy(&value, bytes.data() + at, width);
      value += below(3) == 0 ? 1 : ~std::uint64_t{0};
    }
    std::memcpy(bytes.data() + at, &value, width);
  }

  std::mt19937_64 random_;
};

}  // namespace rankscope::test
