// Speed of one rank: tokens/s and FLOP/s of forward, backward and AdamW of a 6-layer, 6-head, 384-wide, 256-context,
// batch 8, byte-vocabulary model, and the share of the speed of its matrix products alone.
//
//   step_speed [--threads 1,2] [--types fp32,bf16] [--seconds 3] [--clock wall|cpu] [--parts] [--json]
//
// --parts adds the share of each kind of segment; --json prints one object for each line of the table instead; --clock
// cpu counts the calling thread's CPU time, for one thread on a busy machine. peer_pytorch.py measures the same model
// in PyTorch, and compare_with_pytorch.py runs both in turn.
#include <time.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engine/execute/optimizer/optimizer.hpp"
#include "kernels/cpu/cpu.hpp"
#include "tests/engine/execute/layers/hand_laid.hpp"
#include "tests/engine/execute/optimizer/optimizer_states.hpp"

using namespace rankscope;

namespace {

struct Arguments {
  std::vector<std::string> threads{"1", "2"}, types{"fp32", "bf16"};
  double seconds = 3;
  bool parts = false, json = false, cpu_clock = false;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--threads" && has_value)
      arguments.threads = split(argv[++i]);
    else if (word == "--types" && has_value)
      arguments.types = split(argv[++i]);
    else if (word == "--seconds" && has_value)
      arguments.seconds = std::stod(argv[++i]);
    else if (word == "--clock" && has_value)
      arguments.cpu_clock = std::string(argv[++i]) == "cpu";
    else if (word == "--parts")
      arguments.parts = true;
    else if (word == "--json")
      arguments.json = true;
    else {
      std::fprintf(stderr,
                   "usage: step_speed [--threads 1,2] [--types fp32,bf16] [--seconds 3] "
                   "[--clock wall|cpu] [--parts] [--json]\n");
      std::exit(2);
    }
  }
  return arguments;
}

/// Reads the chosen clock, in seconds.
class Clock {
 public:
  explicit Clock(bool cpu) : id_(cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC) {}
  double now() const {
    timespec time{};
    clock_gettime(id_, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

 private:
  clockid_t id_;
};

double seconds_of(const Clock& clock, const std::function<void()>& run) {
  const double begin = clock.now();
  run();
  return clock.now() - begin;
}

/// Median of at least five runs that take `seconds` together, after two that do not count.
double median_seconds(const Clock& clock, double seconds, const std::function<void()>& run) {
  run();
  run();
  std::vector<double> times;
  double sum = 0;
  while (sum < seconds || times.size() < 5) {
    times.push_back(seconds_of(clock, run));
    sum += times.back();
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

Scenario scenario_of(const std::string& precision) {
  Scenario scenario;
  scenario.model = {.kind = "gpt",
                    .layers = 6,
                    .width = 384,
                    .heads = 6,
                    .context = 256,
                    .vocabulary = 256,
                    .tied = true,
                    .dropout = 0};
  scenario.train.global_batch = 8;
  scenario.plan.precision = precision;
  return scenario;
}

/// The optimizer of a hand-laid model, with its states.
class Optimizer {
 public:
  Optimizer(const TrainSpec& train, test::HandLaid& rank, const kernels::KernelSet& kernels) {
    std::vector<UpdateOperands> operands;
    for (std::size_t p = 0; p < rank.model().parameters.size(); ++p) {
      UpdateOperands operand{rank.parameter(static_cast<int>(p)), rank.gradient(static_cast<int>(p)), {}, false};
      for (const StateSpec& state : optimizer_states(train, rank.model().type, operand.parameter.shape)) {
        memory_.emplace_back(static_cast<std::size_t>(operand.parameter.elements()));
        const View view{memory_.back().data(), state.type, state.shape};
        operand.states.push_back(view);
        if (state.name == "master") {
          for (std::int64_t i = 0; i < view.elements(); ++i)
            view.as<float>()[i] = std::bit_cast<float>(std::uint32_t{operand.parameter.as<std::uint16_t>()[i]} << 16);
        }
      }
      operands.push_back(operand);
    }
    update_ = bind_update(train, operands, nullptr, kernels, workspace_);
    workspace_.reserve();
  }
  void run(const LaunchContext& context) const { update_(context); }

 private:
  std::vector<std::vector<float>> memory_;
  Workspace workspace_;
  Launch update_;
};

/// Seconds of the model's matrix products alone: the three of every linear layer, without attention's.
double product_seconds(const Clock& clock, const Model& model, const kernels::KernelSet& set, double seconds) {
  using kernels::KernelSet;
  const std::int64_t width = model.spec.width, tokens = model.tokens(), vocabulary = model.spec.vocabulary;
  struct Product {
    std::int64_t in, out, count;
  };
  const Product products[] = {{width, 3 * width, model.spec.layers},
                              {width, width, model.spec.layers},
                              {width, 4 * width, model.spec.layers},
                              {4 * width, width, model.spec.layers},
                              {width, vocabulary, 1}};
  double sum = 0;
  for (const Product& product : products) {
    kernels::LinearSpec spec{
        .type = model.type, .result_type = model.type, .rows = tokens, .in = product.in, .out = product.out};
    const auto forward = set.prepare(&KernelSet::linear_forward, spec);
    const auto input_gradient = set.prepare(&KernelSet::linear_input_gradient, spec);
    spec.result_type = accumulation_type(model.type);
    const auto weight_gradient = set.prepare(&KernelSet::linear_weight_gradient, spec);
    Workspace memory;
    const std::int64_t x_bytes = tokens * product.in * 4, y_bytes = tokens * product.out * 4;
    const std::int64_t w_bytes = product.in * product.out * 4;
    memory.require(
        x_bytes + y_bytes + 2 * w_bytes +
        std::max({forward.workspace_bytes, input_gradient.workspace_bytes, weight_gradient.workspace_bytes}));
    memory.reserve();
    std::memset(memory.data(), 0, static_cast<std::size_t>(memory.bytes()));
    const View x{memory.data(), model.type, {tokens, product.in}};
    const View y{memory.data() + x_bytes, model.type, {tokens, product.out}};
    const View w{memory.data() + x_bytes + y_bytes, model.type, {product.out, product.in}};
    const View dw{memory.data() + x_bytes + y_bytes + w_bytes, spec.result_type, {product.out, product.in}};
    const kernels::Stream stream{memory.data() + x_bytes + y_bytes + 2 * w_bytes, nullptr};
    sum += static_cast<double>(product.count) * median_seconds(clock, seconds / 10, [&] {
             forward.launch(y, x, w, View{}, View{}, stream);
             input_gradient.launch(x, y, w, stream);
             weight_gradient.launch(dw, View{}, y, x, stream);
           });
  }
  return sum;
}

void print_parts(const Clock& clock, test::HandLaid& rank, const Optimizer& optimizer, const LaunchContext& context,
                 double seconds) {
  const Model& model = rank.model();
  std::map<std::string, std::vector<double>> samples;
  std::vector<std::string> order;
  double spent = 0;
  while (spent < seconds) {
    std::map<std::string, double> sums;
    const auto add = [&](const std::string& name, const std::function<void()>& run) {
      if (!samples.count(name)) samples[name], order.push_back(name);
      sums[name] += seconds_of(clock, run);
    };
    for (std::size_t s = 0; s < model.segments.size(); ++s)
      add("forward " + std::string(name_of(model.segments[s].kind)), [&] { rank.forward(context, s, s + 1); });
    for (std::size_t s = model.segments.size(); s-- > 0;)
      add("backward " + std::string(name_of(model.segments[s].kind)), [&] { rank.backward_of(s, context, false); });
    add("update", [&] { optimizer.run(context); });
    for (const auto& [name, sum] : sums) samples[name].push_back(sum), spent += sum;
  }
  std::map<std::string, double> flops;
  for (const SegmentSpec& segment : model.segments) {
    flops["forward " + std::string(name_of(segment.kind))] += segment.forward_flops;
    flops["backward " + std::string(name_of(segment.kind))] +=
        segment.input_gradient_flops + segment.weight_gradient_flops;
  }
  double sum = 0;
  for (auto& [name, times] : samples) {
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    sum += times[times.size() / 2];
  }
  for (const std::string& name : order) {
    const double part = samples[name][samples[name].size() / 2];
    std::printf("    %-20s %8.3f ms %5.1f%% %8.1f GFLOP/s\n", name.c_str(), part * 1e3, 100 * part / sum,
                flops[name] / part * 1e-9);
  }
}

void measure(const Arguments& arguments, int threads, const std::string& type) {
  const Clock clock(arguments.cpu_clock);
  kernels::Options options;
  options.threads = threads;
  const kernels::KernelSet set = kernels::cpu_kernels(options);
  const Scenario scenario = scenario_of(type);
  test::HandLaid rank(make_model(scenario), set, 1, false);
  const Optimizer optimizer(scenario.train, rank, set);
  const Model& model = rank.model();
  const test::Batch batch = test::random_batch(model.tokens(), model.spec.vocabulary, 1);
  rank.set_batch(batch.tokens, batch.targets);
  LaunchContext context{.global_tokens = model.tokens()};

  double loss = 0;
  const double step = median_seconds(clock, arguments.seconds, [&] {
    loss = rank.forward(context) / static_cast<double>(model.tokens());
    rank.backward(context, false);
    optimizer.run(context);
    ++context.step;
  });
  const double products = product_seconds(clock, model, set, arguments.seconds);
  const double tokens = static_cast<double>(model.tokens());
  const double flops = model.model_flops_per_sample() * model.micro_batch_size;
  if (arguments.json) {
    std::printf(
        "{\"engine\": \"rankscope\", \"type\": \"%s\", \"threads\": %d, \"step_seconds\": %.6f, "
        "\"tokens_per_s\": %.1f, \"flops_per_s\": %.4g, \"products_seconds\": %.6f, \"loss\": %.4f}\n",
        type.c_str(), threads, step, tokens / step, flops / step, products, loss);
  } else {
    std::printf(
        "%-5s %d threads %9.2f ms %9.0f tokens/s %8.1f GFLOP/s   products alone %8.2f ms (%2.0f%%)   loss %.4f\n",
        type.c_str(), threads, step * 1e3, tokens / step, flops / step * 1e-9, products * 1e3, 100 * products / step,
        loss);
    if (arguments.parts) print_parts(clock, rank, optimizer, context, arguments.seconds);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  for (const std::string& type : arguments.types)
    for (const std::string& threads : arguments.threads) measure(arguments, std::stoi(threads), type);
}
