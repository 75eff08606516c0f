#include "engine/base/progress/progress_line.hpp"

#include <thread>

#include "tests/catch.hpp"

using namespace rankscope;
using namespace std::chrono_literals;

namespace {

/// Collects everything that a line writes, in order.
class Written {
 public:
  ProgressOutput output(bool is_terminal) {
    ProgressOutput output;
    output.is_terminal = is_terminal;
    output.width = 40;
    output.first = output.every = 1ms;
    output.write = [this](std::string_view text) {
      const std::lock_guard lock(mutex_);
      all_.emplace_back(text);
    };
    return output;
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  /// Waits until there are this many pieces.
  std::vector<std::string> at_least(std::size_t pieces) {
    while (all().size() < pieces) std::this_thread::sleep_for(1ms);
    return all();
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

}  // namespace

TEST_CASE("the remaining time follows from the share that was done since the count began") {
  // A tenth took 3 s, so the other nine tenths take 27 s.
  CHECK(progress_text("step 12 of 120", 0.1, 0, 3s) == "step 12 of 120, 10%, about 27 s left");
  // From 0.5 on, 0.25 took 60 s; the remaining 0.25 takes the same.
  CHECK(progress_text("row 3 of 4", 0.75, 0.5, 60s) == "row 3 of 4, 75%, about 1 min left");
  CHECK(progress_text("plan 1 of 9", 0.01, 0, 100s) == "plan 1 of 9, 1%, about 2.8 h left");
}

TEST_CASE("an unknown value is not shown as a number") {
  CHECK(progress_text("step 0 of 120", 0, 0, 3s) == "step 0 of 120, 0%");
  CHECK(progress_text("starting", share_not_known, share_not_known, 3s) == "starting, 3 s so far");
}

TEST_CASE("on a terminal one line is rewritten in place, cut to the width, and removed at the end") {
  Written written;
  {
    ProgressLine line("run", written.output(true));
    line.progress()("step 1 of 120 of a run that has a very long title", 0.0);
    const auto lines = written.at_least(2);
    CHECK(lines[0] == "\rrun: step 1 of 120 of a run that has a \033[K");
  }
  const auto lines = written.all();
  CHECK(lines.back() == "\r\033[K");
  for (const std::string& text : lines) CHECK(text.find('\n') == std::string::npos);
}

TEST_CASE("no line is shown while nothing is done, so that other text can be written") {
  Written written;
  ProgressLine line("run", written.output(true));
  const Progress progress = line.progress();
  progress("step 1 of 2", 0.5);
  written.at_least(1);
  progress({}, share_not_known);
  const auto before = written.all();
  CHECK(before.back() == "\r\033[K");
  std::this_thread::sleep_for(20ms);
  CHECK(written.all().size() == before.size());
}

TEST_CASE("without a terminal each line ends, and none is removed") {
  Written written;
  {
    ProgressLine line("verify", written.output(false));
    line.progress()("step 1 of 10", 0.0);
    written.at_least(2);
  }
  for (const std::string& text : written.all()) CHECK(text == "verify: step 1 of 10, 0%\n");
}

TEST_CASE("work that ends within two seconds shows no progress") {
  Written written;
  ProgressOutput output = written.output(true);
  output.first = 2000ms;
  {
    ProgressLine line("run", output);
    line.progress()("step 1 of 2", 0.5);
    std::this_thread::sleep_for(20ms);
  }
  CHECK(written.all().empty());
}

TEST_CASE("a share below the previous one begins a new count") {
  Written written;
  ProgressLine line("search", written.output(false));
  const Progress progress = line.progress();
  progress("bound of plan 10 of 10", 1.0);
  progress("plan 1 of 4", 0.25);
  const auto seen = written.at_least(written.all().size() + 2);
  // The new count's first share: its rate is not known yet.
  CHECK(seen.back() == "search: plan 1 of 4, 25%\n");
}
