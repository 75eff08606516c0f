// Parameter servers (Li et al. 2014, "Scaling distributed machine learning with the parameter server"): separate
// ranks, each with an equal part of the parameters, their states and their updates. Workers send gradients and receive
// parameters, so that a server's link carries every worker's traffic: 2Ψ/servers per worker and step.
//
// The parts are equal parts of one bucket with all parameters; a cut may be inside a tensor.
#include "engine/plan/program/bucket.hpp"

#include <fmt/format.h>

#include "engine/plan/program/passes.hpp"

namespace rankscope {
namespace {

std::string shard_name(const char* what, int server) { return fmt::format("{}:server{}", what, server); }

Op message(OpKind kind, int worker, int server, int peer, BufferUse use) {
  return {OpId::of({kind, Purpose::server, -1, worker, -1, Segment::whole, server}), GroupKind::self, peer, {use}};
}

class Server {
 public:
  Server(const StepProgram& step, int rank)
      : step_(step), bucket_(server_bucket(step)), index_(step.grid.coordinates_of(rank).data) {
    program_.rank = rank;
    program_.arrivals_ahead = step.arrivals_ahead();
  }

  RankProgram serve() {
    const BufferIndex parameters =
        add_shard("parameters", BufferRole::parameter, MemoryClass::parameters, step_.model.type, -1);
    add_pieces(program_, step_, bucket_, parameters, index_, step_.grid.servers, "piece:");
    if (!step_.arrivals_ahead()) {
      add_up();
      return std::move(program_);
    }
    for (int worker = 0; worker < step_.grid.workers(); ++worker)
      add_pieces(program_, step_, bucket_, receive(worker), index_, step_.grid.servers,
                 fmt::format("m{}:piece:gradient:", worker));
    return std::move(program_);
  }

 private:
  /// `worker` is -1 for the server's own buffers.
  BufferIndex add_shard(const char* what, BufferRole role, MemoryClass memory, DType type, int worker) {
    const std::string prefix = worker < 0 ? "" : fmt::format("m{}:", worker);
    return program_.add({prefix + shard_name(what, index_), role, memory, type,
                         Shape{bucket_.elements / step_.grid.servers}, worker < 0, -1, worker});
  }

  BufferIndex receive(int worker) {
    const BufferIndex gradients = add_shard("gradients", BufferRole::gradient, MemoryClass::gradients,
                                            accumulation_type(step_.model.type), worker);
    program_.ops.push_back(message(OpKind::receive, worker, index_, worker, {gradients, Access::write}));
    return gradients;
  }

  /// Each contribution when it is received, in the order of the workers: one step has one sum.
  void add_up() {
    const BufferIndex sum =
        add_shard("gradients", BufferRole::gradient, MemoryClass::gradients, accumulation_type(step_.model.type), -1);
    add_pieces(program_, step_, bucket_, sum, index_, step_.grid.servers, "piece:gradient:");
    for (int worker = 0; worker < step_.grid.workers(); ++worker) {
      const BufferIndex gradients = receive(worker);
      program_.ops.push_back({OpId::of({OpKind::optimizer, Purpose::none, -1, worker, -1, Segment::accumulate, index_}),
                              GroupKind::self,
                              -1,
                              {{sum, worker == 0 ? Access::write : Access::accumulate}, {gradients, Access::read}}});
    }
  }

  const StepProgram& step_;
  Bucket bucket_;
  int index_;
  RankProgram program_;
};

/// The whole buffers that are at least partly in one of the servers' shards.
std::vector<BufferIndex> buffers_in_shard(const Bucket& bucket, const std::vector<BufferIndex>& whole, int server,
                                          int servers) {
  const std::int64_t size = bucket.elements / servers, begin = size * server, end = begin + size;
  std::vector<BufferIndex> in;
  for (std::size_t e = 0; e < whole.size(); ++e)
    if (bucket.entries[e].at < end && bucket.entries[e].at + bucket.entries[e].elements > begin) in.push_back(whole[e]);
  return in;
}

}  // namespace

RankProgram serve(const StepProgram& step, int rank) { return Server(step, rank).serve(); }

RankProgram answer_workers(RankProgram program, const StepProgram& step) {
  const int server = step.grid.coordinates_of(program.rank).data;
  constexpr BufferIndex parameters = 0;  // see Server::serve
  std::vector<Insertion> answers;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const OpFields f = program.ops[i].id.fields();
    if (f.kind != OpKind::receive) continue;
    // Each after its own update, or after the common one.
    std::size_t position = program.ops.size();
    if (program.arrivals_ahead)
      for (position = i + 1; program.ops[position - 1].id.kind() != OpKind::optimizer;) ++position;
    answers.push_back(
        {position, message(OpKind::send, f.micro_batch, server, f.micro_batch, {parameters, Access::read})});
  }
  return insert_ops(std::move(program), std::move(answers));
}

RankProgram push_and_pull(RankProgram program, const StepProgram& step) {
  const int servers = step.grid.servers, worker = program.rank;
  if (servers == 0) return program;
  const Bucket bucket = server_bucket(step);
  const std::vector<BufferIndex> gradients = WholeBuffers(program, BufferRole::gradient).of(bucket),
                                 parameters = WholeBuffers(program, BufferRole::parameter).of(bucket);
  std::vector<Insertion> messages;
  std::vector<std::size_t> complete;
  for (int s = 0; s < servers; ++s)
    complete.push_back(after_last_use(program, buffers_in_shard(bucket, gradients, s, servers)));
  const BufferIndex all_gradients = add_base(program, bucket, "gradients", gradients),
                    all_parameters = add_base(program, bucket, "parameters", parameters);
  for (int s = 0; s < servers; ++s) {
    const BufferIndex pushed = view_shard(program, bucket, all_gradients, s, servers, shard_name("gradients", s));
    messages.push_back(
        {complete[s], message(OpKind::send, worker, s, step.grid.workers() + s, {pushed, Access::read})});
  }
  for (int s = 0; s < servers; ++s) {
    const BufferIndex pulled = view_shard(program, bucket, all_parameters, s, servers, shard_name("parameters", s));
    messages.push_back(
        {program.ops.size(), message(OpKind::receive, worker, s, step.grid.workers() + s, {pulled, Access::write})});
  }
  return insert_ops(std::move(program), std::move(messages));
}

}  // namespace rankscope
