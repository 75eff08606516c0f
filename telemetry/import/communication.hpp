// What the names and arguments of communication mean in PyTorch's traces: c10d's operators, NCCL's and RCCL's kernels,
// gloo's annotations, and kernels of other libraries that communicate.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/op/kind.hpp"

namespace rankscope::import {

/// Of "allreduce", "_allgather_base", "nccl:send 0->1", "gloo:recvAnySource", "c10d::alltoall_base_". A barrier is an
/// all-reduce of nothing. Empty: not one that moves bytes ("wait", "coalesced").
std::optional<OpKind> kind_of_communication(std::string_view name);

struct KernelCommunication {
  std::optional<OpKind> kind;  ///< empty: messages whose direction the kernel does not say (SendRecv)
};
/// By a kernel's name alone; empty if it computes.
std::optional<KernelCommunication> communication_of_kernel(std::string_view name);

/// Of "Float", "c10::BFloat16" or "long int"; 0: unknown.
int bytes_of_type(std::string_view type);

/// Of "[0, 1]" or "0,1"; empty if a part was left out ("[0, 1, ..., 63]") or it is no such list.
std::vector<int> parse_ranks(std::string_view text);

/// The product of a list of sizes such as "[2, 64]", or the sum of products of a list of lists; −1 if it is neither.
std::int64_t element_count(std::string_view dimensions);

}  // namespace rankscope::import
