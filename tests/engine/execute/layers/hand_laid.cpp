#include "tests/engine/execute/layers/hand_laid.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "engine/execute/layers/initialise.hpp"
#include "kernels/tensor/random.hpp"

namespace rankscope::test {

HandLaid::HandLaid(Model model, const kernels::KernelSet& kernels, std::uint64_t seed, bool separate_gradients,
                   int tensor)
    : model_(std::move(model)), separate_gradients_(separate_gradients) {
  for (const ParameterSpec& spec : model_.parameters) {
    parameters_.push_back(reserve(spec.shape, model_.type));
    gradients_.push_back(reserve(spec.shape, accumulation_type(model_.type)));
    initialise(parameters_.back(), spec, seed, 0, tensor);
  }
  for (const SegmentSpec& segment : model_.segments)
    for (const auto* specs : {&segment.inputs, &segment.outputs})
      for (const TensorSpec& spec : *specs)
        if (const Key key = key_of(segment, spec.name); !activations_.count(key))
          activations_[key] = reserve(spec.shape, spec.type);
  bind(kernels);
  if (separate_gradients) bind_split(kernels);
  workspace_.reserve();
}

View HandLaid::reserve(const Shape& shape, DType type) {
  constexpr std::align_val_t alignment{64};
  const auto bytes = static_cast<std::size_t>(shape.elements() * bytes_of(type));
  memory_.emplace_back(static_cast<std::byte*>(::operator new[](bytes, alignment)),
                       [](std::byte* data) { ::operator delete[](data, alignment); });
  // NaN in every type, so that reads of unwritten memory are detected.
  std::memset(memory_.back().get(), 0xFF, bytes);
  return {memory_.back().get(), type, shape};
}

HandLaid::Key HandLaid::key_of(const SegmentSpec& segment, TensorName name) const {
  const int block = segment.block < 0 && !is_before_blocks(segment.kind) ? model_.spec.layers : segment.block;
  if (name == TensorName::residual) return {block - 1, TensorName::output};
  return {block, name};
}

View HandLaid::activation(const SegmentSpec& segment, TensorName name) const {
  return activations_.at(key_of(segment, name));
}

View HandLaid::activation_gradient(const SegmentSpec& segment, TensorName name) const {
  return activation_gradients_.at(key_of(segment, name));
}

void HandLaid::bind(const kernels::KernelSet& kernels) {
  std::map<Key, View> shared;
  const auto gradient_of = [&](const SegmentSpec& segment, TensorName name) {
    const Key key = key_of(segment, name);
    if (const auto found = activation_gradients_.find(key); found != activation_gradients_.end()) return found->second;
    const View tensor = activations_.at(key);
    View view;
    if (separate_gradients_) {
      view = reserve(tensor.shape, tensor.type);
    } else {
      // A block's stream gradient is still alive while the block before it writes its own, so two buffers alternate.
      View& place = shared[{key.first & 1, key.second}];
      if (place.data == nullptr) place = reserve(tensor.shape, tensor.type);
      view = place;
    }
    activation_gradients_[key] = view;
    return view;
  };

  std::vector<bool> written(model_.parameters.size());
  for (const SegmentSpec& segment : model_.segments) {
    std::vector<View> operands;
    for (const TensorSpec& spec : segment.inputs) operands.push_back(activation(segment, spec.name));
    for (int p : segment.parameters) operands.push_back(parameter(p));
    for (const TensorSpec& spec : segment.outputs) operands.push_back(activation(segment, spec.name));
    forward_.push_back(bind_forward(model_, segment, operands, kernels, workspace_));
  }
  for (auto segment = model_.segments.rbegin(); segment != model_.segments.rend(); ++segment) {
    if (!segment->has_backward()) {
      backward_writing_.emplace_back([](const LaunchContext&) {});
      backward_adding_.emplace_back([](const LaunchContext&) {});
      continue;
    }
    std::vector<View> operands;
    for (TensorName name : segment->gradient_inputs) operands.push_back(gradient_of(*segment, name));
    for (TensorName name : segment->kept) operands.push_back(activation(*segment, name));
    for (int p : segment->read_backward()) operands.push_back(parameter(p));
    for (TensorName name : segment->gradient_outputs) operands.push_back(gradient_of(*segment, name));
    for (int p : segment->parameters) operands.push_back(gradient(p));
    std::vector<IntoGradient> into;
    for (int p : segment->parameters) {
      into.push_back(written[static_cast<std::size_t>(p)] ? IntoGradient::add : IntoGradient::write);
      written[static_cast<std::size_t>(p)] = true;
    }
    backward_writing_.push_back(bind_backward(model_, *segment, operands, into, kernels, workspace_));
    into.assign(into.size(), IntoGradient::add);
    backward_adding_.push_back(bind_backward(model_, *segment, operands, into, kernels, workspace_));
  }
}

void HandLaid::bind_split(const kernels::KernelSet& kernels) {
  const auto gradient_of = [&](const SegmentSpec& segment, TensorName name) {
    View& view = activation_gradients_[key_of(segment, name)];
    const View tensor = activation(segment, name);
    if (view.data == nullptr) view = reserve(tensor.shape, tensor.type);
    return view;
  };
  std::vector<bool> written(model_.parameters.size());
  const auto bind_half = [&](const SegmentSpec& segment, const std::vector<int>& positions, std::vector<View> operands,
                             decltype(bind_input_gradient)* make) {
    std::vector<IntoGradient> into;
    for (const int position : positions) {
      const int p = segment.parameters[static_cast<std::size_t>(position)];
      operands.push_back(gradient(p));
      into.push_back(written[static_cast<std::size_t>(p)] ? IntoGradient::add : IntoGradient::write);
      written[static_cast<std::size_t>(p)] = true;
    }
    split_writing_.push_back(make(model_, segment, operands, into, kernels, workspace_));
    into.assign(into.size(), IntoGradient::add);
    split_adding_.push_back(make(model_, segment, operands, into, kernels, workspace_));
  };
  for (auto segment = model_.segments.rbegin(); segment != model_.segments.rend(); ++segment) {
    if (!segment->has_input_gradient()) continue;
    std::vector<View> operands;
    for (TensorName name : segment->gradient_inputs) operands.push_back(gradient_of(*segment, name));
    for (TensorName name : segment->input_kept) operands.push_back(activation(*segment, name));
    for (int p : segment->read_backward()) operands.push_back(parameter(p));
    for (TensorName name : segment->gradient_outputs) operands.push_back(gradient_of(*segment, name));
    bind_half(*segment, segment->input_parameters, operands, bind_input_gradient);
  }
  for (auto segment = model_.segments.rbegin(); segment != model_.segments.rend(); ++segment) {
    if (!segment->has_weight_gradient()) continue;
    std::vector<View> operands;
    for (TensorName name : segment->weight_gradient_inputs) operands.push_back(gradient_of(*segment, name));
    for (TensorName name : segment->weight_kept) operands.push_back(activation(*segment, name));
    bind_half(*segment, segment->weight_parameters, operands, bind_weight_gradient);
  }
}

void HandLaid::set_batch(std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets) {
  const View into_tokens = activation(model_.segments.front(), model_.segments.front().inputs.front().name);
  const View into_targets = activation(model_.segments.back(), TensorName::targets);
  std::copy(tokens.begin(), tokens.end(), into_tokens.as<std::int32_t>());
  std::copy(targets.begin(), targets.end(), into_targets.as<std::int32_t>());
}

void HandLaid::forward(const LaunchContext& context, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) forward_[i](context);
}

double HandLaid::forward(const LaunchContext& context) {
  forward(context, 0, forward_.size());
  return *activation(model_.segments.back(), TensorName::loss).as<double>();
}

void HandLaid::backward(const LaunchContext& context, bool add) {
  for (const Launch& launch : add ? backward_adding_ : backward_writing_) launch(context);
}

void HandLaid::split_backward(const LaunchContext& context, bool add) {
  for (const Launch& launch : add ? split_adding_ : split_writing_) launch(context);
}

void HandLaid::backward_of(std::size_t segment, const LaunchContext& context, bool add) {
  (add ? backward_adding_ : backward_writing_)[model_.segments.size() - 1 - segment](context);
}

Batch random_batch(std::int64_t tokens, int vocabulary, std::uint64_t seed) {
  Batch batch;
  for (std::int64_t i = 0; i < tokens; ++i) {
    const auto draw = [&](std::uint64_t stream) {
      return static_cast<std::int32_t>(uniform(seed, stream, static_cast<std::uint64_t>(i)) * vocabulary);
    };
    batch.tokens.push_back(draw(1));
    batch.targets.push_back(draw(2));
  }
  return batch;
}

}  // namespace rankscope::test
