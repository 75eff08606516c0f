// Times of the GPU's kernels in GPT-2's sizes, each as a share of its own limit: the bytes that it must move, divided
// by the rate of a copy on this device, or its floating-point operations, divided by the rate of a large product.
//
//   cuda_kernels_bench            GPT-2 124M, 16 samples of 1024 tokens
//   cuda_kernels_bench 4          … of 4 samples
//
// Medians of 30 launches after 5 that do not count. Events time each launch, on random data that is larger than the L2
// cache or has been evicted from it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/product_choices.hpp"
#include "kernels/tensor/element.hpp"
#include "kernels/tensor/random.hpp"

using namespace rankscope;
using namespace rankscope::kernels;

namespace {

constexpr int warm_up = 5, repetitions = 30;

class Bench {
 public:
  explicit Bench(std::int64_t scratch_bytes)
      : set_(cuda_kernels(options())), first_(cuda_kernels()), scratch_(scratch_bytes) {}

  const KernelSet& set() const { return set_; }
  /// The same with the library's first algorithm for each product, instead of the fastest.
  const KernelSet& first() const { return first_; }

  /// Random values in [-size, size): the same block of a million values, repeated.
  View random(DType type, Shape shape, double size = 1) {
    const View tensor = empty(type, shape);
    constexpr std::int64_t block = 1 << 20;
    std::vector<std::byte> values(static_cast<std::size_t>(block * bytes_of(type)));
    const View host{values.data(), type, {block}};
    for (std::int64_t i = 0; i < block; ++i)
      set_element(host, i, (2 * uniform(1, 0, static_cast<std::uint64_t>(i)) - 1) * size);
    for (std::int64_t first = 0; first < tensor.elements(); first += block)
      stream_.copy(tensor.as<std::byte>() + first * bytes_of(type), values.data(),
                   std::min(block, tensor.elements() - first) * bytes_of(type));
    stream_.synchronise();
    return tensor;
  }
  View words(std::int64_t count, std::int64_t vocabulary) {
    const View tensor = empty(DType::i32, {count});
    std::vector<std::int32_t> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::int32_t>(uniform(2, 0, i) * static_cast<double>(vocabulary));
    stream_.copy(tensor.data, values.data(), tensor.bytes());
    stream_.synchronise();
    return tensor;
  }
  View empty(DType type, Shape shape) {
    View tensor{nullptr, type, shape};
    memory_.emplace_back(tensor.bytes());
    tensor.data = memory_.back().data();
    return tensor;
  }
  /// Forgets all tensors.
  void clear() { memory_.clear(); }

  Stream stream_for(std::int64_t workspace_bytes) {
    if (workspace_bytes > workspace_.bytes()) workspace_ = DeviceMemory(workspace_bytes);
    return {workspace_.data(), stream_.handle()};
  }
  DeviceStream& stream() { return stream_; }

  /// Median seconds of a launch. Between launches, writes to other memory evict the L2 cache's contents.
  double seconds(const std::function<void()>& launch) {
    std::vector<double> times;
    for (int i = 0; i < warm_up + repetitions; ++i) {
      stream_.fill(scratch_.data(), 0, scratch_.bytes());
      DeviceEvent begin, end;
      begin.record(stream_);
      launch();
      end.record(stream_);
      stream_.synchronise();
      if (i >= warm_up) times.push_back(end.nanoseconds_since(begin) * 1e-9);
    }
    std::nth_element(times.begin(), times.begin() + repetitions / 2, times.end());
    return times[repetitions / 2];
  }

 private:
  static Options options() {
    Options measured;
    measured.choices = std::make_shared<ProductChoices>();
    return measured;
  }

  KernelSet set_, first_;
  DeviceStream stream_;
  DeviceMemory scratch_, workspace_;
  std::vector<DeviceMemory> memory_;
};

struct Limits {
  double bytes_per_s = 0, flop_per_s = 0;
};

Limits measured_limits(Bench& bench) {
  Limits limits;
  const std::int64_t bytes = std::int64_t{2} << 30, n = 8192;
  const View from = bench.random(DType::f32, {bytes / 4}), to = bench.empty(DType::f32, {bytes / 4});
  limits.bytes_per_s =
      2 * static_cast<double>(bytes) / bench.seconds([&] { bench.stream().copy(to.data, from.data, bytes); });
  bench.clear();
  const View a = bench.random(DType::bf16, {n, n}), b = bench.random(DType::bf16, {n, n});
  const View c = bench.empty(DType::bf16, {n, n});
  const auto product =
      bench.set().prepare(&KernelSet::linear_forward,
                          LinearSpec{.type = DType::bf16, .result_type = DType::bf16, .rows = n, .in = n, .out = n});
  const Stream stream = bench.stream_for(product.workspace_bytes);
  limits.flop_per_s = 2.0 * n * n * n / bench.seconds([&] { product.launch(c, a, b, View{}, View{}, stream); });
  bench.clear();
  return limits;
}

class Table {
 public:
  explicit Table(const Limits& limits) : limits_(limits) {
    std::printf("limits measured here: copy %.2f TB/s, bf16 product %.0f TFLOP/s\n\n", limits.bytes_per_s * 1e-12,
                limits.flop_per_s * 1e-12);
    std::printf("%-44s %10s %10s %10s %9s\n", "kernel", "us", "GB/s", "TFLOP/s", "of limit");
  }
  /// One of `bytes` and `flop` may be 0.
  void row(const std::string& name, double seconds, double bytes, double flop) const {
    const double least = std::max(bytes / limits_.bytes_per_s, flop / limits_.flop_per_s);
    std::printf("%-44s %10.1f %10.0f %10.1f %8.0f%%\n", name.c_str(), seconds * 1e6, bytes / seconds * 1e-9,
                flop / seconds * 1e-12, 100 * least / seconds);
    std::fflush(stdout);
  }

 private:
  Limits limits_;
};

struct Sizes {
  std::int64_t samples = 16, context = 1024, width = 768, heads = 12;
  std::int64_t vocabulary = 50304;  // padded to a multiple of 128, as in gpu_step
  std::int64_t tokens() const { return samples * context; }
};

/// Prints a row, and the gain of measuring the library's algorithms. run(prepared, stream).
template <class Op, class Run>
void product(Bench& bench, const Table& table, const std::string& name, Op op, const LinearSpec& spec, double bytes,
             const Run& run) {
  const auto seconds_of = [&](const KernelSet& set) {
    const auto prepared = set.prepare(op, spec);
    const Stream stream = bench.stream_for(prepared.workspace_bytes);
    return bench.seconds([&] { run(prepared, stream); });
  };
  const double fastest = seconds_of(bench.set()), first = seconds_of(bench.first());
  table.row(name, fastest, bytes, 2.0 * static_cast<double>(spec.rows * spec.in * spec.out));
  std::printf("fastest over first algorithm, %s: %.1f us over %.1f us = %.2f\n", name.c_str(), fastest * 1e6,
              first * 1e6, fastest / first);
}

/// y = x·wᵀ and its gradients.
void products(Bench& bench, const Table& table, DType type, const std::string& name, std::int64_t rows, std::int64_t in,
              std::int64_t out, bool bias) {
  const LinearSpec spec{.type = type, .result_type = type, .rows = rows, .in = in, .out = out, .bias = bias};
  LinearSpec weight_spec = spec;
  weight_spec.result_type = DType::f32;
  weight_spec.bias = false;
  weight_spec.accumulate = true;
  LinearSpec input_spec = spec;
  input_spec.bias = false;
  const View x = bench.random(type, {rows, in}), w = bench.random(type, {out, in}), y = bench.random(type, {rows, out});
  const View b = bench.random(type, {out}), dw = bench.random(DType::f32, {out, in});
  const double bytes = static_cast<double>(x.bytes() + w.bytes() + y.bytes());
  product(bench, table, name + " forward", &KernelSet::linear_forward, spec, bytes,
          [&](const auto& op, const Stream& stream) { op.launch(y, x, w, bias ? b : View{}, View{}, stream); });
  product(bench, table, name + " input gradient", &KernelSet::linear_input_gradient, input_spec, bytes,
          [&](const auto& op, const Stream& stream) { op.launch(x, y, w, stream); });
  product(bench, table, name + " weight gradient (fp32, added)", &KernelSet::linear_weight_gradient, weight_spec,
          static_cast<double>(x.bytes() + y.bytes() + 2 * dw.bytes()),
          [&](const auto& op, const Stream& stream) { op.launch(dw, View{}, y, x, stream); });
  bench.clear();
}

/// The op after a product: inside the product's kernel, if the library can do that, compared with a separate kernel.
class Fusion {
 public:
  Fusion(Bench& bench, const Table& table) : bench_(bench), table_(table) {
    Options options;
    options.fused_gelu = options.fused_bias_gradient = false;
    apart_ = cuda_kernels(options);
  }
  template <class Op, class Run>
  void compare(const std::string& name, Op op, const LinearSpec& spec, double bytes, const Run& run) {
    // Both with the library's first algorithm. If the fastest ones are chosen, ops that are slower in one kernel are
    // separate.
    const double fused = time(bench_.first(), op, spec, run), apart = time(apart_, op, spec, run);
    table_.row(name, time(bench_.set(), op, spec, run), bytes,
               2.0 * static_cast<double>(spec.rows * spec.in * spec.out));
    std::printf("fused over apart, %s: %.1f us over %.1f us = %.2f\n", name.c_str(), fused * 1e6, apart * 1e6,
                fused / apart);
  }

 private:
  template <class Op, class Run>
  double time(const KernelSet& set, Op op, const LinearSpec& spec, const Run& run) {
    const auto prepared = set.prepare(op, spec);
    const Stream stream = bench_.stream_for(prepared.workspace_bytes);
    return bench_.seconds([&] { run(prepared, stream); });
  }

  Bench& bench_;
  const Table& table_;
  KernelSet apart_;
};

void fused(Bench& bench, const Table& table, DType type, const std::string& name, std::int64_t rows,
           std::int64_t width) {
  Fusion fusion(bench, table);
  const std::int64_t wide = 4 * width;
  const View x = bench.random(type, {rows, width}), w = bench.random(type, {wide, width});
  const View b = bench.random(type, {wide}), y = bench.random(type, {rows, wide}), before = bench.random(type, y.shape);
  const View dw = bench.random(DType::f32, w.shape), db = bench.random(DType::f32, {wide});
  const double small = static_cast<double>(x.bytes() + w.bytes()), large = static_cast<double>(y.bytes());
  const LinearSpec up{.type = type, .result_type = type, .rows = rows, .in = width, .out = wide, .bias = true};
  fusion.compare(name + " MLP up with GELU", &KernelSet::linear_gelu_forward, up, small + 2 * large,
                 [&](const auto& op, const Stream& stream) { op.launch(y, before, x, w, b, stream); });
  const LinearSpec down{.type = type, .result_type = type, .rows = rows, .in = wide, .out = width};
  const View w_down{w.data, type, {width, wide}};
  fusion.compare(name + " MLP down input gradient, GELU's slope", &KernelSet::linear_gelu_input_gradient, down,
                 small + 2 * large,
                 [&](const auto& op, const Stream& stream) { op.launch(y, x, w_down, before, stream); });
  LinearSpec gradient = up;
  gradient.result_type = DType::f32;
  gradient.accumulate = gradient.accumulate_bias = true;
  fusion.compare(name + " MLP up weight and bias gradient", &KernelSet::linear_weight_gradient, gradient,
                 static_cast<double>(x.bytes() + 2 * dw.bytes()) + large,
                 [&](const auto& op, const Stream& stream) { op.launch(dw, db, y, x, stream); });
  bench.clear();
}

void attention(Bench& bench, const Table& table, DType type, const Sizes& s, const std::string& name) {
  const AttentionSpec spec{type, s.samples, s.context, s.heads, s.width};
  const View qkv = bench.random(type, {s.tokens(), 3 * s.width}), dqkv = bench.empty(type, qkv.shape);
  const View out = bench.empty(type, {s.tokens(), s.width}), dout = bench.random(type, out.shape);
  const View lse = bench.empty(DType::f32, {s.samples, s.heads, s.context});
  // Two products forward and five backward, over the half of the scores that is seen.
  const double product = static_cast<double>(s.samples * s.context * s.context * s.width);
  const auto rows_of = [&](const KernelSet& set, const std::string& by) {
    const auto forward = set.prepare(&KernelSet::attention_forward, spec);
    const auto backward = set.prepare(&KernelSet::attention_backward, spec);
    const Stream stream = bench.stream_for(std::max(forward.workspace_bytes, backward.workspace_bytes));
    table.row(name + " forward" + by, bench.seconds([&] { forward.launch(out, lse, qkv, stream); }),
              static_cast<double>(qkv.bytes() + out.bytes()), 2 * product);
    table.row(name + " backward" + by, bench.seconds([&] { backward.launch(dqkv, dout, qkv, lse, out, stream); }),
              static_cast<double>(qkv.bytes() + dqkv.bytes() + 2 * out.bytes()), 5 * product);
  };
  if (bench.set().options.library_attention) rows_of(bench.set(), " by cuDNN");
  Options own;
  own.library_attention = false;
  rows_of(cuda_kernels(own), "");
  bench.clear();
}

void pointwise(Bench& bench, const Table& table, DType type, const Sizes& s) {
  const std::int64_t rows = s.tokens();
  {
    const View x = bench.random(type, {rows, s.width}), y = bench.empty(type, x.shape);
    const View dy = bench.random(type, x.shape), w = bench.random(type, {s.width}), b = bench.random(type, {s.width});
    const View mean = bench.empty(DType::f32, {rows}), rstd = bench.empty(DType::f32, {rows});
    const View dw = bench.random(DType::f32, {s.width}), db = bench.random(DType::f32, {s.width});
    const NormSpec spec{.type = type, .rows = rows, .width = s.width, .residual = true, .accumulate_weight = true};
    const auto forward = bench.set().prepare(&KernelSet::norm_forward, spec);
    const auto backward = bench.set().prepare(&KernelSet::norm_backward, spec);
    const auto sum = bench.set().prepare(&KernelSet::residual_sum,
                                         DropoutSpec{.type = type, .rows = rows, .width = s.width, .probability = 0.1});
    const Stream stream = bench.stream_for(backward.workspace_bytes);
    const auto size = static_cast<double>(x.bytes());
    table.row("layer norm forward", bench.seconds([&] { forward.launch(y, mean, rstd, x, w, b, stream); }), 2 * size,
              0);
    Options two_passes;
    two_passes.fused_norm = false;
    const auto apart = cuda_kernels(two_passes).prepare(&KernelSet::norm_backward, spec);
    const double one = bench.seconds([&] { backward.launch(y, dw, db, dy, x, mean, rstd, w, dy, stream); });
    const double two = bench.seconds([&] { apart.launch(y, dw, db, dy, x, mean, rstd, w, dy, stream); });
    table.row("layer norm backward", one, 4 * size, 0);
    std::printf("fused over apart, layer norm backward: %.1f us over %.1f us = %.2f\n", one * 1e6, two * 1e6,
                one / two);
    table.row("bias, dropout and residual", bench.seconds([&] {
      sum.launch(y, x, b, dy, DropoutDraw{1, 2, 0}, stream);
    }),
              3 * size, 0);
    bench.clear();
  }
  {
    const View tokens = bench.words(rows, s.vocabulary), wte = bench.random(type, {s.vocabulary, s.width});
    const View wpe = bench.random(type, {s.context, s.width}), y = bench.random(type, {rows, s.width});
    const View dwte = bench.random(DType::f32, wte.shape), dwpe = bench.random(DType::f32, wpe.shape);
    const EmbeddingSpec spec{.type = type,
                             .samples = s.samples,
                             .context = s.context,
                             .vocabulary = s.vocabulary,
                             .width = s.width,
                             .accumulate_tokens = true,
                             .accumulate_positions = true};
    const auto forward = bench.set().prepare(&KernelSet::embedding_forward, spec);
    const auto backward = bench.set().prepare(&KernelSet::embedding_backward, spec);
    const Stream stream = bench.stream_for(backward.workspace_bytes);
    const auto size = static_cast<double>(y.bytes());
    table.row("embedding forward", bench.seconds([&] { forward.launch(y, tokens, wte, wpe, stream); }), 2 * size, 0);
    // At most, every row of the gradient that occurs is read and written once.
    table.row("embedding backward, added", bench.seconds([&] { backward.launch(dwte, dwpe, y, tokens, stream); }),
              size + 4 * static_cast<double>(std::min(rows, s.vocabulary) * s.width), 0);
    bench.clear();
  }
  {
    // As in the head: fp32 logits of some rows at a time, and their rounded gradient.
    const std::int64_t some = std::min<std::int64_t>(rows, bench.set().options.logits_bytes / (4 * s.vocabulary));
    const View logits = bench.random(DType::f32, {some, s.vocabulary}, 4), targets = bench.words(some, s.vocabulary);
    const View gradient = bench.empty(type, logits.shape);
    const View loss = bench.empty(DType::f64, {1});
    const auto op = bench.set().prepare(
        &KernelSet::cross_entropy,
        CrossEntropySpec{.type = type, .logits_type = DType::f32, .rows = some, .vocabulary = s.vocabulary});
    const Stream stream = bench.stream_for(op.workspace_bytes);
    table.row("cross-entropy of fp32 logits, " + std::to_string(some) + " rows",
              bench.seconds([&] { op.launch(gradient, loss, logits, targets, 1e-3, stream); }),
              static_cast<double>(logits.bytes() + gradient.bytes()), 0);
    bench.clear();
  }
}

void optimizer(Bench& bench, const Table& table, DType type, std::int64_t elements) {
  const bool master = bytes_of(type) == 2;
  const View p = bench.random(type, {elements}), held = bench.random(DType::f32, {elements});
  const View m = bench.random(DType::f32, {elements}), v = bench.random(DType::f32, {elements});
  const View g = bench.random(DType::f32, {elements}), norm = bench.empty(DType::f64, {1});
  const auto tensors_of = [&](const std::vector<UpdateOperand>& tensors) {
    return bench.set().prepare(&KernelSet::update, UpdateSpec{UpdateRule::adamw, type, tensors});
  };
  const auto update = tensors_of({{p, master ? held : View{}, g, {m, v}}});
  const auto square = bench.set().prepare(&KernelSet::square_norm, FlatSpec{DType::f32, elements});
  const Stream stream = bench.stream_for(square.workspace_bytes);
  UpdateStep step;
  step.learning_rate = 1e-4;
  step.weight_decay = 0.1;
  step.t = 10;
  const double each = (master ? 28 + 2 : 28);  // g, and p, m, v read and written
  table.row("AdamW of " + std::to_string(elements / 1'000'000) + "M",
            bench.seconds([&] { update.launch(step, stream); }), each * static_cast<double>(elements), 0);
  table.row("square norm of " + std::to_string(elements / 1'000'000) + "M",
            bench.seconds([&] { square.launch(norm.as<double>(), g, stream); }), 4.0 * static_cast<double>(elements),
            0);

  // Divided like a model's parameters, at multiples of an arena's alignment.
  std::vector<UpdateOperand> together;
  SquareNormsSpec norms{DType::f32, {}};
  for (std::int64_t first = 0; first < elements;) {
    const std::size_t count = together.size();
    const std::int64_t expected = count == 0 ? elements / 3 : count % 2 == 0 ? 768 : elements / 120;
    const std::int64_t length = std::min(expected / 64 * 64, elements - first);
    const auto part = [&](const View& of) {
      return View{of.as<std::byte>() + first * bytes_of(of.type), of.type, {length}};
    };
    together.push_back({part(p), master ? part(held) : View{}, part(g), {part(m), part(v)}});
    norms.tensors.push_back(part(g));
    first += length;
  }
  const auto updates = tensors_of(together);
  const auto squares = bench.set().prepare(&KernelSet::square_norms, norms);
  const Stream for_all = bench.stream_for(squares.workspace_bytes);
  const std::string in = ", " + std::to_string(together.size()) + " tensors at once";
  table.row("AdamW of " + std::to_string(elements / 1'000'000) + "M" + in,
            bench.seconds([&] { updates.launch(step, for_all); }), each * static_cast<double>(elements), 0);
  table.row("square norm of " + std::to_string(elements / 1'000'000) + "M" + in,
            bench.seconds([&] { squares.launch(norm.as<double>(), for_all); }), 4.0 * static_cast<double>(elements), 0);
  bench.clear();
}

void run(const CudaDevice& device, Sizes sizes) {
  std::printf("%s, compute capability %d.%d, %d multiprocessors, %.0f GiB\n", device.name.c_str(), device.major,
              device.minor, device.multiprocessors, static_cast<double>(device.memory_bytes) / 0x1p30);
  use_cuda_device(device.index);
  Bench bench(2 * std::max<std::int64_t>(device.l2_bytes, 1 << 20));
  const Table table(measured_limits(bench));
  const std::int64_t rows = sizes.tokens(), width = sizes.width;
  products(bench, table, DType::bf16, "bf16 QKV", rows, width, 3 * width, true);
  products(bench, table, DType::bf16, "bf16 projection", rows, width, width, false);
  products(bench, table, DType::bf16, "bf16 MLP up", rows, width, 4 * width, true);
  products(bench, table, DType::bf16, "bf16 MLP down", rows, 4 * width, width, false);
  products(bench, table, DType::bf16, "bf16 head", std::min<std::int64_t>(rows, 8192), width, sizes.vocabulary, false);
  fused(bench, table, DType::bf16, "bf16", rows, width);
  attention(bench, table, DType::bf16, sizes, "bf16 attention, heads of 64");
  Sizes wide = sizes;
  wide.heads = sizes.width / 128;
  attention(bench, table, DType::bf16, wide, "bf16 attention, heads of 128");
  pointwise(bench, table, DType::bf16, sizes);
  optimizer(bench, table, DType::bf16, 124'000'000);
  products(bench, table, DType::f32, "fp32 MLP up", std::min<std::int64_t>(rows, 4096), width, 4 * width, true);
  Sizes few = sizes;
  few.samples = std::min<std::int64_t>(sizes.samples, 4);
  attention(bench, table, DType::f32, few, "fp32 attention, heads of 64, 4 samples");
}

}  // namespace

int main(int argc, char** argv) {
  std::string reason;
  const auto devices = cuda_devices(&reason);
  if (devices.empty()) {
    std::fprintf(stderr, "cuda_kernels_bench: no GPU: %s\n", reason.c_str());
    return 1;
  }
  Sizes sizes;
  if (argc > 1) sizes.samples = std::max(1L, std::strtol(argv[1], nullptr, 10));
  try {
    run(devices.front(), sizes);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_kernels_bench: %s\n", error.what());
    return 1;
  }
}
