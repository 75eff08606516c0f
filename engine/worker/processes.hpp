// The processes of this host, read from /proc.
#pragma once
#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct ProcessState {
  pid_t parent = 0;
  char state = '?';  ///< as in proc(5): R runs, S sleeps, T is stopped, Z has ended, ...
  bool has_ended() const { return state == 'Z' || state == 'X'; }  ///< its parent has not waited for it yet
};

/// None: there is no such process.
std::optional<ProcessState> state_of(pid_t process);
std::map<pid_t, ProcessState> all_processes();
/// Of any of its threads.
std::vector<pid_t> children_of(pid_t process);
bool descends(pid_t process, pid_t ancestor, const std::map<pid_t, ProcessState>& all);

/// The value of the first of `names` that a process's environment has; empty: it has none.
std::string variable_of(pid_t process, const std::vector<std::string>& names);

}  // namespace rankscope
