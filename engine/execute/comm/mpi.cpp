#include "engine/execute/comm/mpi.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "engine/execute/comm/mpi_communicator.hpp"

namespace rankscope {

using namespace comm;

namespace {

// Tags on the bookkeeping communicator: one pair per lane for creating groups, one for exchange.
constexpr int group_arrive_tag = 100, group_release_tag = 200, exchange_arrive_tag = 300, exchange_release_tag = 301;

class MpiWorld final : public World {
 public:
  explicit MpiWorld(CommOptions options) : process_(std::make_shared<MpiProcess>(std::move(options))) {
    everyone_.resize(process_->size());
    std::iota(everyone_.begin(), everyone_.end(), 0);
  }

  int rank() const override { return process_->rank(); }
  int size() const override { return process_->size(); }
  std::string_view name() const override { return "mpi"; }

  std::unique_ptr<Communicator> group(std::vector<int> members, Lane lane,
                                      Choice<CollectiveChoice> algorithm) override {
    GroupSetting setting = make_setting(std::move(members), rank(), size(), lane, algorithm, process_->options());
    MPI_Comm comm = MPI_COMM_NULL;
    if (setting.size() > 1) {
      // MPI creates a communicator without a time limit, so all members must have arrived before.
      const int tag = static_cast<int>(lane);
      const ArrivalWord word{setting.algorithm ? static_cast<std::int64_t>(*setting.algorithm) : -1, setting.size()};
      std::vector<int> ranks = setting.members;
      arrive_as(ranks, setting.index, group_arrive_tag + tag, group_release_tag + tag, "making a group", lane, word);
      MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
      check("MPI_Comm_group", MPI_Comm_group(process_->bookkeeping(), &all));
      check("MPI_Group_incl", MPI_Group_incl(all, setting.size(), ranks.data(), &some));
      check("MPI_Comm_create_group", MPI_Comm_create_group(process_->bookkeeping(), some, tag, &comm));
      check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
      MPI_Group_free(&some);
      MPI_Group_free(&all);
    }
    return std::make_unique<MpiCommunicator>(process_, comm, std::move(setting));
  }

  std::vector<std::string> exchange(const std::string& mine) override {
    arrive_as(everyone_, rank(), exchange_arrive_tag, exchange_release_tag, "exchange", Lane::copy, {});
    const auto deadline = deadline_after(process_->options().time_limit);
    auto too_late = [&] {
      return timeout_message(rank(), process_->options().time_limit, "exchange", Lane::copy, everyone_);
    };
    int length = static_cast<int>(mine.size());
    std::vector<int> lengths(size()), offsets(size());
    MPI_Request request = MPI_REQUEST_NULL;
    check("MPI_Iallgather",
          MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, process_->bookkeeping(), &request));
    process_->wait({&request, 1}, deadline, too_late, MpiProcess::Waiting::for_collective);
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    std::string all(offsets.back() + lengths.back(), '\0');
    check("MPI_Iallgatherv", MPI_Iallgatherv(mine.data(), length, MPI_BYTE, all.data(), lengths.data(), offsets.data(),
                                             MPI_BYTE, process_->bookkeeping(), &request));
    process_->wait({&request, 1}, deadline, too_late, MpiProcess::Waiting::for_collective);
    std::vector<std::string> strings;
    for (int r = 0; r < size(); ++r) strings.push_back(all.substr(offsets[r], lengths[r]));
    return strings;
  }

  void abort(const std::string& why) override { process_->fail(why); }

  void throw_if_failed() override {
    process_->listen();
    process_->throw_if_failed();
  }

  void ask_to_stop() override { process_->ask_to_stop(); }

  bool is_asked_to_stop() override {
    process_->listen();
    return process_->is_asked_to_stop();
  }

 private:
  // Member i of an arrival is rank i of its communicator; here that is the world, and members are a subset of it.
  void arrive_as(std::span<const int> ranks, int index, int arrive_tag, int release_tag, const char* call, Lane lane,
                 const ArrivalWord& word) {
    arrive(*process_, {process_->bookkeeping(), ranks, index, arrive_tag, release_tag, call, lane, false, true}, word);
  }

  std::shared_ptr<MpiProcess> process_;
  std::vector<int> everyone_;
};

}  // namespace

bool mpi_is_built_in() { return true; }

std::unique_ptr<World> mpi_world(CommOptions options) { return std::make_unique<MpiWorld>(std::move(options)); }

void mpi_abort(int status) {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (initialised && !finalised) MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace rankscope
