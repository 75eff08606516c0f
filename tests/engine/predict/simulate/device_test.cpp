#include "engine/predict/cost/device.hpp"

#include <algorithm>

#include "engine/plan/model/model.hpp"
#include "engine/predict/cost/kernels.hpp"
#include "engine/predict/cost/ledger.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

/// Ten multiprocessors of 1e9 FLOP/s each, tiles of 8 × 4, a memory of 1e12 bytes/s, no launch cost: round numbers.
ClusterSpec small() {
  ClusterSpec c;
  c.spec = "small";
  c.peak_flops_fp32 = 10e9;
  c.memory_bandwidth = 1e12;
  c.multiprocessors = 10;
  c.tile_rows = 8;
  c.tile_columns = 4;
  return c;
}

/// Seconds of one tile of 8 × 4 with inner dimension k: arithmetic, then writing 32 floats at a tenth of the memory's
/// bandwidth.
double tile(double k) { return 2 * 32 * k / 1e9 + 32 * 4 / 1e11; }

}  // namespace

TEST_CASE("a product of one full wave of tiles takes as long as one tile") {
  const ClusterSpec c = small();
  CHECK(product_seconds(c, DType::f32, {80, 4, 1000}) == Approx(tile(1000)));
  CHECK(product_seconds(c, DType::f32, {40, 8, 1000}) == Approx(tile(1000)));
}

TEST_CASE("one tile more than a wave costs a wave more, and so do all up to the next full one") {
  ClusterSpec c = small();
  c.tile_columns = c.tile_rows = 8;  // smaller tiles are 4 × 8 and 4 × 4
  const double wave = 2 * 64 * 1000 / 1e9 + 64 * 4 / 1e11;
  CHECK(product_seconds(c, DType::f32, {80, 8, 1000}) == Approx(wave));
  // Eleven tiles of 8 × 8 are two waves; those of 4 × 8, which take half as long, three; those of 4 × 4, a quarter,
  // five.
  CHECK(product_seconds(c, DType::f32, {88, 8, 1000}) == Approx(1.25 * wave));
  CHECK(product_seconds(c, DType::f32, {160, 8, 1000}) == Approx(2 * wave));
  // Sixteen tiles of 8 × 8 are two waves; 62 of 4 × 4 are seven waves of a quarter.
  CHECK(product_seconds(c, DType::f32, {121, 8, 1000}) == Approx(1.75 * wave));
}

TEST_CASE("a tile that is partly outside is computed completely") {
  const ClusterSpec c = small();
  CHECK(product_seconds(c, DType::f32, {73, 3, 1000}) == Approx(tile(1000)));
}

TEST_CASE("small batches of products fill a wave together") {
  const ClusterSpec c = small();
  CHECK(product_seconds(c, DType::f32, {8, 4, 1000, 10}) == Approx(product_seconds(c, DType::f32, {80, 4, 1000})));
}

TEST_CASE("a short inner dimension is slow, because nothing is computed while a tile is written") {
  ClusterSpec c = small();
  c.memory_bandwidth = 1e10;  // a multiprocessor writes 1e9 bytes/s: a tile of 32 floats in 128 ns
  const auto rate = [&](std::int64_t k) { return 2.0 * 80 * 4 * k / product_seconds(c, DType::f32, {80, 4, k}); };
  CHECK(rate(2) == Approx(10e9 * 128 / (128 + 128)));
  CHECK(rate(1000) == Approx(10e9 * 64000 / (64000 + 128)));
}

TEST_CASE("idle multiprocessors share a long inner dimension, and the sum of their parts goes through memory") {
  const ClusterSpec c = small();
  // Two tiles; each inner dimension is divided into four parts, which makes eight.
  const double parts = tile(100'000 / 4) + 2 * 4 * (16 * 4) * 4 / 1e12;
  CHECK(product_seconds(c, DType::f32, {16, 4, 100'000}) == Approx(parts));
}

TEST_CASE("rows that are not multiples of 16 bytes are loaded in smaller pieces, at less of the cache's bandwidth") {
  ClusterSpec c = small();
  // A tile loads 12 numbers of 4 bytes for 64 FLOPs: at 1e9 FLOP/s these are 0.75e9 bytes/s for each multiprocessor.
  c.cache_bandwidth = 10 * 1.5e9;
  const auto seconds = [&](std::int64_t k) { return product_seconds(c, DType::f32, {80, 4, k}); };
  CHECK(seconds(1000) == Approx(tile(1000)));  // k and n multiples of 4
  CHECK(seconds(1002) == Approx(tile(1002)));  // pieces of 8 bytes: fast enough
  CHECK(seconds(1001) > 1.9 * seconds(1000));  // pieces of 4 bytes: twice as slow
}

TEST_CASE("no product beats the roofline, and without multiprocessors it is the roofline") {
  ClusterSpec c = small();
  for (const std::int64_t k : {1, 7, 64, 1000}) {
    const Product p{100, 60, k};
    const double roofline = std::max(p.flops() / 10e9, p.bytes(DType::f32) / 1e12);
    c.multiprocessors = 10;
    CHECK(product_seconds(c, DType::f32, p) >= roofline * (1 - 1e-12));
    c.multiprocessors = 0;
    CHECK(product_seconds(c, DType::f32, p) == Approx(roofline));
  }
}

TEST_CASE("a product without the peak of its precision is refused by name") {
  CHECK_THROWS_WITH(product_seconds(small(), DType::f64, {8, 8, 8}), ContainsText("peak FLOP/s"));
}

TEST_CASE("bytes go through memory at its efficiency, after a launch") {
  ClusterSpec c = small();
  c.memory_efficiency = 0.5;
  c.op_overhead_s = 3e-6;
  CHECK(memory_seconds(c, 1e6) == Approx(2e-6 + 3e-6));
}

TEST_CASE(
    "layer norms on an A100 of 40 GB take what NVIDIA measured: 53.5 and 86.6 µs, and 75.1 and 176.2 by older "
    "kernels") {
  // 32 sequences of 512 tokens, 1,024 wide (NVIDIA/apex, pull request 1037).
  Scenario s;
  s.model = {"gpt", 1, 1024, 16, 512, 1024, true, 0};
  s.plan.precision = "fp16";
  s.plan.tensor = 2;  // only with tensor ranks, norms are separate segments
  s.train.global_batch = 32;
  s.cluster.memory_bandwidth = 1.555e12;
  const Model model = make_model(s);
  const auto norm = std::find_if(model.segments.begin(), model.segments.end(),
                                 [](const SegmentSpec& segment) { return segment.kind == Segment::final_norm; });
  REQUIRE(norm != model.segments.end());
  const auto seconds = [&](const std::vector<Kernel>& kernels) {
    double sum = 0;
    for (const Kernel& kernel : kernels) sum += kernel_seconds(s.cluster, DType::f16, kernel);
    return sum;
  };
  const SegmentKernels persistent = kernels_of(model, *norm, s.cluster);
  CHECK(seconds(persistent.forward) == Approx(53.5e-6).epsilon(0.003));
  CHECK(seconds(persistent.input_gradient) == Approx(86.6e-6).epsilon(0.003));
  s.cluster.software.persistent_norm = false;
  const SegmentKernels older = kernels_of(model, *norm, s.cluster);
  CHECK(seconds(older.forward) == Approx(75.1e-6).epsilon(0.003));
  CHECK(seconds(older.input_gradient) == Approx(176.2e-6).epsilon(0.003));
}

TEST_CASE("flash attention is within 7 % of what was measured on an A100 and an H100, from 512 to 16,384 tokens") {
  // TFLOP/s of forward and backward of causal attention, 16 heads of 128, 16,384 tokens in total (Dao 2023, arXiv
  // 2307.08691, figures 4 and 7). Only the values for 2,048 tokens are constants of the model.
  struct Row {
    int tokens;
    double a100, h100;
  };
  for (const Row& row : {Row{512, 99, 163}, Row{1024, 131, 221}, Row{2048, 155, 265}, Row{4096, 182, 294},
                         Row{8192, 189, 308}, Row{16384, 189, 328}}) {
    Scenario s;
    s.model = {"gpt", 1, 2048, 16, row.tokens, 1024, true, 0};
    s.plan.precision = "fp16";
    s.train.global_batch = 16384 / row.tokens;
    const Model model = make_model(s);
    const auto attention = std::find_if(model.segments.begin(), model.segments.end(),
                                        [](const SegmentSpec& one) { return one.kind == Segment::attention; });
    REQUIRE(attention != model.segments.end());
    const auto rate = [&](double peak, double bandwidth, double share) {
      ClusterSpec c;
      c.spec = "one";
      c.software.attention = "flash";
      c.peak_flops_fp16 = peak;
      c.memory_bandwidth = bandwidth;
      c.flash_share = share;
      const SegmentKernels kernels = kernels_of(model, *attention, c);
      double seconds = 0;
      for (const auto* of : {&kernels.forward, &kernels.input_gradient})
        for (const Kernel& kernel : *of) seconds += kernel_seconds(c, DType::f16, kernel);
      // 4 s² d per head forward, two and a half times as many backward; half of them are above the diagonal and not
      // computed.
      return 3.5 * 2 * row.tokens * 16384.0 * 2048 / seconds / 1e12;
    };
    INFO(row.tokens << " tokens");
    CHECK(rate(312e12, 2.039e12, ClusterSpec{}.flash_share) == Approx(row.a100).epsilon(0.07));
    CHECK(rate(989e12, 3.35e12, 0.330) == Approx(row.h100).epsilon(0.07));
  }
}

TEST_CASE("an AdamW step in separate passes moves 62 bytes a parameter in fp16, and 34 where it is one") {
  ClusterSpec in_passes, in_one, as_said;
  in_passes.software.fused = false;
  in_one.software.fused = true;
  as_said.software.update_bytes = 92;
  // Cast 2 + 4, unscale 4 + 4, norm 4, clip 4 + 4, AdamW 4 + 6 · 4, cast back 4 + 2, zero 2.
  CHECK(update_bytes_per_parameter(in_passes, 2, 2, 12, true) == 62);
  // fp32 gradients need no cast, bf16 no scale: norm 4, clip 8, AdamW 28, cast back 6, zero 4.
  CHECK(update_bytes_per_parameter(in_passes, 2, 4, 12, false) == 50);
  // Gradients read by the norm and by the update, states 6 · 4, the weight written.
  CHECK(update_bytes_per_parameter(in_one, 2, 4, 12, false) == 34);
  CHECK(update_bytes_per_parameter(as_said, 2, 4, 12, false) == 92);
}

TEST_CASE(
    "scale, mask and softmax move 4 bytes a score as one kernel, 16 each alone, and 36 where scores are fp32 "
    "meanwhile") {
  Scenario s;
  s.model = {"gpt", 1, 64, 4, 128, 64, true, 0.0};
  s.plan.precision = "fp16";
  s.train.global_batch = 2;
  s.cluster.software.attention = "stored";
  const Model model = make_model(s);
  const auto attention = std::find_if(model.segments.begin(), model.segments.end(),
                                      [](const SegmentSpec& segment) { return segment.kind == Segment::attention; });
  REQUIRE(attention != model.segments.end());
  const double scores = 2 * 4 * 128.0 * 128, heads = 2 * 128 * 64 * 2.0;
  const auto bytes = [&](const std::vector<Kernel>& kernels, double beside) {
    double sum = 0;
    for (const Kernel& kernel : kernels) sum += kernel.bytes;
    return (sum - beside) / scores;
  };
  const auto kept = [&] { return kept_by_block(model, s.cluster, false).tensors / scores; };
  const auto check = [&](double forward, double backward) {
    const SegmentKernels kernels = kernels_of(model, *attention, s.cluster);
    CHECK(bytes(kernels.forward, 2 * heads) == Approx(forward));
    CHECK(bytes(kernels.input_gradient, (2 + 6) * heads) == Approx(backward));
  };
  check(4, 6);
  const double before = kept();
  s.cluster.software.separate_kernels = true;
  check(16, 6 + 8);
  s.cluster.software.wide_scores = true;
  // Cast 2 + 4, scale 8, mask 8, softmax 8, cast back 4 + 2; the gradient of softmax reads two tensors and writes one.
  check(6 + 3 * 8 + 6, 6 + 12 + 2 * 8 + 6);
  CHECK(kept() - before == Approx(2));  // softmax keeps its fp32 result
  s.cluster.software.separate_kernels = false;
  check(4, 6);
}

TEST_CASE("heads with unaligned rows prevent batched products on the tensor cores") {
  ClusterSpec c = small();
  c.peak_flops_fp16 = 160e9;
  const auto seconds = [&](std::int64_t head, std::int64_t batch) {
    return product_seconds(c, DType::f16, {160, 160, head, batch});
  };
  // 104 and 112 elements are multiples of 16 bytes, 108 are not: sixteen times as slow, as fast as fp32.
  CHECK(seconds(112, 8) < 1.2 * seconds(104, 8));
  CHECK(seconds(108, 8) > 10 * seconds(104, 8));
  CHECK(seconds(108, 8) == Approx(product_seconds(c, DType::f32, {160, 160, 108, 8})).epsilon(0.1));
  CHECK(seconds(108, 1) < 2.5 * seconds(104, 1));  // a single product has kernels for any alignment
}

TEST_CASE("a Llama's kernels move what its layers have: grouped keys and values, gate and up, and no biases") {
  Scenario s;
  s.model = {.kind = "llama", .layers = 1, .width = 256, .heads = 8, .context = 64, .vocabulary = 512};
  s.model.key_value_heads = 2;
  s.model.inner = 640;
  s.train.global_batch = 3;
  s.plan.tensor = 2;
  s.plan.precision = "bf16";
  const double rows = 3 * 64, element = 2, share = 128, keys = 32, inner = 320;  // of a rank
  const Model model = make_model(s);
  ClusterSpec cluster = small();
  cluster.software.separate_kernels = true;  // in which a GPT's biases are kernels
  const auto bytes = [&](Segment kind) {
    const SegmentKernels kernels = kernels_of(model, model.segment(0, kind), cluster);
    std::pair<std::vector<double>, std::vector<double>> both;
    for (const Kernel& kernel : kernels.forward)
      if (kernel.product.m == 0) both.first.push_back(kernel.bytes);
    for (const Kernel& kernel : kernels.input_gradient)
      if (kernel.product.m == 0) both.second.push_back(kernel.bytes);
    return both;
  };
  using Bytes = std::vector<double>;
  const double turned = 2 * rows * (share + keys) * element;
  CHECK(bytes(Segment::attention).first == Bytes{turned, rows * (2 * share + 2 * keys) * element});
  CHECK(bytes(Segment::attention).second == Bytes{turned, 2 * rows * (2 * share + 2 * keys) * element});
  CHECK(bytes(Segment::qkv).first.empty());
  CHECK(bytes(Segment::up).first == Bytes{3 * rows * inner * element});
  CHECK(bytes(Segment::down).second == Bytes{5 * rows * inner * element});
  CHECK(bytes(Segment::output).first == Bytes{3 * rows * 256 * element});
  CHECK(bytes(Segment::output).second.empty());
}
