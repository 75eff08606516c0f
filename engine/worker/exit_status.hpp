// The exit statuses of rankscope-engine: one table for the program, its --help and the manual (resources/manual/
// cluster.md, which a test compares). Other numbers have a meaning already: 64 to 78 in sysexits.h, 126 and above in
// shells, which add 128 to a signal's number.
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace rankscope::status {

inline constexpr int done = 0, failed = 1, bad_input = 2, not_shown = 3, stopped = 10, rank_lost = 11,
                     loss_not_finite = 12, does_not_fit = 13;

struct Row {
  int number;
  std::string_view name, meaning;
};
inline constexpr std::array table{
    Row{done, "done", "everything that was asked for is done"},
    Row{failed, "failed", "a command failed while it was at work; verify: the two trainings differ"},
    Row{bad_input, "bad input", "the arguments, the scenario or a file is wrong, and nothing was started"},
    Row{not_shown, "not shown", "verify: neither equality nor a difference could be shown"},
    Row{stopped, "stopped", "run, sweep: ended by a signal (SIGTERM, SIGUSR1, SIGINT, SIGHUP)"},
    Row{rank_lost, "rank lost", "run: a rank died or did not respond any more"},
    Row{loss_not_finite, "loss not finite", "run --stop-on nan: the loss became infinite or not a number"},
    Row{does_not_fit, "does not fit", "plan, simulate: a device has less memory than the plan needs"}};

/// "Exit statuses:" and a line for each, for --help.
std::string help();

}  // namespace rankscope::status
