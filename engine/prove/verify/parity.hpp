// What verify's comparisons have in common: tensors copied out of a rank's memory, and how far two trainings are apart.
// For this folder's own files.
#pragma once
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/execute/run/observer.hpp"
#include "engine/execute/run/rank_run.hpp"
#include "engine/plan/model/part.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/prove/verify/verify.hpp"

namespace rankscope::parity {

inline constexpr std::uint32_t steps = 5;

using Values = std::vector<double>;
Values values_of(View view);
double norm(const Values& a);
/// A NaN anywhere is the worst difference that there is, and remains it.
inline bool is_worse(double error, double than) { return std::isnan(error) || error > than; }
/// "h.3." of "h.3.attn.c_attn.bias"; the whole name outside the blocks.
std::string block_of(const std::string& parameter);

/// The values of one parameter on one rank, or of its gradient, at several times.
struct ValueHistory {
  int parameter = 0;
  bool is_rounded = false;  ///< a 16-bit copy of a master
  std::int64_t first = 0;   ///< Buffer::first
  std::vector<Values> at;   ///< parameters: before the first step, after it, after the last; gradients: by step
};
using BufferHistories = std::map<BufferIndex, ValueHistory>;

/// The parameters to compare: those that the rank uses or keeps, if they are up to date when a step is over (a main
/// device's replicas still have the ones before).
BufferHistories compared_parameters(const StepProgram& step, const RankProgram& program);
/// The gradients that the rank's optimizer reads.
BufferHistories compared_gradients(const RankProgram& program);
void record_values(BufferHistories& into, const RankRun& run);

/// `value` changed by one rounding of `type`, up or down as `draw` says; 0 stays.
double with_other_rounding(double value, DType type, std::uint64_t draw);
/// What makes the twin of that number, from 1 on: each weight of the rank changed by one rounding of the type that the
/// model computes in, its master by as much. Each twin has other directions.
void change_roundings(RankRun& run, const Model& model, int twin);
/// What decides the direction for one element of a parameter.
std::uint64_t draw_of(int twin, int parameter, std::int64_t element);

/// Sums, by step, of the losses that all ranks report.
class Losses : public RankObserver {
 public:
  void step_done(const StepSummary& summary, const StepTrace&) override;
  double mean(std::uint32_t step) const { return sum_[step] / static_cast<double>(tokens_[step]); }

 private:
  std::mutex mutex_;
  std::vector<double> sum_ = std::vector<double>(steps, 0.0);
  std::vector<std::int64_t> tokens_ = std::vector<std::int64_t>(steps, 0);
};

/// The part of a whole parameter that a rank with that coordinate in its tensor group holds as `held`.
class Share {
 public:
  Share(const ParameterSpec& spec, const ValueHistory& history, int tensor);
  /// Of the whole parameter's values, or its gradient's.
  Values of(const Values& whole) const;
  /// The root of the share of its elements: what a norm of the whole is scaled by to be the norm to expect of the part.
  double root() const;

 private:
  std::int64_t whole_elements_, elements_;
  std::vector<ElementRun> runs_;
};

/// The norms of whole gradients of one step, and of their blocks.
class GradientNorms {
 public:
  void add(const std::string& parameter, const Values& gradient);
  /// What a difference in that parameter's gradient is measured by.
  double of(const std::string& parameter) const;

 private:
  std::map<std::string, double> own_, block_;
};

/// The larger error of both in each place.
ParityErrors worst_of(const ParityErrors& a, const ParityErrors& b);

/// Collects the largest errors of all comparisons.
class Judge {
 public:
  explicit Judge(const Model& model) : model_(model) { errors_.steps.resize(steps); }
  void loss(std::uint32_t step, double actual, double expected);
  /// `measure`: GradientNorms::of the parameter.
  void gradient(std::uint32_t step, const Values& actual, const Values& expected, double measure,
                const std::string& where);
  /// After the last step. `before` and `after` are of the whole parameter. What rounding may hide is that of one update
  /// a step: an asynchronous server makes more of them, but its replay makes the same ones.
  void parameter(const ValueHistory& history, const Share& share, const Values& before, const Values& after,
                 const std::string& where);
  /// The same after the first step.
  void first_update(const ValueHistory& history, const Share& share, const Values& before, const Values& after,
                    const std::string& where);
  const ParityErrors& errors() const { return errors_; }

 private:
  void update(UpdateErrors& errors, const ValueHistory& history, const Values& values, std::uint32_t updates,
              const Share& share, const Values& before, const Values& after, const std::string& where) const;

  const Model& model_;
  ParityErrors errors_;
};

}  // namespace rankscope::parity
