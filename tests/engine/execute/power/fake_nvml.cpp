// A fake NVML: one GPU whose counter increases at every reading, by the amount in the environment.
#include <cstdlib>
#include <cstring>

namespace {
int opened = 0;
unsigned long long millijoules = 5'000'000;
int device;
}  // namespace

extern "C" {
int nvmlInit_v2() {
  ++opened;
  return std::getenv("FAKE_NVML_NO_DRIVER") != nullptr ? 9 : 0;
}
int nvmlShutdown() {
  --opened;
  return 0;
}
const char* nvmlErrorString(int result) {
  return result == 9 ? "Driver Not Loaded" : result == 6 ? "Not Found" : result == 3 ? "Not Supported" : "?";
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** handle) {
  *handle = &device;
  return std::strcmp(id, "0000:3b:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetTotalEnergyConsumption(void* handle, unsigned long long* energy) {
  if (handle != &device || opened <= 0) return 1;
  if (std::getenv("FAKE_NVML_OLD") != nullptr) return 3;
  const char* more = std::getenv("FAKE_NVML_MORE");
  millijoules += more != nullptr ? std::strtoull(more, nullptr, 10) : 0;
  *energy = millijoules;
  return 0;
}
}
