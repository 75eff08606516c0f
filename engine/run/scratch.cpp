#include "engine/run/scratch.hpp"

#include <algorithm>
#include <unordered_map>

#include "engine/run/device.hpp"
#include "engine/simulate/signature.hpp"

namespace rankscope {
namespace {

bool computes(const Op& op) { return is_model_compute(op.id.kind()) || op.id.kind() == OpKind::optimizer; }

}  // namespace

void set_scratch(const StepProgram& step, std::span<RankProgram> programs, const kernels::KernelSet& kernels) {
  std::unordered_map<OpSignature, std::int64_t> known;
  for (RankProgram& program : programs) {
    const Arena addresses = Arena::addresses(program.arena_bytes);
    const auto scratch_of = [&](const Op& op) {
      StepValues values;
      const auto device = kernel_device(step, program, addresses, kernels, values);
      device->bind(op);
      return device->workspace_bytes();
    };
    std::int64_t most = 0;
    try {
      for (const Op& op : program.ops) {
        if (!computes(op)) continue;
        const OpSignature signature = signature_of(program, op);
        auto found = known.find(signature);
        if (found == known.end()) found = known.emplace(signature, scratch_of(op)).first;
        most = std::max(most, found->second);
      }
    } catch (const kernels::Unsupported&) {
      most = 0;
    }
    program.scratch_bytes = most;
  }
}

}  // namespace rankscope
