#include "engine/plan/model/make_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cassert>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/model/bytes.hpp"

namespace rankscope {
namespace {

/// Writes the initial values of a parameter with those extents into its specification.
void set_start(ParameterSpec& p, Start start, int layers) {
  constexpr double gpt2 = 0.02;
  const auto extent = [&](int axis) { return static_cast<double>(p.whole[axis]); };
  p.std_dev = 0;
  switch (start) {
    case Start::zeros: p.init = Init::zeros; return;
    case Start::ones: p.init = Init::ones; return;
    case Start::normal: p.std_dev = gpt2; return;
    case Start::residual_normal: p.std_dev = gpt2 / std::sqrt(2.0 * layers); return;
    case Start::fan_out: p.std_dev = std::sqrt(2 / (extent(1) * extent(2) * extent(0))); return;
    case Start::fan_in: p.std_dev = 1 / std::sqrt(3.0 * extent(1)); return;
    case Start::inverse_root_of_depth:
      p.value = 1 / std::sqrt(static_cast<double>(layers));
      p.init = p.value == 1 ? Init::ones : Init::constant;
      return;
  }
}

class Maker {
 public:
  Maker(Model& model, const Architecture& architecture, const PartOf& part_of)
      : model_(model), architecture_(architecture), part_of_(part_of) {}

  void make() {
    const int layers = model_.spec.layers;
    parameters_.assign(static_cast<std::size_t>(layers) + 1, Indices(architecture_.parameters.size()));
    add_parameters(Place::before_blocks, -1);
    for (int block = 0; block < layers; ++block) add_parameters(Place::block, block);
    add_parameters(Place::behind_blocks, -1);

    model_.exchanges.assign(architecture_.exchanges.begin(), architecture_.exchanges.end());
    add_segments(Place::before_blocks, -1);
    for (int block = 0; block < layers; ++block) {
      const std::size_t first = model_.segments.size();
      add_segments(Place::block, block);
      mark_repeated(std::span(model_.segments).subspan(first));
    }
    add_segments(Place::behind_blocks, -1);
  }

 private:
  using Indices = std::vector<int>;

  /// Of that block (-1: outside of all), by name.
  int& parameter(int block, Parameter name) { return parameters_[block + 1][static_cast<std::size_t>(name)]; }

  void add_parameters(Place place, int block) {
    const Part part = part_of_(place, block);
    for (const ParameterRow& row : architecture_.parameters) {
      if (row.place != place) continue;
      if (!applies(row.when, model_.spec, part)) {
        parameter(block, row.name) = parameter(block, row.otherwise);
        continue;
      }
      parameter(block, row.name) = static_cast<int>(model_.parameters.size());
      ParameterSpec p;
      if (block >= 0) p.name = fmt::format("{}{}.", architecture_.block_prefix, block);
      p.name.append(row.text);
      p.shape = p.whole = part.sizes.shape(row.whole);
      if (model_.tensor > 1) {
        p.split = row.split;
        p.split.first = part.sizes[row.first_group];
      }
      if (p.split.axis >= 0) {
        std::int64_t& extent = p.shape.extent[static_cast<std::size_t>(p.split.axis)];
        extent = (extent + model_.tensor - 1) / model_.tensor;
      }
      p.decay = p.whole.rank > 1;
      p.global_offset = next_offset_;
      set_start(p, row.start, model_.spec.layers);
      next_offset_ += p.whole.elements();
      model_.parameters.push_back(std::move(p));
    }
  }

  /// By name; tensors that this part does not have are ignored.
  TensorSpecs tensors_of(const Part& part) const {
    TensorSpecs specs{};
    for (const TensorRow& row : architecture_.tensors) {
      const DType type = row.element == Element::computed    ? model_.type
                         : row.element == Element::statistic ? accumulation_type(model_.type)
                         : row.element == Element::i32       ? DType::i32
                                                             : DType::f64;
      specs[static_cast<std::size_t>(row.name)] = {row.name, part.sizes.shape(row.shape), type};
    }
    return specs;
  }

  void add_segments(Place place, int block) {
    const Part part = part_of_(place, block);
    const TensorSpecs tensors = tensors_of(part);
    for (const SegmentRow& row : architecture_.segments)
      if (row.place == place && applies(row.when, model_.spec, part))
        model_.segments.push_back(segment(row, block, part, tensors));
  }

  /// The segment's name for a tensor.
  TensorName exchanged(const SegmentRow& row, TensorName name) const {
    if (row.outputs.has(name)) return name;
    for (const Exchange& exchange : architecture_.exchanges)
      if (exchange.from == name) return exchange.to;
    return name;
  }

  SegmentSpec segment(const SegmentRow& row, int block, const Part& part, const TensorSpecs& tensors) {
    const auto names = [&](const Tensors& list) {
      std::vector<TensorName> result;
      for (const TensorName name : list) result.push_back(exchanged(row, name));
      return result;
    };
    const auto specs = [&](const Tensors& list) {
      std::vector<TensorSpec> result;
      for (const TensorName name : names(list)) result.push_back(tensors[static_cast<std::size_t>(name)]);
      return result;
    };
    const auto positions = [&](const Parameters& list) {
      std::vector<int> result;
      for (const Parameter name : list) result.push_back(row.parameters.find(name));
      return result;
    };
    SegmentSpec s;
    s.kind = row.kind;
    s.layer = row.layer;
    s.block = block;
    for (const Parameter name : row.parameters) s.parameters.push_back(parameter(block, name));
    s.inputs = specs(row.inputs);
    s.outputs = specs(row.outputs);
    s.changed = names(row.changed);
    s.gradient_inputs = names(row.gradient_inputs);
    s.kept = names(row.kept);
    s.gradient_outputs = names(row.gradient_outputs);
    s.added_gradients = names(row.added_gradients);
    s.input_kept = names(row.input.kept);
    s.input_parameters = positions(row.input.parameters);
    s.weight_gradient_inputs = names(row.weight.gradients);
    s.weight_kept = names(row.weight.kept);
    s.weight_parameters = positions(row.weight.parameters);
    s.backward_reads_parameters = row.backward_reads_parameters;
    s.dropout_site = row.dropout_site;
    for (const WorkRow& work : row.work)
      s.work.push_back({work.what, part.sizes[work.in], part.sizes[work.out], work.tensor,
                        static_cast<std::size_t>(std::max(0, row.parameters.find(work.weight))), work.bias});
    const Flops flops = flops_of(row, architecture_, part.sizes);
    s.forward_flops = flops.forward;
    s.input_gradient_flops = flops.input_gradient;
    s.weight_gradient_flops = flops.weight_gradient;
    if (s.does(Work::attention)) {
      const TensorSpec& qkv = tensors[static_cast<std::size_t>(TensorName::qkv)];
      s.walked_bytes = static_cast<double>(part.sizes[Size::own_heads] * qkv.bytes());
    }
    count_bytes(s, model_.type, tensors, elements_of(s, part.sizes));
    return s;
  }

  /// How many elements of each of its parameters a segment uses: all, but of a token embedding only the rows of the
  /// micro-batch's tokens, at most one per token.
  std::vector<double> elements_of(const SegmentSpec& s, const Sizes& sizes) const {
    std::vector<double> elements;
    for (const int p : s.parameters) elements.push_back(static_cast<double>(model_.parameters[p].shape.elements()));
    if (s.does(Work::lookup))
      elements.front() =
          static_cast<double>(std::min(sizes[Size::all_rows], sizes[Size::own_words]) * sizes[Size::width]);
    return elements;
  }

  /// Of a block: what its backward reads, and the inputs of that.
  void mark_repeated(std::span<SegmentSpec> block) const {
    std::bitset<tensor_name_count> needed;
    const auto need = [&](TensorName name) {
      needed.set(static_cast<std::size_t>(name));
      for (const Exchange& exchange : architecture_.exchanges)
        if (exchange.to == name) needed.set(static_cast<std::size_t>(exchange.from));
    };
    for (const SegmentSpec& segment : block)
      for (const TensorName name : segment.kept) need(name);
    for (auto segment = block.rbegin(); segment != block.rend(); ++segment) {
      segment->repeated = std::any_of(segment->outputs.begin(), segment->outputs.end(), [&](const TensorSpec& output) {
        return needed.test(static_cast<std::size_t>(output.name));
      });
      if (!segment->repeated) continue;
      for (const TensorSpec& input : segment->inputs) need(input.name);
    }
  }

  Model& model_;
  const Architecture& architecture_;
  const PartOf& part_of_;
  std::vector<Indices> parameters_;  ///< into Model::parameters: outside the blocks, then of each block
  std::int64_t next_offset_ = 0;
};

/// Of a product of all rows; padding of the vocabulary does not count.
double product_flops(const WorkRow& work, const Sizes& sizes) {
  const auto extent = [&](Extent e) {
    if (e.size == Size::own_words)
      return static_cast<double>(sizes[Size::words]) / static_cast<double>(sizes[Size::ranks]);
    return static_cast<double>(sizes[e]);
  };
  return 2.0 * static_cast<double>(sizes[Size::all_rows]) * extent(work.in) * extent(work.out);
}

/// Of a convolution: each pixel of its result is a sum over a window of the image.
double convolution_flops(const WorkRow& work, const Architecture& architecture, const Sizes& sizes) {
  const auto tensor = std::find_if(architecture.tensors.begin(), architecture.tensors.end(),
                                   [&](const TensorRow& row) { return row.name == work.tensor; });
  const auto weight = std::find_if(architecture.parameters.begin(), architecture.parameters.end(),
                                   [&](const ParameterRow& row) { return row.name == work.weight; });
  const Shape y = sizes.shape(tensor->shape), w = sizes.shape(weight->whole);
  const double sample = 2.0 * static_cast<double>(y[1] * y[2] * w[1] * w[2] * w[3]) * static_cast<double>(w[0]);
  return static_cast<double>(y[0]) * sample;
}

}  // namespace

bool applies(When when, const ModelSpec& spec, const Part& part) {
  switch (when) {
    case When::always: return true;
    case When::untied: return !spec.tied;
    case When::same_size: return !part.other_size;
    case When::other_size: return part.other_size;
  }
  return false;
}

Flops flops_of(const SegmentRow& row, const Architecture& architecture, const Sizes& sizes) {
  Flops flops;
  // Each half of a product's backward does as much again as its forward.
  const auto add = [&](double product) {
    flops.forward += product;
    if (!row.gradient_outputs.empty()) flops.input_gradient += product;
    flops.weight_gradient += product;
  };
  for (const WorkRow& work : row.work) {
    if (is_product(work.what)) add(product_flops(work, sizes));
    if (work.what == Work::convolution) add(convolution_flops(work, architecture, sizes));
    if (work.what == Work::attention) {
      const double scores = 2.0 * static_cast<double>(sizes[Size::all_rows]) *
                            static_cast<double>(sizes[Size::context]) * static_cast<double>(sizes[Size::share]);
      flops.forward += 2 * scores;
      flops.input_gradient += 4 * scores;
    }
  }
  return flops;
}

void make_rows(Model& model, const Architecture& architecture, const PartOf& part_of) {
  Maker(model, architecture, part_of).make();
}

}  // namespace rankscope
