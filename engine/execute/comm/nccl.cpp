#include "engine/execute/comm/nccl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "engine/base/host/provenance.hpp"
#include "engine/execute/comm/nccl_communicator.hpp"
#include "engine/op/words.hpp"

namespace rankscope {

using namespace comm;

namespace {

class NcclWorld final : public World {
 public:
  NcclWorld(std::shared_ptr<const NcclLibrary> library, std::unique_ptr<World> start_up, CommOptions options)
      : session_(std::make_shared<NcclSession>(std::move(library), std::move(start_up), std::move(options))) {}

  int rank() const override { return session_->start_up().rank(); }
  int size() const override { return session_->start_up().size(); }
  std::string_view name() const override { return "nccl"; }

  std::unique_ptr<Communicator> group(std::vector<int> members, Lane lane,
                                      Choice<CollectiveChoice> algorithm) override {
    GroupSetting setting = make_setting(std::move(members), rank(), size(), lane, algorithm, session_->options());
    return session_->or_fail([&] {
      auto host = host_group(session_->start_up().group(setting.members, lane, CollectiveChoice::automatic));
      return std::make_unique<NcclCommunicator>(session_, std::move(host), std::move(setting));
    });
  }

  std::vector<std::string> exchange(const std::string& mine) override {
    return session_->or_fail([&] { return session_->start_up().exchange(mine); });
  }

  void abort(const std::string& why) override { session_->fail(why); }

  void throw_if_failed() override { session_->throw_if_failed(); }

  void ask_to_stop() override { session_->start_up().ask_to_stop(); }
  bool is_asked_to_stop() override { return session_->start_up().is_asked_to_stop(); }

 private:
  static std::unique_ptr<GroupCommunicator> host_group(std::unique_ptr<Communicator> group) {
    auto* host = dynamic_cast<GroupCommunicator*>(group.get());
    if (host == nullptr) throw std::invalid_argument("nccl is started up by loopback or mpi");
    group.release();
    return std::unique_ptr<GroupCommunicator>(host);
  }

  std::shared_ptr<NcclSession> session_;
};

}  // namespace

std::unique_ptr<World> nccl_world(std::unique_ptr<World> start_up, CommOptions options, NcclOptions nccl) {
  std::shared_ptr<const NcclLibrary> library;
  try {
    library = open_nccl(nccl.file);
  } catch (const CommError& error) {
    start_up->abort(error.what());  // the others are about to wait for this rank
    throw;
  }
  return std::make_unique<NcclWorld>(std::move(library), std::move(start_up), std::move(options));
}

// NCCL 2.27 and later then search for the plug-in among the program's own symbols.
void enable_nccl_profiler() { setenv("NCCL_PROFILER_PLUGIN", "STATIC_PLUGIN", 0); }

void prepare_cuda_for_nccl() { setenv("CUDA_MODULE_LOADING", "EAGER", 0); }

void check_nccl_library(const NcclOptions& nccl) { open_nccl(nccl.file); }

int gpu_of_rank(World& world, const std::vector<std::string>& visible) {
  return gpu_of_rank(world, visible, host_name());
}

int shared_gpu_of_rank(World& world, const std::vector<std::string>& visible) {
  return shared_gpu_of_rank(world, visible, host_name());
}

int shared_gpu_of_rank(World& world, const std::vector<std::string>& visible, const std::string& host) {
  const std::vector<std::string> hosts = world.exchange(host);
  const auto before = std::count(hosts.begin(), hosts.begin() + world.rank(), host);
  return visible.empty() ? 0 : static_cast<int>(before % static_cast<std::ptrdiff_t>(visible.size()));
}

int gpu_of_rank(World& world, const std::vector<std::string>& visible, const std::string& host) {
  std::ostringstream mine;
  mine << host << '\n';
  for (const std::string& gpu : visible) mine << gpu << '\n';
  // The ranks of a host choose in turn: each gets the first visible GPU that no earlier rank has. Every rank computes
  // the same choice for all. If one gets no GPU they all end, instead of waiting for it.
  std::map<std::string, std::set<std::string>> taken;
  std::map<std::string, int> ranks;
  const std::vector<std::string> all = world.exchange(mine.str());
  int own = 0;
  for (int rank = 0; rank < static_cast<int>(all.size()); ++rank) {
    std::istringstream theirs(all[static_cast<std::size_t>(rank)]);
    std::string where, gpu;
    std::getline(theirs, where);
    ++ranks[where];
    int seen = 0;
    bool found = false;
    while (!found && std::getline(theirs, gpu)) found = taken[where].insert(gpu).second, ++seen;
    if (!found)
      throw CommError(
          fmt::format("rank {} is the {}. rank on host {} and sees {}, none of which is free: the communicator 'nccl' "
                      "needs a GPU for each rank; use 'loopback' to share one",
                      rank, ranks[where], where, counted(seen, "GPU")));
    if (rank == world.rank()) own = seen - 1;
  }
  return own;
}

}  // namespace rankscope
