// Speed of the CPU's convolutions at ResNet-50's shapes: GFLOP/s of each, and its share of the speed of a matrix
// product of the same FLOPs, measured in turn with it (unfolded pixels times the weights; the convolutions do not
// unfold); then the rate at which batch norm and pooling read and write memory.
//
//   convolution_bench [--threads 1] [--types fp32,bf16] [--samples 8] [--seconds 0.5] [--clock wall|cpu]
//
// --clock cpu counts the calling thread's CPU time, for one thread on a busy machine.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/cpu/cpu.hpp"

using namespace rankscope;
using kernels::KernelSet;

namespace {

struct Arguments {
  int threads = 1;
  std::int64_t samples = 8;
  double seconds = 0.5;
  clockid_t clock = CLOCK_MONOTONIC;
  std::vector<DType> types{DType::f32, DType::bf16};
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string value = i + 1 < argc ? argv[++i] : "";
    if (word == "--threads" && !value.empty()) {
      arguments.threads = std::stoi(value);
    } else if (word == "--samples" && !value.empty()) {
      arguments.samples = std::stoll(value);
    } else if (word == "--seconds" && !value.empty()) {
      arguments.seconds = std::stod(value);
    } else if (word == "--clock" && !value.empty()) {
      arguments.clock = value == "cpu" ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    } else if (word == "--types" && !value.empty()) {
      arguments.types.clear();
      std::istringstream in(value);
      for (std::string name; std::getline(in, name, ',');)
        for (const DType type : {DType::f64, DType::f32, DType::bf16, DType::f16})
          if (name == name_of(type)) arguments.types.push_back(type);
    } else {
      std::fprintf(stderr,
                   "usage: convolution_bench [--threads 1] [--types fp32,bf16] [--samples 8] [--seconds 0.5] [--clock "
                   "wall|cpu]\n");
      std::exit(2);
    }
  }
  return arguments;
}

/// A tensor's memory, filled with small numbers.
class Tensor {
 public:
  Tensor(Shape shape, DType type) : memory_(static_cast<std::size_t>(shape.elements() * bytes_of(type)) + 64) {
    void* begin = memory_.data();
    std::size_t space = memory_.size();
    view_ = {std::align(64, 1, begin, space), type, shape};
    for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = static_cast<std::byte>(0x3C + i % 2);
  }
  operator View() const { return view_; }

 private:
  std::vector<std::byte> memory_;
  View view_;
};

double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Seconds of each work: they run in turn for `seconds` together and each at least five times, after one round that
/// does not count. Returns each one's minimum, since other programs can only make it slower.
std::vector<double> least_seconds(clockid_t clock, double seconds, const std::vector<std::function<void()>>& works) {
  std::vector<double> least(works.size(), INFINITY);
  double sum = 0;
  for (int round = 0; round < 6 || sum < seconds; ++round)
    for (std::size_t w = 0; w < works.size(); ++w) {
      const double begin = now(clock);
      works[w]();
      const double took = now(clock) - begin;
      if (round == 0) continue;
      least[w] = std::min(least[w], took);
      sum += took;
    }
  return least;
}

const kernels::ConvolutionSpec shapes[] = {
    {DType::f32, 0, 224, 224, 3, 64, 7, 2, 3},   {DType::f32, 0, 56, 56, 64, 64, 1, 1, 0},
    {DType::f32, 0, 56, 56, 64, 64, 3, 1, 1},    {DType::f32, 0, 56, 56, 64, 256, 1, 1, 0},
    {DType::f32, 0, 28, 28, 128, 128, 3, 2, 1},  {DType::f32, 0, 28, 28, 128, 128, 3, 1, 1},
    {DType::f32, 0, 28, 28, 512, 1024, 1, 2, 0}, {DType::f32, 0, 14, 14, 256, 256, 3, 1, 1},
    {DType::f32, 0, 7, 7, 512, 512, 3, 1, 1},    {DType::f32, 0, 7, 7, 512, 2048, 1, 1, 0}};

void measure(const KernelSet& set, kernels::ConvolutionSpec spec, const Arguments& arguments) {
  spec.samples = arguments.samples;
  const DType wide = spec.type == DType::f64 ? DType::f64 : DType::f32;
  const std::int64_t rows = spec.samples * spec.out_height() * spec.out_width();
  const std::int64_t depth = std::int64_t{spec.kernel} * spec.kernel * spec.in;
  const Tensor x({spec.samples, spec.height, spec.width, spec.in}, spec.type);
  const Tensor dx({spec.samples, spec.height, spec.width, spec.in}, spec.type);
  const Tensor w({spec.out, depth}, spec.type), dw({spec.out, depth}, wide);
  const Tensor y({rows, spec.out}, spec.type), columns({rows, depth}, spec.type);
  const auto forward = set.prepare(&KernelSet::convolution_forward, spec);
  const auto input_gradient = set.prepare(&KernelSet::convolution_input_gradient, spec);
  const auto weight_gradient = set.prepare(&KernelSet::convolution_weight_gradient, spec);
  const auto product = set.prepare(
      &KernelSet::linear_forward,
      kernels::LinearSpec{.type = spec.type, .result_type = spec.type, .rows = rows, .in = depth, .out = spec.out});
  const Tensor workspace({std::max({forward.workspace_bytes, input_gradient.workspace_bytes,
                                    weight_gradient.workspace_bytes, product.workspace_bytes})},
                         DType::u8);
  const kernels::Stream stream{View(workspace).as<std::byte>(), nullptr};
  const auto seconds = least_seconds(
      arguments.clock, arguments.seconds,
      {[&] { product.launch(y, columns, w, {}, {}, stream); }, [&] { forward.launch(y, x, w, stream); },
       [&] { input_gradient.launch(dx, y, w, stream); }, [&] { weight_gradient.launch(dw, y, x, stream); }});
  const double flops = 2.0 * static_cast<double>(rows) * static_cast<double>(depth) * static_cast<double>(spec.out);
  std::printf("%-5s %3dx%-3d %4d -> %-4d %dx%d /%d %9.2f", std::string(name_of(spec.type)).c_str(),
              static_cast<int>(spec.height), static_cast<int>(spec.width), static_cast<int>(spec.in),
              static_cast<int>(spec.out), spec.kernel, spec.kernel, spec.stride, flops * 1e-9);
  std::printf(" %9.1f", flops / seconds[0] * 1e-9);
  for (std::size_t i = 1; i < 4; ++i)
    std::printf(" %9.1f %4.0f%%", flops / seconds[i] * 1e-9, 100 * seconds[0] / seconds[i]);
  std::printf("\n");
}

void measure_memory(const KernelSet& set, DType type, const Arguments& arguments) {
  const DType wide = type == DType::f64 ? DType::f64 : DType::f32;
  const kernels::BatchNormSpec spec{
      .type = type, .rows = arguments.samples * 56 * 56, .channels = 256, .residual = true, .relu = true};
  const Shape shape{spec.rows, spec.channels};
  const Tensor x(shape, type), y(shape, type), branch(shape, type), dx(shape, type);
  const Tensor weight({256}, type), bias({256}, type), mean({256}, wide), rstd({256}, wide);
  const Tensor dweight({256}, wide), dbias({256}, wide);
  const kernels::PoolSpec pool{type, arguments.samples, 112, 112, 64, 3, 2, 1};
  const Tensor pixels({arguments.samples, 112, 112, 64}, type), dpixels({arguments.samples, 112, 112, 64}, type);
  const Tensor pooled({arguments.samples, 56, 56, 64}, type), index({arguments.samples, 56, 56, 64}, DType::i32);
  const auto forward = set.prepare(&KernelSet::batch_norm_forward, spec);
  const auto backward = set.prepare(&KernelSet::batch_norm_backward, spec);
  const auto pool_forward = set.prepare(&KernelSet::max_pool_forward, pool);
  const auto pool_backward = set.prepare(&KernelSet::max_pool_backward, pool);
  const auto add = set.prepare(&KernelSet::add, kernels::ElementwiseSpec{type, spec.rows, spec.channels});
  const Tensor workspace({std::max(forward.workspace_bytes, backward.workspace_bytes)}, DType::u8);
  const kernels::Stream stream{View(workspace).as<std::byte>(), nullptr};
  const auto seconds =
      least_seconds(arguments.clock, arguments.seconds,
                    {[&] { add.launch(y, x, branch, stream); },
                     [&] { forward.launch(y, mean, rstd, x, weight, bias, branch, stream); },
                     [&] { backward.launch(dx, dweight, dbias, branch, dx, y, x, mean, rstd, weight, stream); },
                     [&] { pool_forward.launch(pooled, index, pixels, stream); },
                     [&] { pool_backward.launch(dpixels, pooled, index, stream); }});
  const double tensor = static_cast<double>(View(x).bytes());
  const double image = static_cast<double>(View(pixels).bytes());
  const double of_pool = image + static_cast<double>(View(pooled).bytes() + View(index).bytes());
  const double bytes[] = {3 * tensor, 4 * tensor, 8 * tensor, of_pool, of_pool};
  const char* names[] = {"sum", "batch norm forward", "batch norm backward", "pool forward", "pool backward"};
  std::printf("%-5s", std::string(name_of(type)).c_str());
  for (std::size_t i = 0; i < 5; ++i) std::printf("  %s %.1f GB/s", names[i], bytes[i] / seconds[i] * 1e-9);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  kernels::Options options;
  options.threads = arguments.threads;
  const KernelSet set = kernels::cpu_kernels(options);
  std::printf("%d samples, %d threads\n%-34s %9s %9s %15s %15s %15s\n", static_cast<int>(arguments.samples),
              arguments.threads, "", "GFLOP", "product", "forward", "input gradient", "weight gradient");
  for (const DType type : arguments.types)
    for (kernels::ConvolutionSpec spec : shapes) {
      spec.type = type;
      measure(set, spec, arguments);
    }
  for (const DType type : arguments.types) measure_memory(set, type, arguments);
}
