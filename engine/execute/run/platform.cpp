#include "engine/execute/run/platform.hpp"

#include <cstdlib>

#include "engine/execute/run/gpu_platform.hpp"
#include "engine/execute/run/host_platform.hpp"

namespace rankscope {
namespace {

std::shared_ptr<const Platform> open_cpu(int threads, int) { return open_host_platform(threads); }

void keep_queues_apart() { setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0); }  // the most that there may be

struct Row {
  std::string_view name;
  std::shared_ptr<const Platform> (*open)(int threads, int gpu);
  void (*prepare)();
  void (*check)();
};
constexpr Row table[] = {{"cpu", open_cpu, [] {}, [] {}},
                         {"cuda", open_gpu_platform, keep_queues_apart, check_gpu_platform}};

}  // namespace

std::shared_ptr<const Platform> open_platform(std::string_view name, int threads, int gpu) {
  for (const Row& row : table)
    if (row.name == name) return row.open(threads, gpu);
  throw std::invalid_argument("unknown device '" + std::string(name) + "'; known: cpu, cuda, sleep");
}

std::vector<std::string> gpus_here() { return gpu_bus_ids(); }

void prepare_platform(std::string_view name) {
  for (const Row& row : table)
    if (row.name == name) row.prepare();
}

void check_platform(std::string_view name) {
  for (const Row& row : table)
    if (row.name == name) row.check();
}

bool is_platform(std::string_view name) {
  for (const Row& row : table)
    if (row.name == name) return true;
  return false;
}

}  // namespace rankscope
