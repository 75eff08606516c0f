// A message's bytes and the owner of their memory: many messages share the buffer in which they arrived.
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
