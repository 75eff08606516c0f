// A finite space that is searched: points, each a choice of one value for every knob. Not every combination needs to
// exist.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

struct Knob {
  std::string name;
  std::vector<std::string> values;  ///< in their order, if they have one
  bool ordered = true;              ///< false: names without an order
};

class Space {
 public:
  explicit Space(std::vector<Knob> knobs) : knobs_(std::move(knobs)) {}

  /// `values`: of each knob the index of its value. Throws std::invalid_argument if one is invalid.
  void add(std::span<const int> values);

  std::size_t size() const { return knobs_.empty() ? 0 : values_.size() / knobs_.size(); }
  const std::vector<Knob>& knobs() const { return knobs_; }
  std::span<const int> at(std::size_t point) const { return {values_.data() + point * knobs_.size(), knobs_.size()}; }
  /// How many knobs differ between two points.
  int distance(std::size_t a, std::size_t b) const;

 private:
  std::vector<Knob> knobs_;
  std::vector<int> values_;  ///< [point][knob]
};

}  // namespace rankscope
