// The tensors of one launch: one in the kernel's parameters, or any number in a table in the device's memory, which is
// written once, since addresses do not change. Internal to kernels/cuda.
#pragma once
#include <cstring>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/element.cuh"

namespace rankscope::kernels::cuda {

template <class Tensor>
struct OneTensor {
  Tensor tensor;
  /// The tensor of a block of the launch; the block's index is changed to that within the tensor.
  __device__ const Tensor& find(int64_t&) const { return tensor; }
};

template <class Tensor>
struct TensorTable {
  const int64_t* first_block = nullptr;  ///< of each tensor, ascending
  const Tensor* tensors = nullptr;
  int count = 0;
  __device__ const Tensor& find(int64_t& block) const {
    int which = 0, beyond = count;
    while (beyond - which > 1) {
      const int middle = (which + beyond) / 2;
      if (block < first_block[middle])
        beyond = middle;
      else
        which = middle;
    }
    block -= first_block[which];
    return tensors[which];
  }
};

/// A table in memory of the current device, which this owns.
template <class Tensor>
class WrittenTable {
 public:
  /// `blocks`: of each tensor. Tensors without blocks are skipped.
  WrittenTable(const std::vector<Tensor>& tensors, const std::vector<int64_t>& blocks) {
    std::vector<int64_t> first;
    std::vector<Tensor> kept;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (blocks[i] == 0) continue;
      first.push_back(blocks_);
      kept.push_back(tensors[i]);
      blocks_ += blocks[i];
    }
    static_assert(alignof(Tensor) <= alignof(int64_t) && std::is_trivially_copyable_v<Tensor>);
    const std::size_t firsts = first.size() * sizeof(int64_t), bytes = firsts + kept.size() * sizeof(Tensor);
    if (bytes == 0) return;
    std::vector<std::byte> written(bytes);
    std::memcpy(written.data(), first.data(), firsts);
    std::memcpy(written.data() + firsts, kept.data(), bytes - firsts);
    memory_ = DeviceMemory(static_cast<int64_t>(bytes));
    DeviceStream stream;
    stream.copy(memory_.data(), written.data(), static_cast<int64_t>(bytes));
    stream.synchronise();
    table_ = {reinterpret_cast<const int64_t*>(memory_.data()),
              reinterpret_cast<const Tensor*>(memory_.data() + firsts), static_cast<int>(kept.size())};
  }
  const TensorTable<Tensor>& table() const { return table_; }
  int64_t blocks() const { return blocks_; }

 private:
  DeviceMemory memory_;
  TensorTable<Tensor> table_;
  int64_t blocks_ = 0;
};

}  // namespace rankscope::kernels::cuda
