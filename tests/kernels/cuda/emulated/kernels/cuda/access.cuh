// kernels/cuda/access.cuh on the host.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace rankscope::kernels::cuda {

template <std::size_t n>
void store_words(void* to, const std::uint32_t (&words)[n]) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof words != 0)
    throw std::logic_error("a store of several words to an address that is not aligned to all of them");
  std::memcpy(to, words, sizeof words);
}

}  // namespace rankscope::kernels::cuda
