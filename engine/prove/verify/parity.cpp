#include "engine/prove/verify/parity.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/tensor/element.hpp"

namespace rankscope::parity {
namespace {

constexpr double least_digits = 10;  // an update must be this many times its rounding error

double distance(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

/// For gradients: if both overflowed, and so both skip the step, no value can differ.
double distance_where_known(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::isfinite(a[i]) || std::isfinite(b[i])) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double norm_where_known(const Values& a) {
  double sum = 0;
  for (const double x : a)
    if (std::isfinite(x)) sum += x * x;
  return std::sqrt(sum);
}

/// For parameters as stored: 16-bit ones have fp32 masters, but are compared in the type used for compute.
double unit_roundoff(DType type) { return std::ldexp(1.0, -digits_of(type)); }

void add_history(BufferHistories& history, const RankProgram& program, BufferIndex b) {
  const Buffer& buffer = program.buffers[b];
  const bool is_rounded = buffer.memory == MemoryClass::parameters && accumulation_type(buffer.type) != buffer.type;
  history[b] = {buffer.parameter, is_rounded, buffer.first, {}};
}

}  // namespace

Values values_of(View view) {
  Values values(static_cast<std::size_t>(view.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(view, static_cast<std::int64_t>(i));
  return values;
}

double norm(const Values& a) {
  double sum = 0;
  for (const double x : a) sum += x * x;
  return std::sqrt(sum);
}

std::string block_of(const std::string& parameter) {
  for (const std::string_view blocks : {"h.", "block."})
    if (parameter.starts_with(blocks)) return parameter.substr(0, parameter.find('.', blocks.size()) + 1);
  return parameter;
}

BufferHistories compared_parameters(const StepProgram& step, const RankProgram& program) {
  BufferHistories history;
  if (!step.updates(program.rank) && step.grid.servers == 0) return history;
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (holds_weights(buffer)) add_history(history, program, b);
  }
  return history;
}

BufferHistories compared_gradients(const RankProgram& program) {
  BufferHistories history;
  for (const Op& op : program.ops)
    if (op.id.kind() == OpKind::optimizer && op.id.fields().segment == Segment::update)
      for (const BufferUse& use : op.uses)
        if (program.buffers[use.buffer].role == BufferRole::gradient) add_history(history, program, use.buffer);
  return history;
}

void record_values(BufferHistories& into, const RankRun& run) {
  for (auto& [buffer, history] : into) history.at.push_back(values_of(run.read(buffer).view()));
}

void Losses::step_done(const StepSummary& summary, const StepTrace&) {
  const std::lock_guard lock(mutex_);
  summaries_.push_back(summary);
  if (summary.tokens == 0) return;
  sum_[summary.step] += summary.loss * static_cast<double>(summary.tokens);
  tokens_[summary.step] += summary.tokens;
}

Share::Share(const ParameterSpec& spec, const ValueHistory& history, int tensor)
    : whole_elements_(spec.whole.elements()),
      elements_(static_cast<std::int64_t>(history.at.front().size())),
      runs_(element_runs(spec, tensor, history.first, elements_)) {}

Values Share::of(const Values& whole) const {
  Values share(static_cast<std::size_t>(elements_));
  for (const ElementRun& run : runs_)
    if (!run.is_padding()) std::copy_n(whole.begin() + run.global, run.count, share.begin() + run.local);
  return share;
}

double Share::root() const {
  std::int64_t elements = 0;
  for (const ElementRun& run : runs_) elements += run.is_padding() ? 0 : run.count;
  return std::sqrt(static_cast<double>(elements) / static_cast<double>(whole_elements_));
}

void GradientNorms::add(const std::string& parameter, const Values& gradient) {
  double& block = block_[block_of(parameter)];
  block = std::hypot(block, own_[parameter] = norm_where_known(gradient));
}

double GradientNorms::of(const std::string& parameter) const {
  const double block = block_.at(block_of(parameter)), own = own_.at(parameter);
  return own > 1e-6 * block ? own : block;
}

double with_other_rounding(double value, DType type, std::uint64_t draw) {
  draw = (draw ^ (draw >> 30)) * 0xbf58476d1ce4e5b9ull;  // SplitMix64's finisher
  draw = (draw ^ (draw >> 27)) * 0x94d049bb133111ebull;
  // At least three quarters of the distance between two numbers: the nearest one is adjacent to `value`.
  const double change = 1.5 * unit_roundoff(type) * value;
  return (draw >> 62) % 2 == 0 ? value + change : value - change;
}

std::uint64_t draw_of(int twin, int parameter, std::int64_t element) {
  return (static_cast<std::uint64_t>(twin - 1) << 56) + (static_cast<std::uint64_t>(parameter) << 40) +
         static_cast<std::uint64_t>(element) + 1;
}

void change_roundings(RankRun& run, const Model& model, int twin) {
  const RankProgram& program = run.program();
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (!holds_weights(buffer) || buffer.within >= 0) continue;
    run.change(b, [&](const View& values) {
      for (std::int64_t i = 0; i < values.elements(); ++i)
        set_element(values, i,
                    with_other_rounding(element(values, i), model.type,
                                        draw_of(twin, buffer.parameter, buffer.first + i)));
    });
  }
}

ParityErrors worst_of(const ParityErrors& a, const ParityErrors& b) {
  const auto worse = [](double x, double y) { return is_worse(x, y) ? x : y; };
  ParityErrors worst = a;
  worst.losses = worse(a.losses, b.losses);
  worst.gradients = worse(a.gradients, b.gradients);
  for (std::size_t s = 0; s < worst.steps.size(); ++s) {
    worst.steps[s].loss = worse(a.steps[s].loss, b.steps[s].loss);
    worst.steps[s].gradient = worse(a.steps[s].gradient, b.steps[s].gradient);
  }
  worst.first_update.worst = worse(a.first_update.worst, b.first_update.worst);
  worst.parameters.worst = worse(a.parameters.worst, b.parameters.worst);
  return worst;
}

void Judge::loss(std::uint32_t step, double actual, double expected) {
  const double error = actual == expected ? 0 : std::abs(actual - expected) / std::abs(expected);
  if (is_worse(error, errors_.steps[step].loss)) errors_.steps[step].loss = error;
  if (is_worse(error, errors_.losses)) errors_.losses = error;
}

void Judge::gradient(std::uint32_t step, const Values& actual, const Values& expected, double measure,
                     const std::string& where) {
  const double off = distance_where_known(actual, expected), error = off == 0 ? 0 : off / measure;
  StepErrors& of_step = errors_.steps[step];
  if (is_worse(error, of_step.gradient)) {
    of_step.gradient = error;
    of_step.where = where;
  }
  if (!is_worse(error, errors_.gradients)) return;
  errors_.gradients = error;
  errors_.worst_gradient = where;
}

void Judge::parameter(const ValueHistory& history, const Share& share, const Values& before, const Values& after,
                      const std::string& where) {
  update(errors_.parameters, history, history.at.back(), steps, share, before, after, where);
}

void Judge::first_update(const ValueHistory& history, const Share& share, const Values& before, const Values& after,
                         const std::string& where) {
  update(errors_.first_update, history, history.at[1], 1, share, before, after, where);
}

void Judge::update(UpdateErrors& errors, const ValueHistory& history, const Values& values, std::uint32_t updates,
                   const Share& share, const Values& before, const Values& after, const std::string& where) const {
  const Values expected = share.of(after);
  const DType type = history.is_rounded ? model_.type : accumulation_type(model_.type);
  const double moved = share.root() * distance(after, before);
  const double rounding = share.root() * updates * unit_roundoff(type) * norm(after);
  const bool equal = values == expected;
  double off = equal ? 0 : distance(values, expected);
  if (off <= rounding) off = 0;  // a NaN is not <= anything
  const double error = off == 0 ? 0 : (off - rounding) / moved;
  // If a copy is rounded too coarsely to prove anything, its master is compared.
  if (!history.is_rounded && moved < least_digits * rounding && !(equal && moved > 0)) {
    ++errors.unmoved;
    errors.unmoved_one = where;
  }
  ++errors.tensors;
  errors.bit_equal += equal;
  if (!is_worse(error, errors.worst)) return;
  errors.worst = error;
  errors.where = where;
}

}  // namespace rankscope::parity
