#include "engine/base/progress/progress_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace rankscope {
namespace {

constexpr std::string_view to_line_begin = "\r", clear_to_end = "\033[K";
constexpr double least_share = 1e-6;  // enough for an estimate of the rate
constexpr int minute = 60, hour = 3600;

std::string duration_text(double seconds) {
  if (seconds < minute) return fmt::format("{:.0f} s", seconds);
  if (seconds < hour) return fmt::format("{:.0f} min", seconds / minute);
  return fmt::format("{:.1f} h", seconds / hour);
}

void write_to_standard_error(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// At most this many UTF-8 characters.
std::string_view cut(std::string_view text, std::size_t characters) {
  std::size_t end = 0;
  for (; end < text.size(); ++end)
    if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && characters-- == 0) break;
  return text.substr(0, end);
}

}  // namespace

ProgressOutput progress_on_standard_error() {
  ProgressOutput output;
  output.write = write_to_standard_error;
  output.is_terminal = isatty(STDERR_FILENO) != 0;
  if (!output.is_terminal) output.every = std::chrono::minutes(1);
  winsize size{};
  if (output.is_terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) output.width = size.ws_col;
  return output;
}

std::string progress_text(std::string_view doing, double share, double first_share,
                          std::chrono::duration<double> since) {
  std::string text(doing);
  if (std::isnan(share)) return text + ", " + duration_text(since.count()) + " so far";
  share = std::clamp(share, 0.0, 1.0);
  text += fmt::format(", {:.0f}%", 100 * share);
  if (share - first_share < least_share) return text;
  return text + ", about " + duration_text(since.count() * (1 - share) / (share - first_share)) + " left";
}

ProgressLine::ProgressLine(std::string task, ProgressOutput output)
    : task_(std::move(task)), output_(std::move(output)), thread_([this] { run(); }) {}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_all();
  thread_.join();
  clear();
}

Progress ProgressLine::progress() {
  return [this](std::string_view doing, double share) { show(doing, share); };
}

void ProgressLine::show(std::string_view doing, double share) {
  const std::lock_guard lock(mutex_);
  if (doing.empty()) take_away();
  // Not `share < share_`: the first known share also begins a count.
  const bool goes_on = share >= share_ || (std::isnan(share) && std::isnan(share_) && doing == doing_);
  if (!goes_on) {
    counted_since_ = Clock::now();
    first_share_ = share;
  }
  doing_ = doing;
  share_ = share;
}

void ProgressLine::clear() {
  const std::lock_guard lock(mutex_);
  take_away();
}

void ProgressLine::take_away() {
  if (is_shown_) output_.write(std::string(to_line_begin) + std::string(clear_to_end));
  is_shown_ = false;
}

void ProgressLine::run() {
  std::unique_lock lock(mutex_);
  auto due = begun_ + std::max(output_.first, output_.every);
  while (!ended_.wait_until(lock, due, [this] { return is_over_; })) {
    if (!doing_.empty()) write_line();
    due = Clock::now() + output_.every;
  }
}

void ProgressLine::write_line() {
  const std::string text = task_ + ": " + progress_text(doing_, share_, first_share_, Clock::now() - counted_since_);
  if (!output_.is_terminal) return output_.write(text + "\n");
  output_.write(std::string(to_line_begin) + std::string(cut(text, output_.width - 1)) + std::string(clear_to_end));
  is_shown_ = true;
}

}  // namespace rankscope
