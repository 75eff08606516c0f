// Common parts of verify's comparisons: tensors copied out of a rank's memory, and the distance between two trainings.
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
/// A NaN anywhere is the worst possible difference, and remains it.
inline bool is_worse(double error, double than) { return std::isnan(error) || error > than; }
/// "h.3." of "h.3.attn.c_attn.bias"; the complete name outside the blocks.
std::string block_of(const std::string& parameter);

/// The values of one parameter on one rank, or of its gradient, at several times.
struct ValueHistory {
  int parameter = 0;
  bool is_rounded = false;  ///< a 16-bit copy of a master
  std::int64_t first = 0;   ///< Buffer::first
  std::vector<Values> at;   ///< parameters: before the first step, after it, after the last; gradients: by step
};
using BufferHistories = std::map<BufferIndex, ValueHistory>;

/// The parameters to compare: those that the rank uses or keeps, if they are up to date at the end of a step (a main
/// device's replicas still have the previous ones).
BufferHistories compared_parameters(const StepProgram& step, const RankProgram& program);
/// The gradients that the rank's optimizer reads.
BufferHistories compared_gradients(const RankProgram& program);
void record_values(BufferHistories& into, const RankRun& run);

/// `value` changed by one rounding of `type`, up or down by `draw`; 0 stays.
double with_other_rounding(double value, DType type, std::uint64_t draw);
/// Creates the twin of that number, from 1 on: each weight of the rank is changed by one rounding of the type that the
/// model computes in, its master by the same amount. Each twin has other directions.
void change_roundings(RankRun& run, const Model& model, int twin);
/// Determines the direction for one element of a parameter.
std::uint64_t draw_of(int twin, int parameter, std::int64_t element);

/// What all ranks report: their summaries, and by step the sums of their losses.
class Losses : public RankObserver {
 public:
  void step_done(const StepSummary& summary, const StepTrace&) override;
  double mean(std::uint32_t step) const { return sum_[step] / static_cast<double>(tokens_[step]); }
  /// In no order of ranks.
  const std::vector<StepSummary>& summaries() const { return summaries_; }

 private:
  std::mutex mutex_;
  std::vector<double> sum_ = std::vector<double>(steps, 0.0);
  std::vector<std::int64_t> tokens_ = std::vector<std::int64_t>(steps, 0);
  std::vector<StepSummary> summaries_;
};

/// The part of a complete parameter that a rank with that coordinate in its tensor group holds as `held`.
class Share {
 public:
  Share(const ParameterSpec& spec, const ValueHistory& history, int tensor);
  /// Of the complete parameter's values, or its gradient's.
  Values of(const Values& whole) const;
  /// The root of the share of its elements: the factor from a norm of the whole to the expected norm of the part.
  double root() const;

 private:
  std::int64_t whole_elements_, elements_;
  std::vector<ElementRun> runs_;
};

/// The norms of complete gradients of one step, and of their blocks.
class GradientNorms {
 public:
  void add(const std::string& parameter, const Values& gradient);
  /// The norm to which a difference in that parameter's gradient is related.
  double of(const std::string& parameter) const;

 private:
  std::map<std::string, double> own_, block_;
};

/// The larger of both errors in each field.
ParityErrors worst_of(const ParityErrors& a, const ParityErrors& b);

/// Collects the largest errors of all comparisons.
class Judge {
 public:
  explicit Judge(const Model& model) : model_(model) { errors_.steps.resize(steps); }
  void loss(std::uint32_t step, double actual, double expected);
  /// `measure`: GradientNorms::of the parameter.
  void gradient(std::uint32_t step, const Values& actual, const Values& expected, double measure,
                const std::string& where);
  /// After the last step. `before` and `after` are of the complete parameter. Allowed is the rounding of one update
  /// per step: an asynchronous server makes more of them, but its replay makes the same ones.
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
