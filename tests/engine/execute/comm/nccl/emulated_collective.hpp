// What collectives of the emulated libnccl do. For its own files.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace emulated_nccl {

/// A member's call. `type` and `reduction` (of those that reduce) are NCCL's numbers.
struct Collective {
  const char* name = "";
  std::size_t count = 0;
  int type = 0, reduction = -1, root = -1;
  const void* from = nullptr;
  void* to = nullptr;
  std::string signature() const {
    return std::string(name) + " of " + std::to_string(count) + " of type " + std::to_string(type) + " by " +
           std::to_string(reduction) + " root " + std::to_string(root);
  }
};

std::size_t bytes(int type, std::size_t count);

/// What this of `members` gives.
std::size_t input_bytes(const Collective& call, int members, int member);
/// What this member gets, of what all have given.
void perform(const Collective& call, const std::vector<const void*>& inputs, int member);

}  // namespace emulated_nccl
