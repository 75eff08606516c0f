// RAPL's counters in Linux (Documentation/power/powercap/powercap.rst): zones "intel-rapl:N", also for AMD's
// processors, each with its energy in microjoules and the value at which that wraps around.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "engine/execute/power/power.hpp"
#include "engine/op/not_known.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

std::string line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// A counter's file, kept open: a read is one system call, one or two microseconds per step.
class Counter {
 public:
  explicit Counter(const fs::path& file) : descriptor_(open(file.c_str(), O_RDONLY | O_CLOEXEC)) {}
  Counter(Counter&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Counter& operator=(Counter&&) = delete;
  ~Counter() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  std::optional<std::uint64_t> read() const {
    char text[32];
    const ssize_t length = pread(descriptor_, text, sizeof text, 0);
    std::uint64_t value = 0;
    if (length <= 0 || std::from_chars(text, text + length, value).ec != std::errc{}) return std::nullopt;
    return value;
  }

 private:
  int descriptor_;
};

struct Zone {
  Counter energy;
  std::uint64_t range;   ///< of the counter: its greatest value plus one
  std::uint64_t latest;  ///< microjoules
};

class RaplMeter final : public EnergyMeter {
 public:
  explicit RaplMeter(std::vector<Zone> zones) : zones_(std::move(zones)) {}
  PowerSource source() const override { return PowerSource::rapl; }
  double joules() override {
    for (Zone& zone : zones_) {
      const auto now = zone.energy.read();
      if (!now) return not_known;
      microjoules_ += *now >= zone.latest ? *now - zone.latest : zone.range - zone.latest + *now;
      zone.latest = *now;
    }
    return static_cast<double>(microjoules_) * 1e-6;
  }

 private:
  std::vector<Zone> zones_;
  std::uint64_t microjoules_ = 0;
};

/// A package includes its cores and graphics; memory is a separate zone below it.
bool counts_apart(const std::string& name) { return name.starts_with("package-") || name == "dram"; }

}  // namespace

std::unique_ptr<EnergyMeter> open_rapl_meter(std::string* why, const std::string& root) {
  const auto missing = [why](const std::string& what) {
    if (why != nullptr) *why = "the processors' energy is unknown: " + what;
    return nullptr;
  };
  std::error_code error;
  std::vector<Zone> zones;
  bool seen = false;
  std::vector<fs::path> folders;
  for (fs::directory_iterator at(root, error), end; !error && at != end; at.increment(error))
    folders.push_back(at->path());
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    if (!folder.filename().string().starts_with("intel-rapl:") || !counts_apart(line_of(folder / "name"))) continue;
    seen = true;
    Counter energy(folder / "energy_uj");
    const auto now = energy.read(), range = Counter(folder / "max_energy_range_uj").read();
    if (!now || !range) return missing((folder / "energy_uj").string() + " is not for this user to read");
    zones.push_back({std::move(energy), *range + 1, *now});
  }
  if (!seen) return missing(root + " has no counters (RAPL)");
  return std::make_unique<RaplMeter>(std::move(zones));
}

}  // namespace rankscope
