// Shows progress on standard error: task, share and remaining time. Nothing for two seconds; then one line
// that is rewritten in place on a terminal, elsewhere one line per minute.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "engine/base/progress/progress.hpp"

namespace rankscope {

/// Where and when progress is shown.
struct ProgressOutput {
  bool is_terminal = false;
  std::size_t width = 80;  ///< width of the terminal, characters
  std::function<void(std::string_view)> write;
  std::chrono::milliseconds first{2000};  ///< until the first line; without a terminal `every` applies
  std::chrono::milliseconds every{200};   ///< from one line to the next
};
ProgressOutput progress_on_standard_error();

/// "step 12 of 120, 10%, about 32 s left" of a count that has lasted this long since a share of `first_share`.
std::string progress_text(std::string_view doing, double share, double first_share,
                          std::chrono::duration<double> since);

class ProgressLine {
 public:
  /// `task`: the start of each line, such as "run".
  explicit ProgressLine(std::string task, ProgressOutput output = progress_on_standard_error());
  /// Clears the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// For the work; any thread may call it while this object lives.
  Progress progress();
  /// Removes the line, so that other output can be written. It is shown again at the next update.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void show(std::string_view doing, double share);
  void run();
  void write_line();
  void take_away();

  const std::string task_;
  const ProgressOutput output_;
  std::mutex mutex_;  // of all members below
  std::condition_variable ended_;
  bool is_over_ = false, is_shown_ = false;
  std::string doing_;
  double share_ = share_not_known, first_share_ = share_not_known;
  Clock::time_point begun_ = Clock::now(), counted_since_ = begun_;
  std::thread thread_;
};

}  // namespace rankscope
