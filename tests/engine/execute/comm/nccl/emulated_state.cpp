#include "tests/engine/execute/comm/nccl/emulated_state.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <utility>

#include "tests/engine/execute/comm/nccl/emulated.hpp"

namespace emulated_nccl {
namespace {

struct Notes {
  std::mutex mutex;
  std::string text, reported;
};
Notes& notes() {
  static Notes* const all = new Notes;
  return *all;
}

}  // namespace

void note(const std::string& what) {
  const std::lock_guard lock(notes().mutex);
  notes().text += what + "\n";
  if (const char* const file = std::getenv("EMULATED_NCCL_NOTES")) std::ofstream(file, std::ios::app) << what << "\n";
}

State& state() {
  static State* const one = [] {
    auto* made = new State;  // outlives the program's statics
    made->enqueue = [](void* stream, std::function<void()> work) {
      static_cast<Stream*>(stream)->enqueue(std::move(work));
    };
    made->transfer = [](const std::vector<const void*>&, const std::function<void()>& work) { work(); };
    if (void* const shown = dlsym(RTLD_DEFAULT, "emulated_gpu_enqueue"))
      made->enqueue = reinterpret_cast<decltype(made->enqueue)>(shown);
    if (void* const shown = dlsym(RTLD_DEFAULT, "emulated_gpu_transfer"))
      made->transfer = reinterpret_cast<decltype(made->transfer)>(shown);
    if (void* const shown = dlsym(RTLD_DEFAULT, "emulated_gpu_loads_code_ahead"))
      made->loads_code_ahead = reinterpret_cast<bool (*)()>(shown)();
    return made;
  }();
  return *one;
}

}  // namespace emulated_nccl

extern "C" {

const char* emulated_nccl_misuse() {
  auto& all = emulated_nccl::notes();
  const std::lock_guard lock(all.mutex);
  all.reported = std::exchange(all.text, {});
  return all.reported.c_str();
}

void emulated_nccl_streams(void (*enqueue)(void* stream, std::function<void()> work),
                           void (*transfer)(const std::vector<const void*>& touched,
                                            const std::function<void()>& work)) {
  emulated_nccl::state().enqueue = enqueue;
  emulated_nccl::state().transfer = transfer;
}
}
