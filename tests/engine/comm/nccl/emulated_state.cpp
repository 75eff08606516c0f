#include "tests/engine/comm/nccl/emulated_state.hpp"

#include <mutex>
#include <utility>

#include "tests/engine/comm/nccl/emulated.hpp"

namespace emulated_nccl {
namespace {

struct Notes {
  std::mutex mutex;
  std::string text, told;
};
Notes& notes() {
  static Notes all;
  return all;
}

}  // namespace

void note(const std::string& what) {
  const std::lock_guard lock(notes().mutex);
  notes().text += what + "\n";
}

State& state() {
  static State one{
      -1, [](void* stream, std::function<void()> work) { static_cast<Stream*>(stream)->enqueue(std::move(work)); },
      [](const std::vector<const void*>&, const std::function<void()>& work) { work(); }};
  return one;
}

}  // namespace emulated_nccl

extern "C" {

const char* emulated_nccl_misuse() {
  auto& all = emulated_nccl::notes();
  const std::lock_guard lock(all.mutex);
  all.told = std::exchange(all.text, {});
  return all.told.c_str();
}

void emulated_nccl_streams(void (*enqueue)(void* stream, std::function<void()> work),
                           void (*transfer)(const std::vector<const void*>& touched,
                                            const std::function<void()>& work)) {
  emulated_nccl::state().enqueue = enqueue;
  emulated_nccl::state().transfer = transfer;
}
}
