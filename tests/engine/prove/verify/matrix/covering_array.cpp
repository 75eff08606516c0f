#include "tests/engine/prove/verify/matrix/covering_array.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace rankscope::testing {
namespace {

constexpr int tries_for_a_pair = 400, candidates_per_row = 12;
constexpr int failures_of_a_pair = 6;  ///< number of searches without a valid row after which none is expected

class Builder {
 public:
  Builder(const std::vector<int>& values, const std::function<bool(const Row&)>& is_valid, std::uint64_t seed)
      : values_(values), is_valid_(is_valid), random_(seed) {
    for (std::size_t option = 0; option < values_.size(); ++option) {
      first_item_.push_back(option_of_.size());
      option_of_.insert(option_of_.end(), static_cast<std::size_t>(values_[option]), option);
    }
    open_.resize(items() * items());
    seen_.resize(items() * items() * items());
    for (std::size_t a = 0; a < items(); ++a)
      for (std::size_t b = a + 1; b < items(); ++b) open_[pair(a, b)] = option_of_[a] != option_of_[b];
  }

  CoveringArray build(std::size_t least_rows) {
    // Pairs before this one are closed and remain closed.
    for (auto open = open_.begin(); (open = std::find(open, open_.end(), true)) != open_.end();) {
      const auto first = static_cast<std::size_t>(open - open_.begin());
      if (const auto row = best_row([&] { return row_with(first / items(), first % items()); },
                                    [&](const Row& candidate) { return new_pairs(candidate); })) {
        take(*row);
      } else {
        *open = false;
        array_.impossible.push_back(values_of(first / items(), first % items()));
      }
    }
    while (array_.rows.size() < least_rows) {
      const auto row =
          best_row([&] { return random_row(); }, [&](const Row& candidate) { return new_triples(candidate); });
      if (!row) break;
      take(*row);
    }
    return std::move(array_);
  }

 private:
  // An item is an option's value; items have consecutive numbers, option by option.
  std::size_t items() const { return option_of_.size(); }
  std::size_t item(std::size_t option, int value) const {
    return first_item_[option] + static_cast<std::size_t>(value);
  }
  Pair values_of(std::size_t a, std::size_t b) const {
    const auto value = [&](std::size_t i) { return static_cast<int>(i - first_item_[option_of_[i]]); };
    return {static_cast<int>(option_of_[a]), value(a), static_cast<int>(option_of_[b]), value(b)};
  }
  std::size_t pair(std::size_t a, std::size_t b) const { return std::min(a, b) * items() + std::max(a, b); }
  int draw(int below) { return static_cast<int>(random_() % static_cast<std::uint64_t>(below)); }

  /// Of several candidates, the one that covers the most new pairs or triples.
  std::optional<Row> best_row(const std::function<std::optional<Row>()>& candidate,
                              const std::function<std::size_t(const Row&)>& count_new) {
    std::optional<Row> best;
    std::size_t most = 0;
    int failures = 0;
    for (int c = 0; c < candidates_per_row && (best || failures < failures_of_a_pair); ++c) {
      const auto row = candidate();
      failures += !row;
      if (!row || (best && count_new(*row) <= most)) continue;
      best = row;
      most = count_new(*row);
    }
    return best;
  }

  std::optional<Row> random_row() {
    for (int t = 0; t < tries_for_a_pair; ++t) {
      Row row;
      for (const int count : values_) row.push_back(draw(count));
      if (is_valid_(row)) return row;
    }
    return std::nullopt;
  }

  std::optional<Row> row_with(std::size_t a, std::size_t b) {
    for (int t = 0; t < tries_for_a_pair; ++t) {
      Row row(values_.size(), -1);
      for (const std::size_t i : {a, b}) row[option_of_[i]] = static_cast<int>(i - first_item_[option_of_[i]]);
      std::vector<std::size_t> order(values_.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random_);
      for (const std::size_t option : order)
        if (row[option] < 0) row[option] = t % 2 ? draw(values_[option]) : hungry(row, option);
      if (is_valid_(row)) return row;
    }
    return changed_row_with(a, b);
  }

  /// An earlier row, with both values and a few others changed. If many options exclude each other, few random rows are
  /// valid, but many neighbours of a valid row are.
  std::optional<Row> changed_row_with(std::size_t a, std::size_t b) {
    for (int t = 0; t < tries_for_a_pair && !array_.rows.empty(); ++t) {
      Row row = array_.rows[static_cast<std::size_t>(draw(static_cast<int>(array_.rows.size())))];
      for (int changes = draw(5); changes > 0; --changes) {
        const auto option = static_cast<std::size_t>(draw(static_cast<int>(values_.size())));
        row[option] = draw(values_[option]);
      }
      for (const std::size_t i : {a, b}) row[option_of_[i]] = static_cast<int>(i - first_item_[option_of_[i]]);
      if (is_valid_(row)) return row;
    }
    return std::nullopt;
  }

  /// The value with the most open pairs with the row's existing values.
  int hungry(const Row& row, std::size_t option) {
    int best = 0, most = -1;
    const int offset = draw(values_[option]);
    for (int v = 0; v < values_[option]; ++v) {
      const int value = (v + offset) % values_[option];
      int open = 0;
      for (std::size_t other = 0; other < row.size(); ++other)
        if (row[other] >= 0) open += open_[pair(item(option, value), item(other, row[other]))];
      if (open > most) {
        most = open;
        best = value;
      }
    }
    return best;
  }

  template <class Visit>
  void pairs(const Row& row, Visit visit) const {
    for (std::size_t a = 0; a < row.size(); ++a)
      for (std::size_t b = a + 1; b < row.size(); ++b) visit(pair(item(a, row[a]), item(b, row[b])));
  }
  template <class Visit>
  void triples(const Row& row, Visit visit) const {
    for (std::size_t a = 0; a < row.size(); ++a)
      for (std::size_t b = a + 1; b < row.size(); ++b)
        for (std::size_t c = b + 1; c < row.size(); ++c)
          visit(pair(item(a, row[a]), item(b, row[b])) * items() + item(c, row[c]));
  }
  std::size_t new_pairs(const Row& row) const {
    std::size_t count = 0;
    pairs(row, [&](std::size_t pair) { count += open_[pair]; });
    return count;
  }
  std::size_t new_triples(const Row& row) const {
    std::size_t count = 0;
    triples(row, [&](std::size_t triple) { count += !seen_[triple]; });
    return count;
  }

  void take(const Row& row) {
    pairs(row, [&](std::size_t pair) {
      array_.pairs += open_[pair];
      open_[pair] = false;
    });
    triples(row, [&](std::size_t triple) { seen_[triple] = true; });
    array_.rows.push_back(row);
  }

  const std::vector<int>& values_;
  const std::function<bool(const Row&)>& is_valid_;
  std::mt19937_64 random_;
  std::vector<std::size_t> first_item_;  ///< by option
  std::vector<std::size_t> option_of_;   ///< by item
  std::vector<bool> open_;               ///< by pair of items: neither covered nor impossible
  std::vector<bool> seen_;               ///< by triple
  CoveringArray array_;
};

}  // namespace

CoveringArray covering_array(const std::vector<int>& values, const std::function<bool(const Row&)>& is_valid,
                             std::size_t least_rows, std::uint64_t seed) {
  return Builder(values, is_valid, seed).build(least_rows);
}

}  // namespace rankscope::testing
