#include "engine/worker/descriptors.hpp"

#include <sys/resource.h>

#include "engine/op/words.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope {
namespace {

// Measured with Open MPI 4.1 on one host: 2 ranks need at most 36, 4 ranks 44, 8 ranks 64; 8 ranks hang with 56.
constexpr rlim_t launcher_needs = 32, each_rank_needs = 4;
// Ranks as threads: the relay's sockets and the spools.
constexpr rlim_t one_process_needs = 16;

}  // namespace

void need_descriptors(int ranks, CommunicatorKind communicator) {
  const rlim_t needed = communicator == CommunicatorKind::loopback
                            ? one_process_needs
                            : launcher_needs + each_rank_needs * static_cast<rlim_t>(ranks);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  const rlim_t had = limit.rlim_cur;
  limit.rlim_cur = needed;
  if (limit.rlim_max >= needed && setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  throw ScenarioError(fmt::format(
      "too few file descriptors: a process may open {}, and {} with --comm {} need {}; raise the limit (ulimit -n {})",
      had, counted(ranks, "rank"), word_of(communicator), needed, needed));
}

}  // namespace rankscope
