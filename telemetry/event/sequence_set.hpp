// The set of numbers that have arrived (a sender's messages, or steps) as intervals; any order, repetitions allowed.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace rankscope {

class SequenceSet {
 public:
  struct Interval {
    std::uint64_t first = 0, last = 0;  ///< both included
  };

  /// False if all of it was already in the set, or it is empty.
  bool insert(Interval interval) {
    if (interval.first > interval.last || contains(interval)) return false;
    auto at = intervals_.upper_bound(interval.first);
    if (at != intervals_.begin() && touches(std::prev(at)->second, interval.first)) {
      --at;  // so that numbers in order allocate nothing
      at->second = std::max(at->second, interval.last);
    } else {
      at = intervals_.emplace_hint(at, interval.first, interval.last);
    }
    for (auto next = std::next(at); next != intervals_.end() && touches(at->second, next->first);) {
      at->second = std::max(at->second, next->second);
      next = intervals_.erase(next);
    }
    return true;
  }
  bool insert(std::uint64_t number) { return insert(Interval{number, number}); }

  bool contains(std::uint64_t number) const { return contains({number, number}); }
  /// All of them.
  bool contains(Interval interval) const {
    const auto next = intervals_.upper_bound(interval.first);
    return next != intervals_.begin() && interval.last <= std::prev(next)->second;
  }

  /// What is missing within [first, last].
  std::vector<Interval> missing(std::uint64_t first, std::uint64_t last) const {
    std::vector<Interval> holes;
    auto at = intervals_.upper_bound(first);
    if (at != intervals_.begin()) --at;
    for (; at != intervals_.end() && first <= last; ++at) {
      if (at->second < first) continue;
      if (at->first > last) break;
      if (at->first > first) holes.push_back({first, at->first - 1});
      if (at->second >= last) return holes;
      first = at->second + 1;
    }
    if (first <= last) holes.push_back({first, last});
    return holes;
  }

  /// The end of the interval that begins at 1; 0 when 1 is missing.
  std::uint64_t contiguous() const {
    return !intervals_.empty() && intervals_.begin()->first <= 1 ? intervals_.begin()->second : 0;
  }
  std::uint64_t greatest() const { return intervals_.empty() ? 0 : intervals_.rbegin()->second; }
  bool empty() const { return intervals_.empty(); }

  std::vector<Interval> intervals() const {
    std::vector<Interval> all;
    for (const auto& [first, last] : intervals_) all.push_back({first, last});
    return all;
  }

 private:
  /// Whether nothing is missing between `last` and what begins at `first`.
  static bool touches(std::uint64_t last, std::uint64_t first) { return last >= first || last + 1 == first; }

  std::map<std::uint64_t, std::uint64_t> intervals_;  // first → last, never touching each other
};

}  // namespace rankscope
