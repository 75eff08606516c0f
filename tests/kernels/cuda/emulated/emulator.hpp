// A GPU's execution model on one host thread: each thread of a block is a coroutine with its own stack, which waits at
// barriers of blocks and warps and at exchanges between the lanes of a warp. So kernels/cuda runs, from the same
// sources, without a GPU. It does not model time.
//
// As strict as a device, or stricter: shared memory has no data of the previous block; a barrier that not all threads
// of the block (or lanes of the warp) reach is an error; and the order of threads can be reversed, so that a missing
// barrier causes an error in one of the orders.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

// The variables of device code: those of the running thread.
extern dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulated {

enum class Order { forward, reverse };
/// The order of threads within a block, and of blocks, in later launches.
void set_order(Order order);

/// Runs `body` once for each thread of the grid. Throws std::logic_error if threads wait for a barrier that others do
/// not reach, or if the grid or block is larger than a device allows.
void run(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& body);

/// The greatest number of threads in a block that the kernel was compiled for; 0 if not declared.
int launch_bound(const void* kernel);

/// The begin of dynamic shared memory. It and __shared__ variables are NaN at the start of every block.
std::byte* shared_memory();

/// Arrivals of threads at barriers since the program began: they show repeated work of a kernel.
std::uint64_t arrivals();

void block_barrier();
void warp_barrier();
/// Every lane of the warp passes `bytes` at `mine`, and gets those of `lane` at `theirs`.
void exchange(const void* mine, void* theirs, std::size_t bytes, int lane);
/// Every lane passes data; then collect(lane) returns a lane's data, until the next exchange or give.
const std::byte* give(const void* mine, std::size_t bytes);
inline constexpr std::size_t most_given = 64;
int lane();

/// The thread's asynchronous copies, `from` null for zeros: done at once, or, in reversed order, as late as possible,
/// when their group is waited for.
void begin_copy(void* to, const void* from, std::size_t bytes);
void commit_copies();
/// Waits until at most `left` groups are pending.
void wait_for_copies(int left);

}  // namespace emulated
