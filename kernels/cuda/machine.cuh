// Hardware features without C++ equivalents: shared memory sized at launch, products of small matrices by a warp
// (tensor cores), and asynchronous copies into shared memory. Compute capability 8.0 and up. Layouts: PTX manual,
// "Matrix fragments for mma.m16n8k16 with floating point type". Internal to kernels/cuda; tests run the kernels on the
// host with their own machine.cuh.
#pragma once
#include "kernels/cuda/element.cuh"

namespace rankscope::kernels::cuda {

template <class T>
__device__ inline T* shared_memory() {
  extern __shared__ __align__(128) unsigned char dynamic_shared_memory[];
  return reinterpret_cast<T*>(dynamic_shared_memory);
}

/// Two 16-bit elements, the first one in the low half.
using Word = std::uint32_t;

template <class T>
__device__ inline Word pack_pair(float first, float second);
template <>
__device__ inline Word pack_pair<Bf16>(float first, float second) {
  Word word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  return word;
}
template <>
__device__ inline Word pack_pair<F16>(float first, float second) {
  Word word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  return word;
}

/// c (16 x 8) += a (16 x 16) · b (16 x 8), sums in fp32. With g = lane / 4 and t = lane % 4 a lane holds
/// a: (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8) and their right neighbours;
/// b: (2t, g), (2t + 8, g) and their lower neighbours;
/// c: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
template <class T>
__device__ inline void multiply_add(float (&c)[4], const Word (&a)[4], const Word (&b)[2]);
template <>
__device__ inline void multiply_add<Bf16>(float (&c)[4], const Word (&a)[4], const Word (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <>
__device__ inline void multiply_add<F16>(float (&c)[4], const Word (&a)[4], const Word (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// 2^x with a relative error of 2^-22; 0 if it is below the least normal number.
__device__ inline float power_of_2(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Four 8 x 8 matrices of 16-bit elements from shared memory: lane l has the address of row l % 8 of matrix l / 8, a
/// multiple of 16 bytes. A lane gets of each matrix the elements (g, 2t) and (g, 2t + 1); transposed, those of the
/// transposed matrix.
template <bool transposed>
__device__ inline void load_matrices(Word (&to)[4], const void* row) {
  if constexpr (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

/// Starts to copy 16 bytes, both ends aligned to that; zeros unless `present`.
__device__ inline void copy_16_bytes(void* shared, const void* global, bool present) {
  const int bytes = present ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(global), "r"(bytes)
               : "memory");
}
/// The same of 4 bytes.
__device__ inline void copy_4_bytes(void* shared, const void* global, bool present) {
  const int bytes = present ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(shared)), "l"(global), "r"(bytes)
               : "memory");
}
/// Closes a group of this thread's copies.
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until at most `left` of this thread's groups are pending; the block's threads still need a barrier.
template <int left>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}

}  // namespace rankscope::kernels::cuda
