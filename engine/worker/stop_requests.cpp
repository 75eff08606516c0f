#include "engine/worker/stop_requests.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace rankscope {
namespace {

// A signal handler can access only globals. It runs on any thread that receives the signal.
std::atomic<int> asked_by_parent = 0, asked_by_others = 0;
std::atomic<bool> sigterm_is_the_end = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void ask_to_stop(int number, siginfo_t* info, void*) {
  (info->si_pid == getppid() ? asked_by_parent : asked_by_others) += number == SIGTERM && sigterm_is_the_end ? 2 : 1;
}

}  // namespace

void stop_on_signals(bool term_is_the_end) {
  sigterm_is_the_end = term_is_the_end;
  struct sigaction action {};
  action.sa_sigaction = ask_to_stop;
  action.sa_flags = SA_SIGINFO;
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) sigaction(number, &action, nullptr);
  struct sigaction hang_up {};  // of the terminal; `nohup` sets it to ignored; this is kept
  if (sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

int stop_requests() { return std::max<int>(asked_by_parent, asked_by_others); }

}  // namespace rankscope
