// Signals that ask this process to stop its run: the first asks, the second ends it at once.
#pragma once

namespace rankscope {

/// From now on SIGINT, SIGTERM, SIGUSR1 and SIGHUP are requests, and are remembered. `term_is_the_end`: SIGTERM counts
/// as two, because whoever sends it waits only a second, as mpirun does.
void stop_on_signals(bool term_is_the_end = false);
/// The number of requests. One signal may come twice, from its sender and from the parent process, which passes it
/// on; it counts once.
int stop_requests();
inline bool stop_was_asked() { return stop_requests() > 0; }

}  // namespace rankscope
