// Stores of 8 and 16 bytes to the device's memory in one access each. They are requested explicitly: for a plain store
// of a struct nvcc 13 may emit one access per member, although it emits one access for every load. Internal to
// kernels/cuda; tests run the kernels on the host with their own access.cuh.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rankscope::kernels::cuda {

/// Stores four words to a multiple of 16 bytes, or two to a multiple of 8.
__device__ inline void store_words(void* to, const std::uint32_t (&words)[4]) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}
__device__ inline void store_words(void* to, const std::uint32_t (&words)[2]) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)), "r"(words[0]), "r"(words[1])
               : "memory");
}

}  // namespace rankscope::kernels::cuda
