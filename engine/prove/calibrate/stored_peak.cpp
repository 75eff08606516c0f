#include "engine/prove/calibrate/stored_peak.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/op/words.hpp"
#include "engine/prove/calibrate/bandwidth.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double exceeded = 1.03;

Json to_json(const StoredPeak& peak) {
  const PeakKey& key = peak.key;
  const PeakMeasurement& m = peak.measured;
  return {{"host", key.machine.host},      {"cpu", key.machine.cpu},    {"cores", key.machine.cores},
          {"libraries", key.libraries},    {"threads", key.threads},    {"precision", key.precision},
          {"device_flops", m.best.device}, {"wall_flops", m.best.wall}, {"size", m.size},
          {"samples", m.samples},          {"spread", m.spread},        {"memory_bandwidth", peak.memory_bandwidth},
          {"measured_utc", peak.utc}};
}

StoredPeak peak_from(const Json& json) {
  StoredPeak peak;
  peak.key = {{json.at("host"), json.at("cpu"), json.at("cores")},
              json.at("libraries"),
              json.at("threads"),
              json.at("precision")};
  peak.measured = {
      {json.at("device_flops"), json.at("wall_flops")}, json.at("size"), json.at("samples"), json.at("spread")};
  peak.memory_bandwidth = json.value("memory_bandwidth", 0.0);  // files of earlier versions have none
  peak.utc = json.at("measured_utc");
  return peak;
}

bool exceeds(const PeakFlops& now, const PeakFlops& stored) {
  return now.device > exceeded * stored.device || now.wall > exceeded * stored.wall;
}

PeakMeasurement better_of(const PeakMeasurement& stored, const PeakMeasurement& now) {
  PeakMeasurement best = now;
  best.best = {std::max(stored.best.device, now.best.device), std::max(stored.best.wall, now.best.wall)};
  best.spread = std::min(stored.spread, now.spread);
  return best;
}

}  // namespace

bool keeps_stored(const PeakMeasurement& stored, const PeakMeasurement& now) {
  return stored.steady() && !now.steady();
}

std::vector<StoredPeak> PeakStore::all() const {
  std::vector<StoredPeak> peaks;
  if (file_.empty()) return peaks;
  std::ifstream in(file_);
  const Json json = Json::parse(in, nullptr, false);
  if (!json.is_array()) return peaks;
  for (const Json& one : json) {
    try {
      StoredPeak peak = peak_from(one);
      const PeakMeasurement& m = peak.measured;
      if (m.best.device > 0 && m.best.wall > 0 && m.size > 0) peaks.push_back(std::move(peak));
    } catch (const Json::exception&) {
      // From another version, or damaged: it is measured again.
    }
  }
  return peaks;
}

std::optional<StoredPeak> PeakStore::find(const PeakKey& key) const {
  for (StoredPeak& peak : all())
    if (peak.key == key) return std::move(peak);
  return std::nullopt;
}

std::string PeakStore::put(const StoredPeak& peak) const {
  if (file_.empty()) return "neither XDG_CACHE_HOME nor HOME is set";
  std::vector<StoredPeak> peaks = all();
  std::erase_if(peaks, [&](const StoredPeak& other) { return other.key == peak.key; });
  peaks.push_back(peak);
  Json json = Json::array();
  for (const StoredPeak& one : peaks) json.push_back(to_json(one));
  std::error_code error;
  fs::create_directories(file_.parent_path(), error);
  // Written to a temporary file and renamed: another process reads the old file or the new one, never a part.
  const fs::path beside = fmt::format("{}.{}", file_.string(), getpid());
  {
    std::ofstream out(beside);
    out << json.dump(1) << "\n";
    out.flush();
    if (!out) {
      fs::remove(beside, error);
      return "cannot write " + file_.string();
    }
  }
  fs::rename(beside, file_, error);
  return error ? "cannot write " + file_.string() + ": " + error.message() : std::string();
}

fs::path peak_file() {
  const auto folder_in = [](const char* variable) {
    const char* value = std::getenv(variable);
    return fs::path(value != nullptr ? value : "");
  };
  fs::path cache = folder_in("XDG_CACHE_HOME");
  if (cache.empty()) {
    const fs::path home = folder_in("HOME");
    if (home.empty()) return {};
    cache = home / ".cache";
  }
  return cache / "rankscope" / "peaks.json";
}

MachinePeak peak_of_machine(DType type, const Platform& platform, const PeakStore& store, bool again,
                            const std::string& utc) {
  const PeakKey key{this_machine(), platform.libraries, platform.kernels.options.threads, std::string(name_of(type))};
  MachinePeak result{{key, {}, 0, utc}, {}, true, {}};
  if (!platform.device->is_host()) {
    result.peak.measured = measure_peak(type, platform, {.least_seconds = 0, .most_seconds = 0.1});
    result.now = result.peak.measured.best;
    result.peak.memory_bandwidth = measure_memory_bandwidth(platform, {.seconds = 0.02});
    result.not_stored = "the peak of a GPU is measured at each start";
    return result;
  }
  const std::optional<StoredPeak> stored = store.find(key);
  if (stored && !again) {
    result.now = glance_at_peak(type, platform, stored->measured.size);
    if (stored->measured.steady() && !exceeds(result.now, stored->measured.best)) {
      result.peak = *stored;
      result.measured_now = false;
      if (stored->memory_bandwidth > 0) return result;
      result.peak.memory_bandwidth = measure_memory_bandwidth(platform);
      result.not_stored = store.put(result.peak);
      return result;
    }
  }
  const PeakMeasurement measured = measure_peak(type, platform);
  if (!stored || again) result.now = measured.best;
  if (again && stored && keeps_stored(stored->measured, measured)) {
    result.peak = *stored;
    result.measured_now = false;
    result.not_stored = fmt::format("what was measured now is not steady (within {}): this machine is busy",
                                    figure::percent(measured.spread));
    return result;
  }
  result.peak.measured = stored && !again ? better_of(stored->measured, measured) : measured;
  result.peak.memory_bandwidth = std::max(stored ? stored->memory_bandwidth : 0, measure_memory_bandwidth(platform));
  result.not_stored = store.put(result.peak);
  return result;
}

}  // namespace rankscope
