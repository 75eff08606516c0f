// A model's parameters while they are listed. Internal to the room.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "engine/model/model.hpp"

namespace rankscope {

/// The parameter table while it grows: offsets run on.
class ParameterTable {
 public:
  /// `tensor`: ranks that share what is split.
  explicit ParameterTable(int tensor) : tensor_(tensor) {}
  int add(std::string name, Shape whole, Init init, double std_dev = 0, TensorSplit split = {}) {
    const bool matrix = whole.rank > 1;
    Shape shape = whole;
    if (tensor_ == 1) split = {};
    if (split.axis >= 0) {
      std::int64_t& extent = shape.extent[static_cast<std::size_t>(split.axis)];
      extent = (extent + tensor_ - 1) / tensor_;
    }
    parameters_.push_back({std::move(name), shape, whole, split, init, std_dev, matrix, next_offset_, 1});
    next_offset_ += whole.elements();
    return static_cast<int>(parameters_.size()) - 1;
  }
  /// A norm's weight, which begins with that value, and bias; returns the weight's index.
  int add_norm(const std::string& name, std::int64_t width, double value = 1) {
    const int weight = add(name + ".weight", {width}, value == 1 ? Init::ones : Init::constant);
    parameters_.back().value = value;
    add(name + ".bias", {width}, Init::zeros);
    return weight;
  }
  /// A product's matrix [out, in] and bias [out], which is split if rows are; returns the matrix's index.
  int add_product(const std::string& name, std::int64_t out, std::int64_t in, double std_dev, TensorSplit split) {
    const int weight = add(name + ".weight", {out, in}, Init::normal, std_dev, split);
    add(name + ".bias", {out}, Init::zeros, 0, split.axis == 0 ? split : TensorSplit{});
    return weight;
  }
  std::vector<ParameterSpec>& parameters() { return parameters_; }

 private:
  int tensor_;
  std::vector<ParameterSpec> parameters_;
  std::int64_t next_offset_ = 0;
};

}  // namespace rankscope
