// Steps of GPT-2 on one GPU as the engine runs them: forward, backward, clipping and AdamW with fp32 masters, bf16,
// context 1024. Prints one JSON object: tokens/s, MFU, how the time of the compute lane is divided, for each class also
// the time of its FLOPs and bytes at the chip's own limits, and the memory with its prediction.
//
//   gpu_step [MODEL=gpt2-124m|gpt2-1.5b] [SAMPLES=16] [MICRO_BATCHES=1] [STEPS=20]
//   [VARIANT=none|narrow-logits|gelu|...]
//
// SAMPLES are those of a micro-batch. VARIANT: plan.logits = "narrow", or a fast path of the GPU to switch off, as with
// --without of rankscope-engine. gpu_peer_pytorch.py trains the same model in PyTorch. The limits are measured here:
// the rates of a copy and of a large bf16 product. MFU is relative to the 989 TFLOP/s in the data sheets of H100 and
// H200.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "engine/execute/run/fast_paths.hpp"
#include "engine/execute/run/job.hpp"
#include "engine/execute/run/scratch.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/program/passes.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "kernels/cuda/device.hpp"

using namespace rankscope;

namespace {

constexpr double sheet_flops = 989e12;
constexpr std::uint32_t warm_up = 3;

/// This GPU's measured rates per second.
struct Limits {
  double product_flops = 0, memory_bytes = 0;
};

/// Seconds of one call, the shortest of several.
template <class Launch>
double seconds_of(Queue& queue, Launch launch) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 6; ++i) {
    const Mark begin = queue.mark();
    launch();
    const Mark end = queue.mark();
    end->wait();
    best = std::min(best, static_cast<double>(end->time_ns() - begin->time_ns()) * 1e-9);
  }
  return best;
}

Limits measure_limits(const Platform& platform) {
  const std::int64_t bytes = std::int64_t{2} << 30, n = 8192;
  Device& device = *platform.device;
  const std::unique_ptr<Queue> queue = device.make_queue();
  const Memory from = device.reserve(bytes), to = device.reserve(bytes);
  // Random numbers: a product of zeros takes less power and is faster than any real one.
  const std::int64_t drawn = 2 * n * n;
  const Memory numbers = device.reserve_host(drawn * bytes_of(DType::bf16));
  std::mt19937 random(1);
  for (std::int64_t i = 0; i < drawn; ++i) {
    const std::uint32_t bits = random();
    reinterpret_cast<std::uint16_t*>(numbers.get())[i] = static_cast<std::uint16_t>(0x3F00 | (bits & 0x807F));
  }
  queue->copy(from.get(), numbers.get(), drawn * bytes_of(DType::bf16));
  Limits limits;
  limits.memory_bytes =
      2 * static_cast<double>(bytes) / seconds_of(*queue, [&] { queue->copy(to.get(), from.get(), bytes); });
  const auto product = platform.kernels.prepare(
      &kernels::KernelSet::linear_forward,
      kernels::LinearSpec{.type = DType::bf16, .result_type = DType::bf16, .rows = n, .in = n, .out = n});
  const Memory workspace = device.reserve(product.workspace_bytes);
  const kernels::Stream stream{workspace.get(), queue->handle()};
  const auto matrix = [&](const Memory& memory, std::int64_t first) {
    return View{memory.get() + first * n * n * bytes_of(DType::bf16), DType::bf16, {n, n}};
  };
  limits.product_flops = 2.0 * n * n * n / seconds_of(*queue, [&] {
                           product.launch(matrix(to, 0), matrix(from, 0), matrix(from, 1), View{}, View{}, stream);
                         });
  return limits;
}

struct Work {
  double seconds = 0, flops = 0, bytes = 0;  ///< of one step
  double limit(const Limits& of) const { return std::max(flops / of.product_flops, bytes / of.memory_bytes); }
};

const char* class_of(const Op& op) {
  const OpFields f = op.id.fields();
  if (f.kind == OpKind::optimizer) return "optimizer";
  if (f.segment == Segment::attention) return "attention";
  if (f.segment == Segment::embedding) return "embedding";
  return "products";  // with their norms, GELU and cross-entropy
}

/// The least FLOPs and bytes of an op. Causal attention needs half of the products that its full FLOPs count.
Work least_work(const Op& op, const RankProgram& program, const Model& model, const OptimizerRule& rule) {
  if (op.id.kind() == OpKind::optimizer) return {0, 0, moved_bytes(program, op, rule)};
  if (!is_model_compute(op.id.kind())) return {};
  const SegmentSpec& segment = segment_of(model, op.id);
  const bool forward = op.id.kind() == OpKind::forward;
  const double flops = forward ? segment.forward_flops : segment.input_gradient_flops + segment.weight_gradient_flops;
  const double causal = segment.kind == Segment::attention ? 0.5 : 1.0;
  return {0, causal * flops, forward ? segment.forward_bytes : segment.backward_bytes};
}

class Spans : public RankObserver {
 public:
  explicit Spans(const RankProgram& program) {
    for (const Op& op : program.ops) class_[op.id] = class_of(op);
  }
  void span(Lane lane, const Span& span) override {
    if (lane == Lane::compute) ns_[span.step][class_.at(span.op)] += span.end_ns - span.begin_ns;
  }
  void memory(Lane, const MemorySample&) override {}
  void phase(Lane, const PhaseSpan&) override {}
  void step_done(const StepSummary& summary, const StepTrace&) override {
    begins_[summary.step] = summary.begin_ns;
    losses_.push_back(summary.loss);
    peak_ = summary.peak_bytes;
  }
  /// Median over the steps after the warm-up, from each begin to the next step's begin.
  double step_seconds() const {
    std::vector<double> seconds;
    for (const auto& [step, begin] : begins_)
      if (const auto next = begins_.find(step + 1); step >= warm_up && next != begins_.end())
        seconds.push_back(static_cast<double>(next->second - begin) * 1e-9);
    return median_of(std::move(seconds));
  }
  double seconds_of(const std::string& name) const {
    std::vector<double> seconds;
    for (const auto& [step, classes] : ns_)
      if (const auto found = classes.find(name); step >= warm_up && found != classes.end())
        seconds.push_back(static_cast<double>(found->second) * 1e-9);
    return seconds.empty() ? 0 : median_of(std::move(seconds));
  }
  double first_loss() const { return losses_.front(); }
  double last_loss() const { return losses_.back(); }
  /// In the last step.
  std::int64_t peak_of(MemoryClass memory) const { return peak_[static_cast<std::size_t>(memory)]; }

 private:
  static double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.at(values.size() / 2);
  }
  std::map<OpId, std::string> class_;
  std::map<std::uint32_t, std::map<std::string, std::int64_t>> ns_;
  std::map<std::uint32_t, std::int64_t> begins_;
  std::vector<double> losses_;
  ClassBytes peak_{};
};

Scenario scenario_of(const std::string& model, int samples, int micro_batches, int steps, bool narrow_logits) {
  Scenario s;
  s.title = model;
  // The vocabulary is padded to a multiple of 128, as is usual in published measurements.
  if (model == "gpt2-124m") s.model = {"gpt", 12, 768, 12, 1024, 50304, true, 0.0};
  if (model == "gpt2-1.5b") s.model = {"gpt", 48, 1600, 25, 1024, 50304, true, 0.0};
  if (s.model.layers == 0 || s.model.vocabulary != 50304)
    throw std::invalid_argument("there is no model '" + model + "'; there is gpt2-124m and gpt2-1.5b");
  s.plan.micro_batches = micro_batches;
  s.plan.precision = "bf16";
  s.plan.logits = narrow_logits ? "narrow" : "wide";
  s.train.global_batch = samples * micro_batches;
  s.train.steps = steps;
  s.train.optimizer = "adamw";
  s.train.clip = 1.0;
  return s;
}

int run(const std::vector<std::string>& words) {
  const auto number = [&](std::size_t i, int otherwise) { return words.size() > i ? std::stoi(words[i]) : otherwise; };
  const std::string name = words.empty() ? "gpt2-124m" : words[0];
  const int samples = number(1, 16), micro_batches = number(2, 1), steps = std::max(number(3, 20), int{warm_up} + 3);
  const std::string variant = words.size() > 4 ? words[4] : "none";
  const bool narrow_logits = variant == "narrow-logits";
  const StepProgram step = compile(scenario_of(name, samples, micro_batches, steps, narrow_logits));
  std::vector<std::string> without;
  if (variant != "none" && !narrow_logits) without.push_back(variant);
  kernels::Options options = without_paths(without);
  options.notice = [](const std::string& line) { std::cerr << line << std::endl; };
  RunSettings settings;
  settings.platform = open_platform("cuda", 1, 0, options);
  const Limits limits = measure_limits(*settings.platform);
  settings.steps = static_cast<std::uint32_t>(steps);
  std::vector<RankProgram> programs = step.all_programs();
  set_scratch(step, programs, *settings.platform);
  const RankProgram& program = programs.front();
  Spans spans(program);
  std::int64_t used = 0;
  run_loopback(
      step, settings, [&](int) { return &spans; },
      [&](RankRun& rank, int) {
        rank.run(0, settings.steps);
        used = kernels::cuda_used_bytes();
      });

  std::map<std::string, Work> work;
  const OptimizerRule& rule = optimizer_rule(step.scenario.train.optimizer);
  for (const Op& op : program.ops) {
    if (op.lane() != Lane::compute) continue;
    const Work least = least_work(op, program, step.model, rule);
    Work& of_class = work[class_of(op)];
    of_class.flops += least.flops;
    of_class.bytes += least.bytes;
  }
  const double seconds = spans.step_seconds();
  const double tokens = static_cast<double>(samples) * micro_batches * step.model.spec.context;
  const double flops = step.model.model_flops_per_sample() * samples * micro_batches;
  const std::int64_t predicted = memory_profile(program).peak;
  nlohmann::json json = {{"engine", "rankscope"},
                         {"model", name},
                         {"samples", samples},
                         {"variant", without.empty() ? variant : "without " + variant},
                         {"gpu", gpu_line(*settings.platform)},
                         {"limits", {{"product_flops", limits.product_flops}, {"memory_bytes", limits.memory_bytes}}},
                         {"micro_batches", micro_batches},
                         {"step_seconds", seconds},
                         {"tokens_per_s", tokens / seconds},
                         {"mfu", flops / seconds / sheet_flops},
                         {"first_loss", spans.first_loss()},
                         {"loss", spans.last_loss()},
                         {"clock_uncertainty_ns", settings.platform->device->clock_uncertainty_ns()},
                         {"memory",
                          {{"used_bytes", used},
                           {"predicted_bytes", predicted},
                           {"off_by", static_cast<double>(used) / static_cast<double>(predicted) - 1},
                           {"context_bytes", spans.peak_of(MemoryClass::context)},
                           {"context_predicted_bytes", program.context_bytes},
                           {"workspace_bytes", spans.peak_of(MemoryClass::workspace)},
                           {"workspace_predicted_bytes", program.scratch_bytes}}}};
  double busy = 0;
  for (auto& [of, w] : work) {
    w.seconds = spans.seconds_of(of);
    busy += w.seconds;
    json["classes"][of] = {
        {"seconds", w.seconds}, {"of_step", w.seconds / seconds}, {"of_limit", w.limit(limits) / w.seconds}};
  }
  json["idle_of_step"] = 1 - busy / seconds;
  std::cout << json.dump() << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::cerr << "gpu_step: " << e.what() << std::endl;
    return 1;
  }
}
