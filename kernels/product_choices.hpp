// The library algorithm of each matrix product, as measured when the product was first prepared.
//
// Two algorithms may sum in different orders, so their results differ in the last bits. Code that must compute
// bit-identical results therefore reads its choices from one table: the ranks of a process share it, and the processes
// of a run send it to each other. Tables of two runs may differ, because times do.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

namespace rankscope::kernels {

/// Calls from any thread.
class ProductChoices {
 public:
  /// No algorithm: the product and its epilogue are separate kernels.
  static constexpr int separate = -1;

  /// The choice for a key (the product, the device, the library): an index in the library's own order, or `separate`.
  /// `measure` finds it if it is unknown. One measurement at a time, because others would disturb it.
  int of(const std::string& key, const std::function<int()>& measure) {
    const std::lock_guard lock(mutex_);
    if (const auto known = chosen_.find(key); known != chosen_.end()) return known->second;
    return chosen_[key] = measure();
  }

  /// All choices, one per line: the number and the key, which has no line breaks.
  std::string text() const {
    const std::lock_guard lock(mutex_);
    std::string lines;
    for (const auto& [key, choice] : chosen_) lines.append(std::to_string(choice)).append(" ").append(key).append("\n");
    return lines;
  }
  /// Adds those of another table; existing choices are kept.
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    std::istringstream lines(text);
    std::string key;
    for (int choice = 0; lines >> choice && std::getline(lines >> std::ws, key);) chosen_.emplace(key, choice);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> chosen_;
};

}  // namespace rankscope::kernels
