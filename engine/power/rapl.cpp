// RAPL's counters as Linux shows them (Documentation/power/powercap/powercap.rst): zones "intel-rapl:N", of AMD's
// processors too, each with its energy in microjoules and where that turns over.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <vector>

#include "engine/power/power.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

std::string line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

struct Zone {
  fs::path energy;
  std::uint64_t range = 0;   ///< of the counter: behind its greatest value
  std::uint64_t latest = 0;  ///< microjoules
};

class RaplMeter final : public EnergyMeter {
 public:
  explicit RaplMeter(std::vector<Zone> zones) : zones_(std::move(zones)) {}
  PowerSource source() const override { return PowerSource::rapl; }
  double joules() override {
    for (Zone& zone : zones_) {
      const auto now = number_in(zone.energy);
      if (!now) return std::numeric_limits<double>::quiet_NaN();
      microjoules_ += *now >= zone.latest ? *now - zone.latest : zone.range - zone.latest + *now;
      zone.latest = *now;
    }
    return static_cast<double>(microjoules_) * 1e-6;
  }

 private:
  std::vector<Zone> zones_;
  std::uint64_t microjoules_ = 0;
};

/// A package counts its cores and graphics; memory is a zone of its own below it.
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
    const auto now = number_in(folder / "energy_uj"), range = number_in(folder / "max_energy_range_uj");
    if (!now || !range) return missing((folder / "energy_uj").string() + " is not for this user to read");
    zones.push_back({folder / "energy_uj", *range + 1, *now});
  }
  if (!seen) return missing(root + " has no counters (RAPL)");
  return std::make_unique<RaplMeter>(std::move(zones));
}

}  // namespace rankscope
