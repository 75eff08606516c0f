// Closed forms for which papers print figures, compared to every printed digit.
#include <cmath>

#include "engine/plan/collective/cost.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/fold/folded.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

Scenario selene(ModelSpec model) {
  Scenario s = parse_scenario("[cluster]\nspec = \"selene\"\n", test::source_folder() + "/scenarios/labs/x.toml");
  s.model = std::move(model);
  s.plan.precision = "fp16";
  return s;
}

}  // namespace

TEST_CASE("model states per device are those of the ZeRO paper's table 1") {
  // Rajbhandari et al. 2020, table 1: gigabytes for 7.5, 128 and 1,000 billion parameters, stages 1, 2 and 3.
  struct Row {
    int data;
    double printed[3][3];
  };
  const Row rows[] = {{1, {{120, 120, 120}, {2048, 2048, 2048}, {16000, 16000, 16000}}},
                      {4, {{52.5, 41.3, 30}, {896, 704, 512}, {7000, 5500, 4000}}},
                      {16, {{35.6, 21.6, 7.5}, {608, 368, 128}, {4750, 2875, 1000}}},
                      {64, {{31.4, 16.6, 1.88}, {536, 284, 32}, {4187, 2218, 250}}},
                      {256, {{30.4, 15.4, 0.47}, {518, 263, 8}, {4046, 2054, 62.5}}},
                      {1024, {{30.1, 15.1, 0.12}, {513, 257, 2}, {4011, 2013, 15.6}}}};
  const double billions[] = {7.5, 128, 1000};
  for (const Row& row : rows)
    for (int m = 0; m < 3; ++m)
      for (int stage = 1; stage <= 3; ++stage) {
        const double gigabytes = model_states(billions[m], {2, 2, 12}, stage, row.data).sum();
        // Three digits; whole gigabytes are truncated, fractions rounded.
        const double digit = gigabytes >= 100 ? 1 : gigabytes >= 2 ? 0.1 : 0.01;
        const double printed =
            gigabytes >= 100 ? std::floor(gigabytes) : std::floor(gigabytes / digit + 0.5 + 1e-9) * digit;
        INFO(billions[m] << " billion parameters, " << row.data << " ranks, stage " << stage);
        CHECK(printed == Approx(row.printed[m][stage - 1]).margin(1e-6));
      }
}

TEST_CASE("bytes per parameter are 16, 18 and 20 depending on the gradients' type, and 16 in fp32") {
  const auto bytes = [](BytesPerParameter each, int data) { return model_states(1, each, 1, data).sum(); };
  CHECK(bytes({2, 2, 12}, 1) == 16);
  CHECK(bytes({2, 4, 12}, 1) == 18);
  CHECK(bytes({4, 4, 8}, 1) == 16);
  CHECK(bytes({2, 4, 12}, 8) == 6 + 12.0 / 8);
  // The fp32 copy of fp16 gradients is made when it is needed: Megatron-LM's 20 bytes are at the update's peak.
  Scenario s = selene({"gpt", 4, 1024, 16, 128, 512, true, 0.1});
  s.train.global_batch = 1;
  s.plan.recompute = "blocks";
  const StepProgram step = compile(s);
  const StageMemory memory = fold_memory(s, step.model, step.schedule, step.first_segment).front();
  CHECK(static_cast<double>(memory.peak()) == Approx(20.0 * static_cast<double>(step.model.parameter_count())));
}

TEST_CASE("activations per layer are sbh(34 + 5as/h), and less by tensor, sequence and selective recomputation") {
  // Korthikanti et al. 2022, equations 1 to 6, for the four models' sizes.
  struct Size {
    int heads, width, context, samples;
  };
  for (const Size& z :
       {Size{64, 6144, 2048, 4}, Size{96, 12288, 2048, 1}, Size{128, 20480, 2048, 1}, Size{160, 25600, 2048, 1}})
    for (const int t : {1, 8})
      for (const bool parallel : {false, true}) {
        if (t == 1 && parallel) continue;
        Scenario s = selene({"gpt", 2, z.width, z.heads, z.context, 51200, true, 0.1});
        s.plan.tensor = t;
        s.plan.sequence_parallel = parallel;
        s.train.global_batch = z.samples;
        const Model model = make_model(s);
        const double sbh = static_cast<double>(z.context) * z.samples * z.width, a = z.heads, h = z.width,
                     seq = z.context;
        const double scores = sbh * 5 * a * seq / h / t;
        const double rest = parallel ? sbh * 34 / t : sbh * (10 + 24.0 / t);
        INFO(z.width << " wide, " << t << " tensor ranks, sequence parallel " << parallel);
        CHECK(kept_by_block(model, s.cluster, false).tensors == rest + scores);
        CHECK(kept_by_block(model, s.cluster, true).tensors == rest);
        CHECK(kept_by_block(model, s.cluster, false).statistics < 0.002 * (rest + scores));
      }
}

TEST_CASE("the first stage's activations are the profile's of Korthikanti's four models") {
  // GiB of blocks alone: their table 2 times layers times (1 + (p-1)/(pv)).
  struct Row {
    int heads, width, layers, pipeline, chunks, samples;
    double tensor_only, parallel_selective, whole;
  };
  for (const Row& row :
       {Row{64, 6144, 48, 1, 1, 4, 59.25, 9.5625, 4.5}, Row{96, 12288, 96, 8, 3, 1, 66.8438, 12.3516, 5.8125},
        Row{128, 20480, 105, 35, 3, 1, 114.0234, 23.0762, 10.8594},
        Row{160, 25600, 128, 64, 1, 1, 131.25, 26.5625, 12.5}}) {
    Scenario s = selene({"gpt", row.layers, row.width, row.heads, 2048, 51200, true, 0.1});
    s.plan.tensor = 8;
    s.train.global_batch = row.samples;
    const auto gib = [&](bool parallel, const char* recompute) {
      s.plan.sequence_parallel = parallel;
      const Model model = make_model(s);
      const bool selective = std::string(recompute) == "selective";
      const double block = std::string(recompute) == "blocks"
                               ? static_cast<double>(model.stream_tokens() * model.spec.width * 2)
                               : kept_by_block(model, s.cluster, selective).tensors;
      // Chunks in flight on the first stage, from its order.
      const ChunkSchedule schedule = interleaved_schedule({row.pipeline, row.chunks, 3 * row.pipeline});
      int alive = 0, most = 0;
      for (const OpId op : schedule.order.front())
        most = std::max(most, alive += op.kind() == OpKind::forward ? 1 : -1);
      return block * most * row.layers / (row.pipeline * row.chunks) / 1073741824.0;
    };
    INFO(row.width);
    CHECK(gib(false, "none") == Approx(row.tensor_only).margin(5e-5));
    CHECK(gib(true, "selective") == Approx(row.parallel_selective).margin(5e-5));
    CHECK(gib(false, "blocks") == Approx(row.whole).margin(5e-5));
  }
}

TEST_CASE(
    "selective recomputation saves 70 and 65 % of the activations of GPT-3 and MT-NLG for 2.7 and 1.6 % of FLOPs") {
  struct Row {
    int heads, width, layers, memory_percent;
    double flops_percent;
  };
  for (const Row& row : {Row{96, 12288, 96, 70, 2.7}, Row{128, 20480, 105, 65, 1.6}}) {
    Scenario s = selene({"gpt", row.layers, row.width, row.heads, 2048, 51200, true, 0.1});
    s.train.global_batch = 1;
    const Model model = make_model(s);
    const double all = kept_by_block(model, s.cluster, false).tensors;
    const double kept = kept_by_block(model, s.cluster, true).tensors;
    CHECK(std::round(100 * (1 - kept / all)) == row.memory_percent);
    s.plan.recompute = "selective";
    const FoldedStep step = fold_step(s);
    CHECK(std::round(3000 * (step.hardware_flops / step.model_flops - 1)) / 10 == Approx(row.flops_percent));
  }
}

TEST_CASE("bubbles: (p-1)/(vm+p-1) of the step, (p-1)/(vm) of the ideal time") {
  for (const int p : {2, 4, 8, 64})
    for (const int v : {1, 2, 3})
      for (const int m : {p, 3 * p}) {
        const double share = ideal_bubble(interleaved_schedule({p, v, m}));
        INFO("p " << p << " v " << v << " m " << m);
        CHECK(share == Approx((p - 1.0) / (v * m + p - 1.0)).epsilon(1e-9));
        CHECK(share / (1 - share) == Approx((p - 1.0) / (v * m)).epsilon(1e-9));
      }
}

TEST_CASE("bus bandwidth is the algorithm's times 2(n-1)/n of an all-reduce, (n-1)/n of its halves, 1 of a broadcast") {
  for (const int n : {2, 3, 8, 384}) {
    CHECK(bus_factor(OpKind::all_reduce, n) == 2.0 * (n - 1) / n);
    for (const OpKind half : {OpKind::all_gather, OpKind::reduce_scatter, OpKind::all_to_all})
      CHECK(bus_factor(half, n) == (n - 1.0) / n);
    CHECK(bus_factor(OpKind::broadcast, n) == 1);
    CHECK(bus_factor(OpKind::reduce, n) == 1);
  }
  // 8 ranks, 1 GiB in 8,193.0 us: 229.35 GB/s as printed by nccl-tests.
  const double printed = 1073741824 / 8193.0e-6 * bus_factor(OpKind::all_reduce, 8) * 1e-9;
  CHECK(std::round(printed * 100) / 100 == Approx(229.35));
}
