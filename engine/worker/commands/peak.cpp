// `rankscope-engine peak`: the stored peak of this machine, the base of MFU, and its memory bandwidth; checked,
// and measured again on request.

#include <algorithm>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/base/host/provenance.hpp"
#include "engine/op/words.hpp"
#include "engine/prove/calibrate/stored_peak.hpp"
#include "engine/worker/commands/command.hpp"
#include "engine/worker/print.hpp"

namespace rankscope::command {
namespace {

struct PeakRequest {
  std::vector<std::string> precisions = {"fp32", "bf16"};
  int threads = 1;     ///< of a rank
  bool again = false;  ///< measures it, even if it is stored
  bool json = false;
};

DType type_named(const std::string& precision) {
  constexpr std::array types{DType::f64, DType::f32, DType::bf16, DType::f16};
  const auto found = std::find_if(types.begin(), types.end(), [&](DType type) { return name_of(type) == precision; });
  if (found == types.end())
    throw ScenarioError("--precision " + precision + ": unknown; give fp64, fp32, bf16 or fp16");
  return *found;
}

nlohmann::json to_json(const MachinePeak& found) {
  const PeakKey& key = found.peak.key;
  const PeakMeasurement& m = found.peak.measured;
  return {{"host", key.machine.host},
          {"cpu", key.machine.cpu},
          {"cores", key.machine.cores},
          {"libraries", key.libraries},
          {"threads", key.threads},
          {"precision", key.precision},
          {"device_flops", m.best.device},
          {"wall_flops", m.best.wall},
          {"now", {{"device_flops", found.now.device}, {"wall_flops", found.now.wall}}},
          {"size", m.size},
          {"samples", m.samples},
          {"spread", m.spread},
          {"steady", m.steady()},
          {"memory_bandwidth", found.peak.memory_bandwidth},
          {"measured_utc", found.peak.utc},
          {"measured_now", found.measured_now},
          {"not_stored", found.not_stored.empty() ? nlohmann::json(nullptr) : nlohmann::json(found.not_stored)}};
}

std::string line_of(const MachinePeak& found) {
  const PeakMeasurement& m = found.peak.measured;
  std::string text =
      fmt::format("{:<9} {:10.1f} GFLOP/s {:10.1f} GFLOP/s   {:>6} {:>6}   {} x {}, {} products, within {}",
                  found.peak.key.precision, m.best.device * 1e-9, m.best.wall * 1e-9,
                  figure::percent(found.now.device / m.best.device), figure::percent(found.now.wall / m.best.wall),
                  static_cast<long long>(m.size), static_cast<long long>(m.size), m.samples, figure::percent(m.spread));
  text += found.measured_now ? ", measured now" : ", measured " + found.peak.utc;
  if (!m.steady()) text += "; not steady: this machine is busy, and the next start measures it again";
  if (!found.not_stored.empty()) text += "; not stored: " + found.not_stored;
  return text + "\n";
}

int print_peaks(const PeakRequest& request) {
  std::vector<DType> types;
  for (const std::string& precision : request.precisions) types.push_back(type_named(precision));
  const std::shared_ptr<const Platform> platform = open_platform("cpu", request.threads);
  const PeakStore store(peak_file());
  std::vector<MachinePeak> found;
  for (const DType type : types) found.push_back(peak_of_machine(type, *platform, store, request.again, utc_now()));
  if (request.json) {
    nlohmann::json json = nlohmann::json::array();
    for (const MachinePeak& one : found) json.push_back(to_json(one));
    print_json(json);
    return 0;
  }
  std::cout << "machine   " << this_machine().host << ": " << describe(this_machine()) << "\n"
            << "products  " << platform->libraries << ", " << counted(request.threads, "thread") << "\n"
            << "stored in " << (store.file().empty() ? "no file: HOME is not set" : store.file().string()) << "\n\n"
            << "             device clock        wall clock    now, of both    best product\n";
  double bandwidth = 0;
  for (const MachinePeak& one : found) {
    std::cout << line_of(one);
    bandwidth = std::max(bandwidth, one.peak.memory_bandwidth);
  }
  std::cout << fmt::format("{:<9} {:10.1f} GB/s read and written, in copies that no cache holds\n", "memory",
                           bandwidth * 1e-9);
  return 0;
}

}  // namespace

Command peak(CLI::App& app) {
  const auto given = std::make_shared<PeakRequest>();
  auto* line =
      app.add_subcommand("peak", "show this machine's peak, the reference of MFU: stored, and checked at each start");
  line->add_option("--precision", given->precisions, "precisions, as in --precision fp32,bf16")->delimiter(',');
  line->add_option("--threads", given->threads, "CPU threads per rank")->check(CLI::Range(1, 256));
  line->add_flag("--again", given->again, "measure again; a steady stored value is replaced only by a steady one");
  line->add_flag("--json", given->json, "print only one JSON array on standard output");
  return {line, [given] { return print_peaks(*given); }};
}

}  // namespace rankscope::command
