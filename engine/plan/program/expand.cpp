#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <tuple>

#include "engine/op/contains.hpp"
#include "engine/plan/program/bucket.hpp"
#include "engine/plan/program/passes.hpp"

namespace rankscope {
namespace {

/// Partial sums and exchanged statistics: they are freed before the backward.
bool is_exchanged_only(const Model& model, TensorName name) {
  return std::any_of(model.exchanges.begin(), model.exchanges.end(), [&](const Exchange& e) {
    return e.from == name && e.forward && (*e.forward != OpKind::all_gather || e.purpose == Purpose::loss);
  });
}

class Expander {
 public:
  Expander(const StepProgram& step, int rank) : step_(step), stage_(step.grid.coordinates_of(rank).pipeline) {
    program_.rank = rank;
  }

  RankProgram expand() {
    add_parameters();
    add_gradients();
    for (const OpId action : step_.schedule.order[stage_]) {
      const OpFields f = action.fields();
      if (f.kind == OpKind::forward)
        forward(f.chunk, f.micro_batch);
      else if (f.kind == OpKind::backward || f.kind == OpKind::input_gradient)
        backward(f.chunk, f.micro_batch, f.kind);
      else if (f.kind == OpKind::weight_gradient)
        weight_gradient(f.chunk, f.micro_batch);
      else
        throw PlanError(
            fmt::format("the schedule '{}' holds {}; a schedule consists of forwards (F), backwards (B), input "
                        "gradients (I) and weight gradients (W)",
                        word_of(step_.schedule.kind), to_token(action)));
    }
    return std::move(program_);
  }

 private:
  // A tensor's identity on this rank: micro-batch, index of the segment that has it as input or output by that name.
  // Blocks share one place (their first segment's index), so that a name is one tensor within a block.
  using Key = std::tuple<int, int, TensorName>;

  int place_of(int segment) const {
    const SegmentSpec& s = step_.model.segments[segment];
    if (s.block >= 0) return s.block;
    return segment < step_.model.segments_before_blocks() ? -1 : step_.model.spec.layers;
  }
  /// The first segment of this segment's block; outside the blocks the segment itself.
  int first_of_place(int segment) const {
    while (segment > 0 && step_.model.segments[segment].block >= 0 && place_of(segment - 1) == place_of(segment))
      --segment;
    return segment;
  }
  int begin_of(int chunk) const { return step_.first_segment[chunk]; }
  int end_of(int chunk) const { return step_.first_segment[chunk + 1]; }
  bool is_mine(int chunk) const {
    return chunk >= 0 && chunk < step_.schedule.shape.chunks() && step_.schedule.stage_of_chunk[chunk] == stage_;
  }

  std::vector<int> my_segments() const {
    std::vector<int> segments;
    for (int chunk = 0; chunk < step_.schedule.shape.chunks(); ++chunk)
      if (is_mine(chunk))
        for (int s = begin_of(chunk); s < end_of(chunk); ++s) segments.push_back(s);
    return segments;
  }

  void add_persistent(std::map<int, BufferIndex>& into, int parameter, std::string name, BufferRole role,
                      MemoryClass memory, DType type) {
    const ParameterSpec& spec = step_.model.parameters[parameter];
    into.emplace(parameter, program_.add({std::move(name), role, memory, type, spec.shape, true, parameter}));
  }

  void add_parameters() {
    for (const int s : my_segments())
      for (const int p : step_.model.segments[s].parameters)
        if (!parameters_.count(p))
          add_persistent(parameters_, p, step_.model.parameters[p].name, BufferRole::parameter, MemoryClass::parameters,
                         step_.model.type);
  }

  void add_gradients() {
    for (const int p : completion_order(step_, stage_))
      add_persistent(gradients_, p, "gradient:" + step_.model.parameters[p].name, BufferRole::gradient,
                     MemoryClass::gradients, accumulation_type(step_.model.type));
  }

  BufferIndex add_value(int chunk, int micro_batch, int segment, const TensorSpec& tensor, MemoryClass memory,
                        bool gradient) {
    const int place = place_of(segment);
    std::string name = fmt::format("{}{}:m{}:", gradient ? "gradient:c" : "c", chunk, micro_batch);
    if (place >= 0 && place < step_.model.spec.layers) name += fmt::format("b{}", place);
    name.append(".").append(name_of(tensor.name));
    return program_.add({std::move(name), gradient ? BufferRole::activation_gradient : BufferRole::activation, memory,
                         tensor.type, tensor.shape, false, -1, micro_batch});
  }

  const TensorSpec& tensor_of(const SegmentSpec& segment, TensorName name) const {
    const TensorSpec* found = find_tensor(step_.model, segment, name);
    assert(found);
    return *found;
  }

  /// True for a gradient that no op here computes completely: tensor ranks gather it from their parts.
  bool is_exchanged(TensorName gradient) const {
    return std::any_of(step_.model.exchanges.begin(), step_.model.exchanges.end(),
                       [&](const Exchange& e) { return e.from == gradient && e.to != gradient && e.backward; });
  }

  void forward(int chunk, int m) {
    for (int s = begin_of(chunk); s < end_of(chunk); ++s) {
      const SegmentSpec& spec = step_.model.segments[s];
      const int place = place_of(s);
      Op op{OpId::of({OpKind::forward, Purpose::none, chunk, m, spec.block, spec.kind})};
      for (const TensorSpec& input : spec.inputs) {
        auto [found, made] = values_.try_emplace(Key{m, place, input.name}, 0);
        // Inputs that no op here has computed are received: the batch, or the previous chunk's output.
        if (made) found->second = add_value(chunk, m, s, input, MemoryClass::buffers, false);
        op.uses.push_back({found->second, Access::read});
      }
      for (const int p : spec.parameters) op.uses.push_back({parameters_.at(p), Access::read});
      for (const TensorSpec& output : spec.outputs) {
        if (contains(spec.changed, output.name)) {
          op.uses.push_back({values_.at(Key{m, place, output.name}), Access::accumulate});
          continue;
        }
        const bool leaves = output.name == TensorName::output && s + 1 == end_of(chunk) && !is_mine(chunk + 1);
        // A tensor that is sent may also be kept for the backward.
        const bool stays = contains(spec.kept, output.name);
        const bool is_kept = (!leaves || stays) && !is_exchanged_only(step_.model, output.name);
        const BufferIndex b =
            add_value(chunk, m, s, output, is_kept ? MemoryClass::activations : MemoryClass::buffers, false);
        values_[Key{m, place, output.name}] = b;
        if (output.name == TensorName::output && !leaves) values_[Key{m, place_of(s + 1), TensorName::residual}] = b;
        op.uses.push_back({b, Access::write});
      }
      program_.ops.push_back(std::move(op));
    }
  }

  /// The use of a parameter's gradient by the next op in program order.
  BufferUse into_gradient(int parameter) {
    return {gradients_.at(parameter), begun_.insert(parameter).second ? Access::write : Access::accumulate};
  }

  /// The whole backward, or its input gradient half.
  void backward(int chunk, int m, OpKind kind) {
    const bool whole = kind == OpKind::backward;
    if (step_.scenario.plan.updates_each_micro_batch()) begun_.clear();
    for (int s = end_of(chunk) - 1; s >= begin_of(chunk); --s) {
      const SegmentSpec& spec = step_.model.segments[s];
      if (whole ? !spec.has_backward() : !spec.has_input_gradient()) continue;
      const int place = place_of(s);
      Op op{OpId::of({kind, Purpose::none, chunk, m, spec.block, spec.kind})};
      for (const TensorName name : spec.gradient_inputs) {
        auto [found, made] = value_gradients_.try_emplace(Key{m, place, name}, 0);
        if (made) found->second = add_value(chunk, m, s, tensor_of(spec, name), MemoryClass::buffers, true);
        op.uses.push_back({found->second, Access::read});
      }
      for (const TensorName name : whole ? spec.kept : spec.input_kept)
        op.uses.push_back({values_.at(Key{m, place, name}), Access::read});
      for (const int p : spec.read_backward()) op.uses.push_back({parameters_.at(p), Access::read});
      for (const TensorName name : spec.gradient_outputs) {
        if (spec.adds_to_gradient(name)) {
          op.uses.push_back({value_gradients_.at(Key{m, place, name}), Access::accumulate});
          continue;
        }
        const BufferIndex b = add_value(chunk, m, s, tensor_of(spec, name), MemoryClass::buffers, true);
        value_gradients_[Key{m, place, name}] = b;
        const int first = first_of_place(s);
        if (name == TensorName::residual && (first > begin_of(chunk) || is_mine(chunk - 1)))
          value_gradients_[Key{m, place_of(first - 1), TensorName::output}] = b;
        op.uses.push_back({b, Access::write});
      }
      if (whole) {
        for (const int p : spec.parameters) op.uses.push_back(into_gradient(p));
      } else {
        for (const int i : spec.input_parameters) op.uses.push_back(into_gradient(spec.parameters[i]));
      }
      program_.ops.push_back(std::move(op));
    }
  }

  void weight_gradient(int chunk, int m) {
    for (int s = end_of(chunk) - 1; s >= begin_of(chunk); --s) {
      const SegmentSpec& spec = step_.model.segments[s];
      if (!spec.has_weight_gradient()) continue;
      const int place = place_of(s);
      Op op{OpId::of({OpKind::weight_gradient, Purpose::none, chunk, m, spec.block, spec.kind})};
      for (const TensorName name : spec.weight_gradient_inputs) {
        auto found = value_gradients_.find(Key{m, place, name});
        if (found == value_gradients_.end() && is_exchanged(name))
          found = value_gradients_
                      .emplace(Key{m, place, name},
                               add_value(chunk, m, s, tensor_of(spec, name), MemoryClass::buffers, true))
                      .first;
        if (found == value_gradients_.end())
          throw PlanError(fmt::format("the schedule '{}' runs {} before its input gradient",
                                      word_of(step_.schedule.kind), to_token(folded_to_chunk(op.id))));
        program_.buffers[found->second].memory = MemoryClass::activations;
        op.uses.push_back({found->second, Access::read});
      }
      for (const TensorName name : spec.weight_kept) op.uses.push_back({values_.at(Key{m, place, name}), Access::read});
      for (const int i : spec.weight_parameters) op.uses.push_back(into_gradient(spec.parameters[i]));
      program_.ops.push_back(std::move(op));
    }
  }

  const StepProgram& step_;
  int stage_;
  RankProgram program_;
  std::map<int, BufferIndex> parameters_, gradients_;
  std::set<int> begun_;  ///< parameters whose gradient this step, or this micro-batch, has begun to write
  std::map<Key, BufferIndex> values_, value_gradients_;
};

}  // namespace

RankProgram expand(const StepProgram& step, int rank) { return Expander(step, rank).expand(); }

}  // namespace rankscope
