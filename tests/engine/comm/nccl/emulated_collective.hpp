// What collectives of the emulated libnccl do with their members' memory. For its own files.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace emulated_nccl {

/// A member's call. `type` is NCCL's number.
struct Collective {
  const char* name = "";
  std::size_t count = 0;
  int type = 0, root = -1;
  const void* from = nullptr;
  void* to = nullptr;
  std::string signature() const {
    return std::string(name) + " of " + std::to_string(count) + " of type " + std::to_string(type) + " root " +
           std::to_string(root);
  }
};

std::size_t bytes(int type, std::size_t count);

/// What all members have come for. Inputs are read before outputs that may lie on them are written.
void perform(std::vector<Collective>& calls);

}  // namespace emulated_nccl
