// A sweep as JSON: for --json and for recordings.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/explain/analyse/figure_json.hpp"
#include "engine/explain/analyse/scaling.hpp"
#include "engine/op/not_known.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

using Json = nlohmann::json;

using figure::known;

/// "2" is the number 2, "1f1b" a text.
Json typed(const std::string& value) {
  const Json json = Json::parse(value, nullptr, false);
  return json.is_number() || json.is_boolean() || json.is_string() ? json : Json(value);
}

Json keys_json(const std::vector<Override>& keys) {
  Json json = Json::object();
  for (const Override& given : keys) json[given.key] = typed(given.value);
  return json;
}

Json figures(const ScalingFigures& side) {
  return {{"step_seconds", known(side.step_seconds)},
          {"tokens_per_s", known(side.tokens_per_s)},
          {"speedup", known(side.speedup)},
          {"efficiency", known(side.efficiency)},
          {"bubble", known(side.bubble)},
          {"exposed", known(side.exposed)}};
}

Json point_json(const SweepPoint& point, const ScalingRow& row) {
  Json json = figures(row.run);
  json["keys"] = keys_json(point.keys);
  json["ranks"] = point.ranks > 0 ? Json(point.ranks) : Json(nullptr);
  json["global_batch"] = point.global_batch > 0 ? Json(point.global_batch) : Json(nullptr);
  json["clock"] = name_of(row.clock);
  json["obtained"] = row.runs > 0 ? Json(name_of(row.obtained)) : Json(nullptr);
  json["runs"] = row.runs;
  json["steady_steps"] = row.steps;
  json["step_seconds_quartiles"] = {known(row.first_quartile), known(row.third_quartile)};
  json["run_step_seconds"] = row.run_seconds;
  json["wall_step_seconds"] = known(row.wall_step_seconds);
  json["tokens_per_s_per_rank"] = known(row.tokens_per_s_per_rank);
  json["mfu"] = known(row.mfu);
  json["hfu"] = known(row.hfu);
  json["peak_bytes"] = row.peak_bytes >= 0 ? Json(row.peak_bytes) : Json(nullptr);
  json["predicted"] = figures(row.predicted);
  json["reason"] = row.reason.empty() ? Json(nullptr) : Json(row.reason);
  return json;
}

Json axes_json(const std::vector<Axis>& axes) {
  Json json = Json::array();
  for (const Axis& axis : axes) json.push_back({{"key", axis.key}, {"values", axis.values}});
  return json;
}

/// The value of a record's key; throws std::invalid_argument if it is missing or of another type.
template <class T>
T value_of(const Json& record, const char* key) {
  try {
    return record.at(key).get<T>();
  } catch (const Json::exception&) {
    throw std::invalid_argument(std::string("a sweep's record: its ") + key +
                                (record.is_object() && record.contains(key) ? " is of another type" : " is missing"));
  }
}

double number_of(const Json& record, const char* key) {
  if (record.is_object() && record.contains(key) && record[key].is_null()) return not_known;
  return value_of<double>(record, key);
}

template <class Enum>
Enum named(const Json& record, const char* key, std::initializer_list<Enum> all) {
  const auto name = value_of<std::string>(record, key);
  for (const Enum value : all)
    if (name_of(value) == name) return value;
  throw std::invalid_argument(std::string("a sweep's record: its ") + key + " is '" + name + "', which is unknown");
}

ClockDomain clock_of(const Json& record) { return named(record, "clock", {ClockDomain::wall, ClockDomain::device}); }

}  // namespace

nlohmann::json to_json(const Sweep& sweep, const ScalingTable& table) {
  Json points = Json::array();
  for (const ScalingRow& row : table.rows) points.push_back(point_json(sweep.points[row.point], row));
  Json baseline = nullptr;
  if (table.baseline >= 0)
    baseline = {{"point", table.baseline},
                {"keys", keys_json(sweep.points[table.baseline].keys)},
                {"words", table.baseline_words}};
  return {{"title", sweep.title},
          {"scenario", sweep.file},
          {"scaling", name_of(sweep.scaling)},
          {"over", axes_json(sweep.axes)},
          {"steps", sweep.steps},
          {"repeats", sweep.repeats},
          {"comm", sweep.communicator},
          {"device", sweep.device},
          {"threads", sweep.threads},
          {"host", sweep.host},
          {"cores", sweep.cores > 0 ? Json(sweep.cores) : Json(nullptr)},
          {"started_utc", sweep.started_utc},
          {"clock", name_of(sweep.clock)},
          {"obtained", name_of(sweep.clock == ClockDomain::device ? Obtained::emulated : Obtained::measured)},
          {"baseline", std::move(baseline)},
          {"formula", table.formula},
          {"complete", table.complete()},
          {"points", std::move(points)}};
}

nlohmann::json recorded(const Sweep& sweep) {
  Json points = Json::array();
  for (const SweepPoint& point : sweep.points) {
    Json values = Json::array();
    for (const Override& given : point.keys) values.push_back(given.value);
    points.push_back({{"values", std::move(values)},
                      {"ranks", point.ranks},
                      {"global_batch", point.global_batch},
                      {"tokens_per_step", point.tokens_per_step},
                      {"stages", point.stages},
                      {"refused", point.refused}});
  }
  return {{"title", sweep.title},
          {"file", sweep.file},
          {"scenario_toml", sweep.scenario_toml},
          {"host", sweep.host},
          {"started_utc", sweep.started_utc},
          {"scaling", name_of(sweep.scaling)},
          {"axes", axes_json(sweep.axes)},
          {"steps", sweep.steps},
          {"repeats", sweep.repeats},
          {"communicator", sweep.communicator},
          {"device", sweep.device},
          {"clock", name_of(sweep.clock)},
          {"threads", sweep.threads},
          {"cores", sweep.cores},
          {"points", std::move(points)}};
}

nlohmann::json recorded(const SweepRun& run) {
  return {{"point", run.point},
          {"repeat", run.repeat},
          {"failure", run.failure},
          {"obtained", name_of(run.obtained)},
          {"clock", name_of(run.clock)},
          {"step_seconds", run.step_seconds},
          {"wall_step_seconds", run.wall_step_seconds},
          {"predicted_step_seconds", known(run.predicted_step_seconds)},
          {"bubble", known(run.bubble)},
          {"predicted_bubble", known(run.predicted_bubble)},
          {"exposed", known(run.exposed)},
          {"predicted_exposed", known(run.predicted_exposed)},
          {"mfu", known(run.mfu)},
          {"hfu", known(run.hfu)},
          {"peak_bytes", run.peak_bytes}};
}

Sweep sweep_from(const nlohmann::json& record) {
  Sweep sweep;
  sweep.title = value_of<std::string>(record, "title");
  sweep.file = value_of<std::string>(record, "file");
  sweep.scenario_toml = value_of<std::string>(record, "scenario_toml");
  sweep.host = value_of<std::string>(record, "host");
  sweep.started_utc = value_of<std::string>(record, "started_utc");
  sweep.scaling = named(record, "scaling", {Scaling::strong, Scaling::weak});
  for (const Json& axis : value_of<Json>(record, "axes"))
    sweep.axes.push_back({value_of<std::string>(axis, "key"), value_of<std::vector<std::string>>(axis, "values")});
  sweep.steps = value_of<std::int32_t>(record, "steps");
  sweep.repeats = value_of<std::int32_t>(record, "repeats");
  sweep.communicator = value_of<std::string>(record, "communicator");
  sweep.device = value_of<std::string>(record, "device");
  sweep.clock = clock_of(record);
  sweep.threads = value_of<std::int32_t>(record, "threads");
  sweep.cores = value_of<std::int32_t>(record, "cores");
  for (const Json& entry : value_of<Json>(record, "points")) {
    SweepPoint point;
    const auto values = value_of<std::vector<std::string>>(entry, "values");
    if (values.size() != sweep.axes.size())
      throw std::invalid_argument(fmt::format("a sweep's record: a point has {}, and there are {} axes",
                                              counted(values.size(), "value"), sweep.axes.size()));
    for (std::size_t i = 0; i < values.size(); ++i) point.keys.push_back({sweep.axes[i].key, values[i]});
    point.ranks = value_of<std::int32_t>(entry, "ranks");
    point.global_batch = value_of<std::int32_t>(entry, "global_batch");
    point.tokens_per_step = value_of<std::int64_t>(entry, "tokens_per_step");
    if (entry.contains("stages")) point.stages = value_of<std::string>(entry, "stages");  // older records have none
    point.refused = value_of<std::string>(entry, "refused");
    sweep.points.push_back(std::move(point));
  }
  return sweep;
}

SweepRun sweep_run_from(const nlohmann::json& record) {
  SweepRun run;
  run.point = value_of<std::int32_t>(record, "point");
  run.repeat = value_of<std::int32_t>(record, "repeat");
  run.failure = value_of<std::string>(record, "failure");
  run.obtained = named(record, "obtained", {Obtained::measured, Obtained::emulated, Obtained::simulated});
  run.clock = clock_of(record);
  run.step_seconds = value_of<std::vector<double>>(record, "step_seconds");
  run.wall_step_seconds = value_of<std::vector<double>>(record, "wall_step_seconds");
  run.predicted_step_seconds = number_of(record, "predicted_step_seconds");
  run.bubble = number_of(record, "bubble");
  run.predicted_bubble = number_of(record, "predicted_bubble");
  run.exposed = number_of(record, "exposed");
  run.predicted_exposed = number_of(record, "predicted_exposed");
  run.mfu = number_of(record, "mfu");
  run.hfu = number_of(record, "hfu");
  run.peak_bytes = value_of<std::int64_t>(record, "peak_bytes");
  return run;
}

}  // namespace rankscope
