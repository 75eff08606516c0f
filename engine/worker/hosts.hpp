// The hosts of a run (`--hosts FILE`), in the usual forms of Open MPI's, MPICH's and Slurm's files.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace rankscope {

struct Host {
  std::string name;  ///< or an IPv4 address
  int slots = 1;     ///< greatest number of ranks
};

/// A host's line: "NAME slots=N" (also with max_slots=M, which is only checked), "NAME:N" or "NAME" (one slot); the
/// slots of several lines of one host are added; # begins a comment. Throws ScenarioError "FILE:LINE: 'WORD': …" for
/// any other word, and for a file without hosts.
std::vector<Host> read_hosts(const std::string& file);

/// Throws ScenarioError if the hosts have fewer slots than the plan has ranks.
void check_slots(const std::vector<Host>& hosts, int ranks, const std::string& file);

/// Ranks first … end - 1, which are on one host.
struct RankRange {
  int first = 0, end = 0;
  int count() const { return end - first; }
  bool operator==(const RankRange&) const = default;
};
/// Those on the host that `is_here` selects, as mpirun places them: a host's slots are filled before the next host's.
RankRange ranks_on(const std::vector<Host>& hosts, int ranks, const std::function<bool(const std::string&)>& is_here);

/// In the format of mpirun's --host: "a:2,b:2".
std::string host_list(const std::vector<Host>& hosts);

}  // namespace rankscope
