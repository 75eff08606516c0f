#include "tests/engine/verify/matrix/covering_array.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

namespace rankscope::testing {
namespace {

constexpr int tries_for_a_pair = 400, candidates_per_row = 12;

using Pair = std::tuple<int, int, int, int>;  ///< option, value, later option, value

class Builder {
 public:
  Builder(const std::vector<int>& values, const std::function<bool(const Row&)>& is_valid, std::uint64_t seed)
      : values_(values), is_valid_(is_valid), random_(seed) {
    for (int a = 0; a < options(); ++a)
      for (int b = a + 1; b < options(); ++b)
        for (int x = 0; x < values_[index(a)]; ++x)
          for (int y = 0; y < values_[index(b)]; ++y) open_.insert({a, x, b, y});
  }

  CoveringArray build(std::size_t least_rows) {
    while (!open_.empty()) {
      const Pair pair = *open_.begin();
      std::optional<Row> best;
      std::size_t most = 0;
      for (int c = 0; c < candidates_per_row; ++c)
        if (const auto row = row_with(pair); row && (!best || new_pairs(*row) > most)) {
          best = row;
          most = new_pairs(*row);
        }
      if (best) {
        take(*best);
      } else {
        open_.erase(pair);
        ++array_.impossible;
      }
    }
    while (array_.rows.size() < least_rows) {
      std::optional<Row> best;
      std::size_t most = 0;
      for (int c = 0; c < candidates_per_row; ++c)
        if (const auto row = random_row(); row && (!best || new_triples(*row) > most)) {
          best = row;
          most = new_triples(*row);
        }
      if (!best) break;
      take(*best);
    }
    return std::move(array_);
  }

 private:
  static std::size_t index(int option) { return static_cast<std::size_t>(option); }
  int options() const { return static_cast<int>(values_.size()); }
  int draw(int below) { return static_cast<int>(random_() % static_cast<std::uint64_t>(below)); }

  std::optional<Row> random_row() {
    for (int t = 0; t < tries_for_a_pair; ++t) {
      Row row;
      for (const int count : values_) row.push_back(draw(count));
      if (is_valid_(row)) return row;
    }
    return std::nullopt;
  }

  std::optional<Row> row_with(const Pair& pair) {
    const auto [a, x, b, y] = pair;
    for (int t = 0; t < tries_for_a_pair; ++t) {
      Row row(values_.size(), -1);
      row[index(a)] = x;
      row[index(b)] = y;
      std::vector<int> order(values_.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random_);
      for (const int option : order)
        if (row[index(option)] < 0) row[index(option)] = t % 2 ? draw(values_[index(option)]) : hungry(row, option);
      if (is_valid_(row)) return row;
    }
    return std::nullopt;
  }

  /// The value with most pairs that are open with what the row has already.
  int hungry(const Row& row, int option) {
    int best = 0, most = -1;
    const int offset = draw(values_[index(option)]);
    for (int v = 0; v < values_[index(option)]; ++v) {
      const int value = (v + offset) % values_[index(option)];
      int open = 0;
      for (int other = 0; other < options(); ++other)
        if (const int has = row[index(other)]; has >= 0)
          open += static_cast<int>(
              open_.count(other < option ? Pair{other, has, option, value} : Pair{option, value, other, has}));
      if (open > most) {
        most = open;
        best = value;
      }
    }
    return best;
  }

  std::size_t new_pairs(const Row& row) const {
    std::size_t count = 0;
    for (int a = 0; a < options(); ++a)
      for (int b = a + 1; b < options(); ++b) count += open_.count({a, row[index(a)], b, row[index(b)]});
    return count;
  }

  template <class Visit>
  void triples(const Row& row, Visit visit) const {
    for (int a = 0; a < options(); ++a)
      for (int b = a + 1; b < options(); ++b)
        for (int c = b + 1; c < options(); ++c)
          visit(std::array<int, 6>{a, row[index(a)], b, row[index(b)], c, row[index(c)]});
  }
  std::size_t new_triples(const Row& row) const {
    std::size_t count = 0;
    triples(row, [&](const auto& triple) { count += !seen_.count(triple); });
    return count;
  }

  void take(const Row& row) {
    for (int a = 0; a < options(); ++a)
      for (int b = a + 1; b < options(); ++b)
        array_.pairs += static_cast<int>(open_.erase({a, row[index(a)], b, row[index(b)]}));
    triples(row, [&](const auto& triple) { seen_.insert(triple); });
    array_.rows.push_back(row);
  }

  const std::vector<int>& values_;
  const std::function<bool(const Row&)>& is_valid_;
  std::mt19937_64 random_;
  std::set<Pair> open_;
  std::set<std::array<int, 6>> seen_;
  CoveringArray array_;
};

}  // namespace

CoveringArray covering_array(const std::vector<int>& values, const std::function<bool(const Row&)>& is_valid,
                             std::size_t least_rows, std::uint64_t seed) {
  return Builder(values, is_valid, seed).build(least_rows);
}

}  // namespace rankscope::testing
