// The set of numbers that have arrived (a sender's messages, or steps) as intervals; any order, repetitions allowed.
#pragma once
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

  /// False when it was there.
  bool insert(std::uint64_t number) {
    auto next = intervals_.upper_bound(number);
    if (next != intervals_.begin()) {
      const auto before = std::prev(next);
      if (number <= before->second) return false;
      if (number == before->second + 1) {
        before->second = number;
        if (next != intervals_.end() && next->first == number + 1) {
          before->second = next->second;
          intervals_.erase(next);
        }
        return true;
      }
    }
    if (next != intervals_.end() && next->first == number + 1) {
      const std::uint64_t last = next->second;
      intervals_.erase(next);
      intervals_[number] = last;
    } else {
      intervals_[number] = number;
    }
    return true;
  }

  void insert(Interval interval) {
    if (interval.first > interval.last) return;
    auto at = intervals_.upper_bound(interval.first);
    if (at != intervals_.begin() && std::prev(at)->second >= interval.first - (interval.first > 0)) --at;
    while (at != intervals_.end() && (interval.last == UINT64_MAX || at->first <= interval.last + 1)) {
      interval.first = at->first < interval.first ? at->first : interval.first;
      interval.last = at->second > interval.last ? at->second : interval.last;
      at = intervals_.erase(at);
    }
    intervals_[interval.first] = interval.last;
  }

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

  /// The end of the run that begins at 1; 0 when 1 is missing.
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
  std::map<std::uint64_t, std::uint64_t> intervals_;  // first → last, never touching each other
};

}  // namespace rankscope
