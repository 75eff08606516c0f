// Shared code for oneDNN: threads, types, and calls that allocate nothing. Internal to kernels/cpu.
#pragma once
#include <omp.h>

#include <dnnl.hpp>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "kernels/tensor/type.hpp"

namespace rankscope::kernels::cpu {

/// oneDNN gets the number of threads from OpenMP, per calling thread.
class ThreadScope {
 public:
  explicit ThreadScope(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~ThreadScope() { omp_set_num_threads(before_); }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

inline dnnl::memory::data_type data_type_of(DType type) {
  return type == DType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

/// False if oneDNN has only its reference loops for it.
inline bool optimised(std::string_view implementation) { return !implementation.starts_with("ref"); }

/// A primitive and its arguments, for launches that set new addresses and allocate nothing.
class OneDnnCall {
 public:
  OneDnnCall() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  const dnnl::engine& engine() const { return engine_; }
  void set(dnnl::primitive primitive) { primitive_ = std::move(primitive); }
  void add(int argument, const dnnl::memory::desc& description) {
    memories_.push_back(dnnl::memory(description, engine_, nullptr));
    arguments_.push_back({argument, memories_.back().get()});
  }
  /// Handles in the order of the calls of add.
  void run(std::span<const void* const> handles) const {
    for (std::size_t i = 0; i < memories_.size(); ++i)
      dnnl_memory_set_data_handle(memories_[i].get(), const_cast<void*>(handles[i]));
    // The C function: the C++ one builds a map of its arguments at every call.
    const auto status =
        dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data());
    if (status != dnnl_success) throw std::runtime_error("oneDNN failed to run a primitive");
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

}  // namespace rankscope::kernels::cpu
