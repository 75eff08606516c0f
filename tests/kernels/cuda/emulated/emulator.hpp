// A GPU's execution model on one host thread: each thread of a block is a coroutine with a stack of its own; barriers
// of blocks and warps, and exchanges between the lanes of a warp, are what they wait at. So kernels/cuda is run, from
// the same sources, where there is no GPU. It knows nothing of time.
//
// As strict as a device, or stricter: memory that is shared has nothing of the block before in it; a barrier that not
// all threads of the block (or lanes of the warp) reach is an error, and threads run in an order that can be reversed,
// so that what only a missing barrier keeps in order shows in one of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

// As device code sees them: of the thread that is running.
extern dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulated {

enum class Order { forward, reverse };
/// Of threads within a block, and of blocks, in launches from now on.
void set_order(Order order);

/// Runs `body` once for each thread of the grid. Throws std::logic_error when threads wait for a barrier that others
/// have left behind, or when the grid or block is larger than a device allows.
void run(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& body);

/// The greatest number of threads in a block that the kernel was compiled for; 0 where it does not say.
int launch_bound(const void* kernel);

/// What dynamic shared memory begins with. It and what is declared __shared__ are NaN at the start of every block.
std::byte* shared_memory();

/// How often threads have come to a barrier since the program began: what a kernel does over and over shows in it.
std::uint64_t arrivals();

void block_barrier();
void warp_barrier();
/// Every lane of the warp gives `bytes` at `mine`, and gets those of `lane` at `theirs`.
void exchange(const void* mine, void* theirs, std::size_t bytes, int lane);
/// Every lane gives; then collect(lane) shows what a lane has given, until the next exchange or give.
const std::byte* give(const void* mine, std::size_t bytes);
inline constexpr std::size_t most_given = 64;
int lane();

/// The thread's copies in the background, `from` null for zeros: done at once, or with the order reversed as late as
/// they may be, when their group is waited for.
void begin_copy(void* to, const void* from, std::size_t bytes);
void commit_copies();
/// Until at most `left` groups are under way.
void wait_for_copies(int left);

}  // namespace emulated
