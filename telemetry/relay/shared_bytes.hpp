// A message's bytes with what keeps them alive: many messages share the one buffer that they came in.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace rankscope {

struct SharedBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

inline SharedBytes shared(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const std::span<const std::byte> view(*owner);
  return {std::move(owner), view};
}

}  // namespace rankscope
