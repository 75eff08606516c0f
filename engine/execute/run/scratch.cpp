#include "engine/execute/run/scratch.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/execute/run/device.hpp"
#include "engine/execute/run/host_platform.hpp"
#include "engine/predict/cost/signature.hpp"
#include "kernels/product_choices.hpp"

namespace rankscope {
namespace {

bool computes(const Op& op) { return is_model_compute(op.id.kind()) || op.id.kind() == OpKind::optimizer; }

}  // namespace

void set_scratch(const StepProgram& step, std::span<RankProgram> programs, const Platform& platform) {
  struct Scratch {
    std::int64_t device = 0, host = 0;
  };
  std::unordered_map<OpSignature, Scratch> known;
  for (RankProgram& program : programs) {
    const Arena addresses = Arena::addresses(program.arena_bytes + program.host_bytes);
    const auto scratch_of = [&](const Op& op) {
      LaneQueues nowhere;
      const auto device = kernel_device(step, program, addresses, platform, nowhere);
      device->bind(op);
      return Scratch{device->workspace_bytes(), device->host_workspace_bytes()};
    };
    Scratch most;
    try {
      for (const Op& op : program.ops) {
        if (!computes(op)) continue;
        const OpSignature signature = signature_of(program, op);
        auto found = known.find(signature);
        if (found == known.end()) found = known.emplace(signature, scratch_of(op)).first;
        most.device = std::max(most.device, found->second.device);
        most.host = std::max(most.host, found->second.host);
      }
    } catch (const kernels::Unsupported&) {
      most = {};
    }
    program.scratch_bytes = most.device;
    program.host_scratch_bytes = most.host;
  }
  if (platform.device->is_host()) return;
  const double stated = step.scenario.cluster.context_bytes;
  const std::int64_t context = stated > 0 ? std::llround(stated) : platform.context_bytes();
  for (RankProgram& program : programs) program.context_bytes = context;
}

void set_scratch_with_shared_choices(const StepProgram& step, std::span<RankProgram> programs, const Platform& platform,
                                     World& processes) {
  const auto& choices = platform.kernels.options.choices;
  if (!choices) return set_scratch(step, programs, platform);
  const bool first = processes.rank() == 0;
  if (first) set_scratch(step, programs, platform);
  choices->add(processes.exchange(first ? choices->text() : "").front());
  if (!first) set_scratch(step, programs, platform);
}

void add_host_scratch(const StepProgram& step, std::span<RankProgram> programs) {
  set_scratch(step, programs, *open_host_platform());
}

}  // namespace rankscope
