// Scaling: the measurements of a sweep over keys of a scenario, and the comparison of its points.
//
// A Sweep is raw data: the requested points and, run by run, the measured times. A ScalingTable is computed from
// it only by scaling_table(), for the terminal, for --json, for `rankscope-trace stats` and for the window.
//
// Terms. n is a point's number of ranks, T its step time, index 1 the baseline: the first measured point.
// *Strong* scaling: the global batch is constant. *Weak*: it grows with the ranks. The speed-up S is that of tokens per
// second, Rn/R1, and the efficiency S/(n/n1). So strong scaling has S = T1/Tn and efficiency n1·T1/(n·Tn) (Amdahl
// 1967), and weak scaling S = (n/n1)·T1/Tn and efficiency T1/Tn (Gustafson 1988).
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/explain/analyse/report.hpp"
#include "engine/op/not_known.hpp"
#include "engine/plan/scenario/axes.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

enum class Scaling : std::uint8_t { strong, weak };
std::string_view name_of(Scaling scaling);

/// One combination of the axes' values.
struct SweepPoint {
  std::vector<Override> keys;  ///< in the order of the axes
  std::int32_t ranks = 0;
  std::int32_t global_batch = 0;     ///< samples per step
  std::int64_t tokens_per_step = 0;  ///< over all ranks
  std::string stages;                ///< layers of each chunk, the result of plan.stages = "measured"; else empty
  std::string refused;               ///< why it cannot run, one line; empty: it can
  /// "plan.data=2 plan.micro_batches=4"
  std::string words() const;
};

/// One run of one point. Unknown values are NaN.
struct SweepRun {
  std::int32_t point = 0;   ///< index into Sweep::points
  std::int32_t repeat = 0;  ///< from 0
  std::string failure;      ///< why it failed, one line; empty: it succeeded, and the rest is known
  Obtained obtained = Obtained::measured;
  ClockDomain clock = ClockDomain::wall;
  std::vector<double> step_seconds;       ///< of the steady steps, in their order
  std::vector<double> wall_step_seconds;  ///< the same by wall clock, if `clock` is the device's and ranks had cores
  double predicted_step_seconds = not_known;  ///< before the first step ran
  double bubble = not_known;                  ///< share of time × ranks
  double predicted_bubble = not_known;
  double exposed = not_known;  ///< share of communication without overlapping compute
  double predicted_exposed = not_known;
  double mfu = not_known, hfu = not_known;
  std::int64_t peak_bytes = -1;  ///< of the rank that holds most; -1: unknown
};
/// The values in the report of a point's run.
SweepRun sweep_run(const Report& report, std::int32_t point, std::int32_t repeat);

struct Sweep {
  std::string title, file;    ///< the scenario's
  std::string scenario_toml;  ///< complete, of the first point that can run
  std::string host, started_utc;
  Scaling scaling = Scaling::strong;
  std::vector<Axis> axes;
  std::int32_t steps = 0, repeats = 1;
  std::string communicator, device;
  ClockDomain clock = ClockDomain::wall;  ///< of all points, so that they can be compared
  std::int32_t threads = 1;               ///< of a rank
  std::int32_t cores = 0;                 ///< of the host; 0: unknown
  std::vector<SweepPoint> points;         ///< combinations(axes)
  std::vector<SweepRun> runs;             ///< in the order in which they ran
};

/// One side of a row: as it ran, or as it was predicted.
struct ScalingFigures {
  double step_seconds = not_known;
  double tokens_per_s = not_known;
  double speedup = not_known;  ///< relative to the same side of the baseline
  double efficiency = not_known;
  double bubble = not_known;
  double exposed = not_known;
};

struct ScalingRow {
  std::int32_t point = 0;
  Obtained obtained = Obtained::measured;
  ClockDomain clock = ClockDomain::wall;
  std::int32_t runs = 0;   ///< successful ones; 0: there are no figures
  std::int32_t steps = 0;  ///< steady steps of all runs, for the median and the quartiles
  ScalingFigures run, predicted;
  double first_quartile = not_known;  ///< of the step's seconds
  double third_quartile = not_known;
  std::vector<double> run_seconds;  ///< each run's own median
  double tokens_per_s_per_rank = not_known;
  double mfu = not_known, hfu = not_known;
  double wall_step_seconds = not_known;  ///< median of SweepRun's
  std::int64_t peak_bytes = -1;
  std::string reason;  ///< why it, or one of its runs, was not measured; empty: no problem
  /// (third − first quartile)/median.
  double spread() const { return (third_quartile - first_quartile) / run.step_seconds; }
};

struct ScalingTable {
  std::vector<ScalingRow> rows;  ///< [point]
  std::int32_t baseline = -1;    ///< a row; -1: nothing was measured
  std::string baseline_words;    ///< which one, and the reason
  std::string formula;           ///< definition of speed-up and efficiency here; or why there are none
  bool comparable = true;        ///< false: the points do not train the same model, so no speed-up is stated
  bool complete() const;         ///< every point was measured, every time
};
ScalingTable scaling_table(const Sweep& sweep);

/// Samples per step of a point under weak scaling, `batch` × ranks / first_ranks; -1 if that is no integer.
std::int64_t weak_batch(std::int64_t batch, std::int64_t ranks, std::int64_t first_ranks);

/// The value at `quarter` quarters (0 … 4) of the sorted values, the lower one if that is between two: 2 is the median.
/// NaN without values.
double quartile(std::vector<double> values, int quarter);

/// The object that `sweep --json` prints: the sweep's own keys and, for each point, all values of the table.
nlohmann::json to_json(const Sweep& sweep, const ScalingTable& table);
/// The table for a terminal, with explanations below it.
std::string to_text(const Sweep& sweep, const ScalingTable& table);

/// As recorded: the sweep without its runs, and one run. Reading throws std::invalid_argument that names the error.
nlohmann::json recorded(const Sweep& sweep);
nlohmann::json recorded(const SweepRun& run);
Sweep sweep_from(const nlohmann::json& record);
SweepRun sweep_run_from(const nlohmann::json& record);

}  // namespace rankscope
