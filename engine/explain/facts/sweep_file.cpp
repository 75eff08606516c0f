#include "engine/explain/facts/sweep_file.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "engine/op/words.hpp"

namespace rankscope {
namespace {

/// Names and paths may have any encoding, and JSON is UTF-8.
std::string dumped(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

SweepRecorder::SweepRecorder(const std::string& path, const Sweep& sweep) : writer_(path) {
  if (!writer_.write(sweep_topic, 0, dumped(recorded(sweep)))) throw TraceError(writer_.error());
}

void SweepRecorder::add(const SweepRun& run, std::int64_t time_ns) {
  if (!writer_.write(sweep_run_topic, time_ns, dumped(recorded(run)))) ++lost_;
}

std::string SweepRecorder::close() {
  if (writer_.close()) return {};
  return writer_.error() + "; " + counted(lost_, "run") + " " + std::string(agreeing(lost_, "is", "are")) +
         " not in the recording";
}

bool is_sweep(const std::string& path) { return has_topic(path, sweep_topic); }

Sweep read_sweep(const std::string& path, DamageReport* damage) {
  std::optional<Sweep> sweep;
  for (const JsonDocument& document : read_json_trace(path, damage)) {
    if (document.topic != sweep_topic && document.topic != sweep_run_topic) continue;
    try {
      const nlohmann::json json = nlohmann::json::parse(document.text);
      if (document.topic == sweep_topic) {
        sweep = sweep_from(json);
        continue;
      }
      SweepRun run = sweep_run_from(json);
      if (!sweep) throw TraceError(path + ": the first document of the sweep is missing, so its runs have no meaning");
      if (run.point < 0 || run.point >= static_cast<std::int32_t>(sweep->points.size()))
        throw TraceError(
            fmt::format("{}: a run is of point {}, and the sweep has {}", path, run.point, sweep->points.size()));
      sweep->runs.push_back(std::move(run));
    } catch (const nlohmann::json::exception& error) {
      throw TraceError(path + ": a document of the sweep is not JSON: " + error.what());
    } catch (const std::invalid_argument& error) {
      throw TraceError(path + ": " + error.what());
    }
  }
  if (!sweep) throw TraceError(path + ": an MCAP file, but not the recording of a sweep");
  return std::move(*sweep);
}

}  // namespace rankscope
