#include "engine/predict/fold/folded.hpp"

#include <cmath>
#include <ctime>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/cost/software.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/slowness.hpp"

using namespace rankscope;

namespace {

Scenario on(const std::string& cluster, ModelSpec model, PlanSpec plan, int batch) {
  Scenario s =
      parse_scenario("[cluster]\nspec = \"" + cluster + "\"\n", test::source_folder() + "/scenarios/labs/x.toml");
  s.model = std::move(model);
  s.plan = std::move(plan);
  s.plan.precision = "fp16";
  s.train.global_batch = batch;
  return s;
}

PlanSpec plan_of(int data, int tensor, int pipeline, int chunks, const std::string& schedule, int micro_batches) {
  PlanSpec plan;
  plan.data = data;
  plan.tensor = tensor;
  plan.pipeline = pipeline;
  plan.virtual_stages = chunks;
  plan.schedule = schedule;
  plan.micro_batches = micro_batches;
  return plan;
}

/// One step of all ranks' programs, as the cluster's software runs them.
double unfolded_seconds(const Scenario& scenario) {
  const StepProgram step = compile(scenario);
  auto programs = step.all_programs();
  for (RankProgram& program : programs) program = as_run_on(scenario.cluster, std::move(program));
  return static_cast<double>(simulate(programs, step.grid, modelled_costs(scenario, step.model)).end_ns) * 1e-9;
}

}  // namespace

TEST_CASE("folded equals unfolded: a pipeline's step is that of all ranks' programs") {
  struct Row {
    const char* schedule;
    int tensor, pipeline, chunks, micro_batches;
    bool parallel;
    const char* recompute;
  };
  const char* kind = GENERATE("gpt", "llama");
  for (const Row& row : {Row{"1f1b", 1, 4, 1, 8, false, "none"}, Row{"gpipe", 1, 4, 1, 8, false, "none"},
                         Row{"1f1b", 2, 4, 1, 8, false, "none"}, Row{"1f1b", 2, 2, 1, 6, true, "none"},
                         Row{"interleaved", 1, 4, 2, 8, false, "none"}, Row{"interleaved", 2, 2, 2, 8, true, "none"},
                         Row{"1f1b", 1, 4, 1, 8, false, "selective"}, Row{"1f1b", 8, 1, 1, 4, false, "none"},
                         Row{"zb-h1", 1, 4, 1, 8, false, "none"}, Row{"1f1b", 1, 4, 1, 8, false, "blocks"},
                         Row{"1f1b", 2, 2, 1, 6, true, "blocks"}, Row{"1f1b", 1, 2, 1, 6, false, "sqrt"}}) {
    Scenario s =
        on("h100", {"gpt", 8, 4096, 32, 2048, 51200, false, 0.0},
           plan_of(1, row.tensor, row.pipeline, row.chunks, row.schedule, row.micro_batches), row.micro_batches);
    s.plan.sequence_parallel = row.parallel;
    s.plan.recompute = row.recompute;
    s.model.kind = kind;
    s.model.key_value_heads = 8;
    INFO(kind << " " << row.schedule << " t" << row.tensor << " p" << row.pipeline << " v" << row.chunks << " "
              << row.recompute);
    // Programs count an update's operands, the folded step those of an AdamW; only programs load batches.
    CHECK(fold_step(s).seconds == Approx(unfolded_seconds(s)).epsilon(0.02));
  }
}

TEST_CASE("folded equals unfolded where embedding and head are chunks without a layer") {
  struct Row {
    const char *schedule, *stages;
    int tensor, pipeline, chunks;
    const char* recompute;
  };
  for (const Row& row :
       {Row{"interleaved", "0 1 1 1 1 1 1 0", 1, 4, 2, "none"}, Row{"interleaved", "0 1 1 1 1 1 1 0", 2, 4, 2, "none"},
        Row{"interleaved", "0 1 1 1 1 1 1 0", 1, 4, 2, "blocks"}, Row{"1f1b", "0 3 3 0", 1, 4, 1, "sqrt"},
        Row{"zb-h1", "2 2 2 0", 1, 4, 1, "none"}}) {
    Scenario s = on("h100", {"gpt", 6, 2048, 16, 1024, 51200, false, 0.0},
                    plan_of(1, row.tensor, row.pipeline, row.chunks, row.schedule, 8), 8);
    s.plan.stages = row.stages;
    s.plan.recompute = row.recompute;
    INFO(row.schedule << " t" << row.tensor << " " << row.stages << " " << row.recompute);
    CHECK(fold_step(s).seconds == Approx(unfolded_seconds(s)).epsilon(0.02));
  }
}

TEST_CASE("where no stage waits for the others' gradients, steps follow each other after the longest stage's span") {
  for (const char* schedule : {"1f1b", "zb-h1", "zb-h2"}) {
    Scenario s = on("h100", {"gpt", 8, 4096, 32, 2048, 51200, false, 0.0}, plan_of(1, 1, 4, 1, schedule, 8), 8);
    s.plan.precision = "bf16";  // with fp16's loss scale, all stages must know whether one has overflowed
    const StepProgram step = compile(s);
    const auto programs = step.all_programs();
    const auto end_of = [&](int steps) {
      return static_cast<double>(simulate(programs, step.grid, modelled_costs(s, step.model), steps).end_ns) * 1e-9;
    };
    const FoldedStep folded = fold_step(s);
    INFO(schedule << ": one step ends at " << end_of(1));
    CHECK(folded.longest_span == Approx(end_of(4) - end_of(3)).epsilon(0.03));
    CHECK(folded.longest_span < folded.seconds * (1 + 1e-12));
    // 1F1B's first stage begins first and ends last; zero-bubble stages end one after another, in the order of their
    // begins.
    CHECK((folded.longest_span < 0.95 * folded.seconds) == (schedule != std::string("1f1b")));
  }
}

TEST_CASE("with parameters gathered during the next forward, a folded step is as long as one of consecutive programs") {
  for (const double bandwidth : {450e9, 100e9}) {
    Scenario s = on("h100", {"gpt", 8, 4096, 32, 2048, 51200, false, 0.0}, plan_of(8, 1, 1, 1, "1f1b", 2), 16);
    s.plan.zero = 1;
    s.plan.precision = "bf16";
    s.cluster.intra_bandwidth = bandwidth;
    const StepProgram step = compile(s);
    const auto programs = step.all_programs();
    const auto end_of = [&](int steps) {
      return static_cast<double>(simulate(programs, step.grid, modelled_costs(s, step.model), steps).end_ns) * 1e-9;
    };
    const double behind = fold_step(s).seconds, programs_take = end_of(4) - end_of(3);
    s.cluster.software.gather_ahead = true;
    const double ahead = fold_step(s).seconds;
    INFO(bandwidth << ": behind the update " << behind << ", ahead " << ahead << ", programs " << programs_take);
    CHECK(ahead == Approx(programs_take).epsilon(0.05));
    CHECK(ahead < behind);
  }
}

TEST_CASE("folded equals unfolded also where the cluster's software does not overlap, fuse or send whole activations") {
  struct Row {
    const char* schedule;
    int data, tensor, pipeline, chunks, micro_batches;
    bool parallel;
    const char* recompute;
    int zero;
  };
  for (const Row& row :
       {Row{"1f1b", 1, 2, 4, 1, 8, false, "none", 0}, Row{"1f1b", 1, 8, 2, 1, 6, false, "blocks", 0},
        Row{"interleaved", 1, 2, 2, 2, 8, true, "selective", 0}, Row{"1f1b", 2, 2, 2, 1, 4, false, "none", 0},
        Row{"gpipe", 2, 1, 4, 1, 4, false, "none", 0}, Row{"1f1b", 4, 2, 1, 1, 2, false, "none", 1}}) {
    const std::string cluster = GENERATE("selene", "jean-zay");
    Scenario s = on(cluster, {"gpt", 8, 4096, 32, 2048, 51200, true, 0.1},
                    plan_of(row.data, row.tensor, row.pipeline, row.chunks, row.schedule, row.micro_batches),
                    row.micro_batches * row.data);
    s.plan.sequence_parallel = row.parallel;
    s.plan.recompute = row.recompute;
    s.plan.zero = row.zero;
    INFO(cluster << " " << row.schedule << " d" << row.data << " t" << row.tensor << " p" << row.pipeline << " "
                 << row.recompute << " zero " << row.zero);
    // With six micro-batches, the first and the last messages are a large part.
    CHECK(fold_step(s).seconds == Approx(unfolded_seconds(s)).epsilon(0.05));
  }
}

TEST_CASE("folded equals unfolded with ZeRO-2 and 3, whether compute covers their exchanges or not") {
  struct Row {
    int data, pipeline, micro_batches, zero;
    const char* recompute;
    double bandwidth;  ///< of NVLink, GB/s
  };
  for (const Row& row : {Row{4, 1, 2, 2, "none", 450}, Row{4, 1, 2, 3, "none", 450}, Row{4, 1, 2, 3, "blocks", 450},
                         Row{4, 2, 4, 2, "none", 450}, Row{4, 1, 2, 3, "none", 40}, Row{8, 1, 1, 2, "none", 60}}) {
    Scenario s = on("h100", {"gpt", 8, 4096, 32, 2048, 51200, false, 0.0},
                    plan_of(row.data, 1, row.pipeline, 1, "1f1b", row.micro_batches), row.data * row.micro_batches);
    s.plan.zero = row.zero;
    s.plan.recompute = row.recompute;
    s.cluster.intra_bandwidth = row.bandwidth * 1e9;
    INFO("zero " << row.zero << " p" << row.pipeline << " " << row.recompute << " " << row.bandwidth);
    const double folded = fold_step(s).seconds, unfolded = unfolded_seconds(s);
    if (row.bandwidth > 100) {
      CHECK(folded == Approx(unfolded).epsilon(0.07));  // the folded step also prefetches across ops
    } else {
      // In programs, gathers and reductions have separate lanes and do not slow each other down; the folded step's
      // share the links. So they run one after another, and in the worst case compute hides none of them.
      const double exchanges = fold_step(s).zero;
      Scenario quick = s;
      quick.cluster.intra_bandwidth = 1e18;
      const double compute = fold_step(quick).seconds;
      INFO(folded << " s, compute " << compute << ", exchanges " << exchanges);
      CHECK(folded > 0.95 * unfolded);
      CHECK(folded >= std::max(compute, exchanges));
      CHECK(folded <= compute + exchanges);
    }
  }
}

TEST_CASE("ZeRO's stages move 2, 2 and 3 times the parameters in a step of one micro-batch, and 3 gathers in each") {
  Scenario s = on("selene", {"gpt", 8, 4096, 32, 2048, 51200, false, 0.1}, plan_of(8, 1, 1, 1, "1f1b", 1), 8);
  const auto exchanged = [&](int zero, int micro_batches) {
    s.plan.zero = zero;
    s.plan.micro_batches = micro_batches;
    s.train.global_batch = 8 * micro_batches;
    s.cluster.collective_latency_s = s.cluster.intra_latency_s = s.cluster.quick_intra_latency_s = 0;
    const FoldedStep step = fold_step(s);
    return step.zero;
  };
  const double once = exchanged(1, 1) / 2;
  CHECK(exchanged(2, 1) == Approx(2 * once).epsilon(0.01));
  CHECK(exchanged(3, 1) == Approx(3 * once).epsilon(0.01));
  CHECK(exchanged(1, 4) == Approx(2 * once).epsilon(0.01));
  CHECK(exchanged(2, 4) == Approx(5 * once).epsilon(0.01));
  CHECK(exchanged(3, 4) == Approx(12 * once).epsilon(0.01));
}

TEST_CASE("each switch of a cluster's software costs the same in programs and folded") {
  Scenario s = on("selene", {"gpt", 8, 4096, 32, 2048, 51200, true, 0.1}, plan_of(2, 2, 2, 1, "1f1b", 4), 8);
  s.plan.recompute = "blocks";
  s.cluster.software.overlap = s.cluster.software.fused = true;
  s.cluster.software.recompute_whole = false;
  const double fastest = unfolded_seconds(s), fastest_folded = fold_step(s).seconds;
  struct Row {
    const char* what;
    void (*change)(SoftwareSpec&);
    double apart;  ///< limit for the two predictions' difference, as a share of a step; "overlap" needs the largest
  };
  for (const Row& row : {Row{"overlap", [](SoftwareSpec& c) { c.overlap = false; }, 0.012},
                         Row{"fused", [](SoftwareSpec& c) { c.fused = false; }, 0.004},
                         Row{"recompute_whole", [](SoftwareSpec& c) { c.recompute_whole = true; }, 0.003},
                         Row{"reduced_bytes", [](SoftwareSpec& c) { c.reduced_bytes = 4; }, 0.006},
                         Row{"split_transfers", [](SoftwareSpec& c) { c.split_transfers = false; }, 1e-6}}) {
    Scenario changed = s;
    row.change(changed.cluster.software);
    const double programs = unfolded_seconds(changed) - fastest, folded = fold_step(changed).seconds - fastest_folded;
    INFO(row.what << ": " << 100 * programs / fastest << " % of a step, folded " << 100 * folded / fastest << " %");
    CHECK(programs / fastest == Approx(folded / fastest).margin(row.apart));
    CHECK(std::abs(programs / fastest) > 3e-4);
  }
  s.cluster.software.reduced_bytes = 3;
  CHECK_THROWS_WITH(unfolded_seconds(s), ContainsText("2, 4 or 8"));
}

TEST_CASE("gathered inputs of recomputed blocks, and fp32 scores, cost the same in programs and folded") {
  Scenario s = on("selene", {"gpt", 8, 4096, 32, 2048, 51200, true, 0.1}, plan_of(1, 4, 1, 1, "1f1b", 2), 2);
  s.plan.recompute = "blocks";
  s.cluster.software.separate_kernels = true;
  const auto more = [&](auto change) {
    Scenario changed = s;
    change(changed.cluster);
    const double folded = fold_step(changed).seconds - fold_step(s).seconds;
    CHECK(unfolded_seconds(changed) - unfolded_seconds(s) == Approx(folded).epsilon(0.01));
    return folded;
  };
  CHECK(more([](ClusterSpec& c) { c.software.split_checkpoints = true; }) > 0);
  CHECK(more([](ClusterSpec& c) { c.software.wide_scores = true; }) > 0);
}

TEST_CASE("joined gradients of q, k and v, flat gradients, the loss once more and an update in passes are bytes") {
  const double layers = 4, width = 2048, context = 1024, words = 51200, micro_batches = 2;
  Scenario s = on("selene", {"gpt", 4, 2048, 16, 1024, 51200, false, 0.0}, plan_of(1, 1, 1, 1, "1f1b", 2), 2);
  s.cluster.software.attention = "flash";
  s.cluster.software.fused = true;
  s.cluster.software.accumulation = "added";
  s.cluster.software.reduced_bytes = 4;
  s.cluster.op_overhead_s = 0;
  /// The bytes that the changes add to a step: of the folded step, and compared with programs.
  const auto more_bytes = [&](auto change, auto from) {
    Scenario changed = s, before = s;
    change(changed.cluster);
    from(before.cluster);
    const double pace = s.cluster.memory_bandwidth * s.cluster.memory_efficiency;
    const double folded = (fold_step(changed).seconds - fold_step(before).seconds) * pace;
    CHECK((unfolded_seconds(changed) - unfolded_seconds(before)) * pace == Approx(folded).epsilon(0.001));
    return folded;
  };
  const auto nothing = [](ClusterSpec&) {};
  CHECK(more_bytes([](ClusterSpec& c) { c.software.split_qkv = true; }, nothing) ==
        Approx(micro_batches * layers * 6 * context * width * 2).epsilon(1e-6));
  CHECK(more_bytes([](ClusterSpec& c) { c.software.loss_metrics = 2; }, nothing) ==
        Approx(micro_batches * 2 * (2 + 4 + 4 + 4) * context * words).epsilon(1e-6));
  // Flat: two bytes read and two written. Added: two bytes of the gradient read, and four of the sum read and written.
  CHECK(more_bytes([](ClusterSpec& c) { c.software.accumulation = "flat"; }, nothing) ==
        Approx(micro_batches * (4.0 - 10.0) * (layers * 12 * width * width + words * width)).epsilon(1e-6));
  CHECK(more_bytes([](ClusterSpec& c) { c.software.update_bytes = 92; },
                   [](ClusterSpec& c) { c.software.update_bytes = 80; }) ==
        Approx(12 * static_cast<double>(make_model(s).parameter_count())).epsilon(1e-6));
}

TEST_CASE("bytes in which software of 16 bits reduces and sends gradients change nothing in fp32") {
  Scenario s = on("selene", {"gpt", 8, 4096, 32, 2048, 51200, true, 0.1}, plan_of(2, 2, 2, 1, "1f1b", 4), 8);
  s.plan.precision = "fp32";
  s.cluster.software.reduced_bytes = s.cluster.software.sent_bytes = 0;
  const double folded = fold_step(s).seconds, unfolded = unfolded_seconds(s);
  s.cluster.software.reduced_bytes = s.cluster.software.sent_bytes = 2;
  CHECK(fold_step(s).seconds == folded);
  CHECK(unfolded_seconds(s) == unfolded);
}

TEST_CASE("parts of a folded step add up to it, and nothing is negative") {
  Scenario s = on("selene", {"gpt", 16, 4096, 32, 2048, 51200, true, 0.1}, plan_of(4, 4, 4, 2, "interleaved", 16), 64);
  s.plan.recompute = "blocks";
  const FoldedStep step = fold_step(s);
  for (const double part :
       {step.compute, step.recompute, step.tensor, step.pipeline, step.data, step.optimizer, step.bubble})
    CHECK(part > 0);
  CHECK(step.zero == 0);
  CHECK(step.compute + step.recompute + step.tensor + step.pipeline + step.data + step.optimizer + step.bubble ==
        Approx(step.seconds));
}

TEST_CASE("recomputing all blocks makes the FLOPs done those of the published form with 96 for 72") {
  const double B = 64, s = 2048, l = 16, h = 4096, V = 51200;
  Scenario scenario = on("selene", {"gpt", 16, 4096, 32, 2048, 51200, true, 0.1}, plan_of(4, 4, 4, 1, "1f1b", 16), 64);
  scenario.plan.recompute = "blocks";
  const FoldedStep step = fold_step(scenario);
  CHECK(step.model_flops == Approx(72 * B * s * l * h * h * (1 + s / (6 * h) + V / (12 * l * h))));
  CHECK(step.hardware_flops == Approx(96 * B * s * l * h * h * (1 + s / (6 * h) + V / (16 * l * h))));
}

TEST_CASE("without overlap more micro-batches cost as much each, and the bubble is that of p - 1 of them") {
  // Equal stages: an untied model with a negligible head.
  const auto seconds = [](int m) {
    const FoldedStep step =
        fold_step(on("selene", {"gpt", 8, 8192, 64, 2048, 8, false, 0.0}, plan_of(1, 8, 4, 1, "1f1b", m), m));
    return step.seconds - step.optimizer;
  };
  const double each = (seconds(40) - seconds(20)) / 20;
  CHECK(seconds(20) - 20 * each == Approx(3 * each).epsilon(0.02));
}

TEST_CASE("the 1 T model, 64 stages of 1,600 micro-batches on 3,072 ranks, takes less than a second of a processor") {
  Scenario s =
      on("frontier", {"gpt", 128, 25600, 128, 2048, 51200, true, 0.0}, plan_of(6, 8, 64, 1, "1f1b", 1600), 9600);
  s.plan.zero = 1;
  s.plan.recompute = "blocks";
  // CPU time, not wall time, because other tests run at the same time.
  const std::clock_t begin = std::clock();
  const FoldedStep step = fold_step(s);
  const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  CHECK(step.ops == 64 * 1600 * 2);
  CHECK(took < 1.0 * test::slowness);
  CHECK(step.bubble / step.seconds > 63.0 / 1663);  // the last stage also has the head
}

TEST_CASE("plans of different ranks are not folded, with the reason") {
  Scenario s = on("selene", {"gpt", 8, 1024, 8, 1024, 512, true, 0.0}, plan_of(2, 1, 2, 1, "1f1b", 4), 8);
  CHECK(std::string(why_not_folded(s)).empty());
  s.plan.data_parallel = "main-device";
  CHECK_THROWS_WITH(fold_step(s), ContainsText("data group are not identical"));
}

TEST_CASE("folded equals unfolded with a straggler") {
  for (const int tensor : {1, 2}) {
    Scenario s = on("h100", {"gpt", 8, 4096, 32, 2048, 51200, false, 0.0}, plan_of(2, tensor, 2, 1, "1f1b", 6), 12);
    const double without = fold_step(s).seconds;
    s.fault.slow_rank = s.plan.grid().rank_of({0, 1, 1});
    s.fault.slow_factor = 1.5;
    const FoldedStep step = fold_step(s);
    INFO(tensor);
    CHECK(step.seconds > 1.2 * without);
    CHECK(step.seconds == Approx(unfolded_seconds(s)).epsilon(0.04));
    CHECK(step.compute + step.recompute + step.tensor + step.pipeline + step.data + step.zero + step.optimizer +
              step.bubble ==
          Approx(step.seconds));
  }
}

TEST_CASE("a node with slow ports slows the rings through it and the messages, and nothing else") {
  Scenario s = on("selene", {"gpt", 16, 4096, 32, 2048, 51200, true, 0.1}, plan_of(4, 4, 4, 1, "1f1b", 16), 64);
  const FoldedStep before = fold_step(s);
  s.cluster.slow_node = 3;
  s.cluster.slow_node_factor = 4;
  const FoldedStep after = fold_step(s);
  CHECK(after.tensor == Approx(before.tensor));
  CHECK(after.compute == Approx(before.compute));
  // By less than the ports: latencies and the other nodes' ports are unchanged.
  CHECK(after.pipeline > before.pipeline);
  CHECK(after.pipeline < 4 * before.pipeline);
  CHECK(after.data > before.data);
  CHECK(after.data < 4 * before.data);
  CHECK(after.seconds > before.seconds);
}

TEST_CASE("a folded rank's time line is its schedule's ops in order, ends with the step, and is any rank's") {
  for (const char* cluster : {"h100", "selene"}) {
    Scenario s = on(cluster, {"gpt", 8, 4096, 32, 2048, 51200, true, 0.0}, plan_of(2, 2, 4, 1, "1f1b", 8), 16);
    s.plan.zero = 1;
    const FoldedStep step = fold_step(s);
    const RankGrid grid = s.plan.grid();
    const auto line = fold_timeline(s, grid.rank_of({1, 1, 2}));
    double at = 0, last = 0;
    int model_ops = 0, sends = 0;
    for (const FoldedSpan& span : line) {
      CHECK(span.end >= span.begin);
      last = std::max(last, span.end);
      sends += span.op.kind() == OpKind::send;
      if (!is_model_compute(span.op.kind())) continue;
      CHECK(span.begin >= at - 1e-12);
      at = span.end;
      CHECK(span.op.fields().chunk == 2);
      ++model_ops;
    }
    CHECK(model_ops == 16);
    CHECK(sends == 16);
    // Stages with the embedding or the head have more to update and to gather.
    CHECK(last <= step.seconds * (1 + 1e-9));
    CHECK(last > 0.97 * step.seconds);
    CHECK(fold_timeline(s, grid.rank_of({0, 0, 2})).size() == line.size());
    CHECK_THROWS_WITH(fold_timeline(s, 16), ContainsText("0 to 15"));
    s.fault.slow_rank = grid.rank_of({0, 1, 2});
    s.fault.slow_factor = 2;
    CHECK(fold_timeline(s, grid.rank_of({1, 1, 2})).back().end > line.back().end);
  }
}

TEST_CASE("gradients that are cast for sending have half the bytes, take a little time, and need the same memory") {
  Scenario wide = on("selene", {"gpt", 16, 4096, 32, 2048, 51200, true, 0.1}, plan_of(8, 8, 2, 1, "1f1b", 8), 64);
  wide.cluster.software.reduced_bytes = 4;
  Scenario cast = wide;
  cast.cluster.software.sent_bytes = 2;
  const auto bytes = [](const Scenario& s) {
    double sum = 0;
    for (const FoldedTraffic& moved : fold_traffic(s))
      if (moved.purpose == Purpose::data_gradient) sum += moved.bytes_per_rank;
    return sum;
  };
  CHECK(bytes(wide) > 0);
  CHECK(bytes(cast) == Approx(bytes(wide) / 2));
  const FoldedStep before = fold_step(wide), now = fold_step(cast);
  CHECK(now.data < 0.7 * before.data);
  CHECK(now.data > 0.5 * before.data);  // the casts take some time
  CHECK(now.memory.front().peak() == before.memory.front().peak());
}
