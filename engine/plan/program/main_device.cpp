// Data parallelism with one main device, as in torch.nn.DataParallel: the first rank of the data group loads the
// samples of all, scatters them, broadcasts the parameters, gathers the losses, has the gradients reduced to it and
// alone updates. Its costs: one link carries all ranks' bytes, and the others wait for one update.
// (Parameters are sent once a step; PyTorch sends them with every forward.)
#include <fmt/format.h>

#include <algorithm>

#include "engine/plan/program/bucket.hpp"
#include "engine/plan/program/passes.hpp"

namespace rankscope {
namespace {

bool has_main_device(const StepProgram& step) { return step.scenario.plan.has_main_device() && step.grid.data > 1; }

int main_rank(const StepProgram& step, int rank) { return step.grid.group_of(rank, GroupKind::data).front(); }

Op collective(const OpFields& fields, int root, std::vector<BufferUse> uses) {
  Op op{OpId::of(fields), GroupKind::data, -1, std::move(uses)};
  op.root = root;
  return op;
}

BufferIndex add_whole(RankProgram& program, const std::string& name, const Buffer& part, int parts) {
  return program.add({name, part.role, MemoryClass::buffers, part.type, Shape{part.shape.elements() * parts}, false, -1,
                      part.micro_batch});
}

}  // namespace

RankProgram scatter_batches(RankProgram program, const StepProgram& step) {
  if (!has_main_device(step)) return program;
  const int root = main_rank(step, program.rank);
  const bool is_main = program.rank == root;
  std::vector<Insertion> insertions;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const OpFields f = program.ops[i].id.fields();
    if (f.kind == OpKind::load_batch) {
      // Tokens, then targets; a chunk that needs both loads both.
      std::vector<BufferUse> parts = program.ops[i].uses;
      for (std::size_t u = 0; u < parts.size(); ++u) {
        std::vector<BufferUse> uses{{parts[u].buffer, Access::write}};
        if (is_main) {
          const Buffer part = program.buffers[parts[u].buffer];
          const BufferIndex whole = add_whole(program, part.name + ":all", part, step.grid.data);
          program.ops[i].uses[u].buffer = whole;
          uses.insert(uses.begin(), {whole, Access::read});
        }
        insertions.push_back({i + 1, collective({OpKind::scatter, Purpose::batch, f.chunk, f.micro_batch, -1,
                                                 Segment::whole, static_cast<int>(u)},
                                                root, std::move(uses))});
      }
    }
    if (f.kind != OpKind::forward || step.grid.coordinates_of(program.rank).tensor > 0) continue;
    // The micro-batch's loss is the last output of the segment that has one.
    if (segment_of(step.model, program.ops[i].id).outputs.back().name != TensorName::loss) continue;
    const BufferIndex loss = program.ops[i].uses.back().buffer;
    std::vector<BufferUse> uses{{loss, Access::read}};
    if (is_main) {
      const Buffer part = program.buffers[loss];
      uses.push_back({add_whole(program, part.name + ":all", part, step.grid.data), Access::write});
    }
    insertions.push_back(
        {i + 1, collective({OpKind::gather, Purpose::replica_loss, f.chunk, f.micro_batch}, root, std::move(uses))});
  }
  program = insert_ops(std::move(program), std::move(insertions));
  if (!is_main) std::erase_if(program.ops, [](const Op& op) { return op.id.kind() == OpKind::load_batch; });
  return program;
}

RankProgram replicate_parameters(RankProgram program, const StepProgram& step) {
  if (!has_main_device(step)) return program;
  const int root = main_rank(step, program.rank);
  const Access access = program.rank == root ? Access::read : Access::write;
  std::vector<Insertion> broadcasts;
  const auto broadcast = [&](int chunk, int index, BufferIndex buffer) {
    broadcasts.push_back(
        {0, collective({OpKind::broadcast, Purpose::data_parameter, chunk, -1, -1, Segment::whole, index}, root,
                       {{buffer, access}})});
  };
  // The loss scale is sent first: no op uses it, and all of the step's compute depends on some parameters.
  if (step.model.type == DType::f16) {
    if (program.rank != root) program.buffers.push_back(loss_scale_buffer());
    for (BufferIndex b = 0; b < program.buffers.size(); ++b)
      if (program.buffers[b].role == BufferRole::loss_scale) broadcast(-1, -1, b);
  }
  // The first forward's parameters, whose gradients the backward completes last, are sent first.
  std::vector<Bucket> buckets = buckets_of(step, step.grid.coordinates_of(program.rank).pipeline);
  std::reverse(buckets.begin(), buckets.end());
  const WholeBuffers whole(program, BufferRole::parameter);
  for (const Bucket& bucket : buckets) {
    const std::vector<BufferIndex> parameters = whole.of(bucket);
    const BufferIndex all = add_base(program, bucket, fmt::format("parameters:bucket{}", bucket.index), parameters);
    broadcast(bucket.chunk, bucket.index, all);
  }
  return insert_ops(std::move(program), std::move(broadcasts));
}

}  // namespace rankscope
