#include "app/models/fold.hpp"

#include "app/models/idle.hpp"
#include "app/models/span_details.hpp"
#include "tests/app/models/known_run.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

// Micro-batch 0's forward of two blocks: 10 µs per segment, then micro-batch 1's immediately after it.
std::shared_ptr<const StoreView> two_forwards() {
  KnownRun run;
  double at = 0;
  for (const int micro : {0, 1})
    for (const int block : {0, 1})
      for (const char* segment : {"qkv", "attention", "projection", "up", "down"}) {
        run.span(0, 0, "F:c0:m" + std::to_string(micro) + ":b" + std::to_string(block) + "." + segment, at, at + 10);
        at += 10;
      }
  return run.view();
}

FoldScale at_zoom(const StoreView& view, double ns_per_pixel) {
  return {ns_per_pixel, part_lengths(view, Obtained::emulated)};
}

std::string drawn(const StoreView& view, double ns_per_pixel) {
  const auto spans = view.spans({0, Lane::compute, Obtained::emulated}, {0, 1'000'000}, 0, 1000);
  std::string text;
  for (const Box& box : fold(spans, at_zoom(view, ns_per_pixel))) text += (text.empty() ? "" : " ") + to_token(box.op);
  return text;
}

BubbleStretch idle(int rank, std::int64_t begin_ns, std::int64_t end_ns, BubbleCause cause,
                   TimeClass time = TimeClass::bubble) {
  BubbleStretch stretch;
  stretch.rank = rank;
  stretch.begin_ns = begin_ns;
  stretch.end_ns = end_ns;
  stretch.cause = cause;
  stretch.time = time;
  return stretch;
}

const LaneKey compute_lane{0, Lane::compute, Obtained::emulated};

}  // namespace

TEST_CASE("segments of one chunk and micro-batch are one box while they are narrow") {
  const auto view = two_forwards();
  CHECK(drawn(*view, 2000) == "F:c0:m0 F:c0:m1");  // 100 µs are 50 px
}

TEST_CASE("a box opens into blocks and then into segments as one zooms in") {
  const auto view = two_forwards();
  CHECK(drawn(*view, 1000) == "F:c0:m0:b0 F:c0:m0:b1 F:c0:m1:b0 F:c0:m1:b1");      // a block is 50 px
  CHECK(drawn(*view, 200).substr(0, 34) == "F:c0:m0:b0.qkv F:c0:m0:b0.attentio");  // a segment is 50 px
  CHECK(fold(view->spans(compute_lane, {0, 1'000'000}, 0, 1000), at_zoom(*view, 200)).size() == 20);
}

TEST_CASE("boxes of nearly the same width open together, on every rank, whatever their parts are") {
  KnownRun run;
  double at = 0;
  for (int micro = 0; micro < 8; ++micro) {
    const double part = micro % 2 ? 44.5 : 43.9;  // some a little wider than a label needs, some a little narrower
    for (const int block : {0, 1}) {
      const std::string token = "F:c0:m" + std::to_string(micro) + ":b" + std::to_string(block);
      run.span(0, 0, token + ".qkv", at, at + part / 2).span(0, 0, token + ".down", at + part / 2, at + part);
      run.span(1, 0, "F:c1:m" + std::to_string(micro) + ":b" + std::to_string(block + 2), at, at + part);
      at += part;
    }
    run.span(1, 0, "F:c1:m" + std::to_string(micro) + ":.head", at, at + 10);
    at += 10;
  }
  const auto view = run.view();
  for (const double ns_per_pixel : {900.0, 1100.0}) {
    std::vector<std::size_t> boxes;  // of each rank
    for (const int rank : {0, 1}) {
      const LaneKey key{rank, Lane::compute, Obtained::emulated};
      boxes.push_back(fold(view->spans(key, {0, 1'000'000}, 0, 1000), at_zoom(*view, ns_per_pixel)).size());
    }
    CHECK(boxes == (ns_per_pixel < 1000 ? std::vector<std::size_t>{16, 24} : std::vector<std::size_t>{8, 8}));
  }
}

TEST_CASE("a visible gap is never folded away, an invisible one is") {
  KnownRun run;
  run.span(0, 0, "F:c0:m0:b0.qkv", 0, 10).span(0, 0, "F:c0:m0:b0.attention", 15, 25);
  const auto view = run.view();
  const auto spans = view->spans(compute_lane, {0, 100'000}, 0, 10);
  CHECK(fold(spans, at_zoom(*view, 1000)).size() == 2);  // 5 µs are 5 px
  const auto folded_boxes = fold(spans, at_zoom(*view, 10'000));
  REQUIRE(folded_boxes.size() == 1);  // half a pixel
  CHECK(folded_boxes[0].count == 2);
  CHECK(folded_boxes[0].begin_ns == 0);
  CHECK(folded_boxes[0].end_ns == 25'000);
}

TEST_CASE("the same op of the next step is another box") {
  KnownRun run;
  run.span(0, 0, "F:c0:m0:.head", 0, 10).span(0, 1, "F:c0:m0:.head", 10, 20);
  const auto view = run.view();
  CHECK(fold(view->spans(compute_lane, {0, 100'000}, 0, 10), at_zoom(*view, 10'000)).size() == 2);
}

TEST_CASE("the box around a span is the box drawn there, and the keys step from box to box") {
  const auto view = two_forwards();
  const auto span = view->span_at(compute_lane, 35'000);
  REQUIRE(span);
  const Box chunk = drawn_box(*view, compute_lane, *span, at_zoom(*view, 2000));
  CHECK(to_token(chunk.op) == "F:c0:m0");
  CHECK(chunk.begin_ns == 0);
  CHECK(chunk.end_ns == 100'000);
  CHECK(chunk.count == 10);
  const auto next = box_after(*view, compute_lane, chunk, at_zoom(*view, 2000));
  REQUIRE(next);
  CHECK(to_token(next->op) == "F:c0:m1");
  CHECK_FALSE(box_after(*view, compute_lane, *next, at_zoom(*view, 2000)));
  CHECK(box_before(*view, compute_lane, *next, at_zoom(*view, 2000)) == chunk);

  const Box segment = drawn_box(*view, compute_lane, *span, at_zoom(*view, 200));
  CHECK(to_token(segment.op) == "F:c0:m0:b0.up");
  CHECK(to_token(box_after(*view, compute_lane, segment, at_zoom(*view, 200))->op) == "F:c0:m0:b0.down");
}

TEST_CASE("a label yields from micro-batch and segment to the shorter one") {
  Box box;
  box.op = op("F:c0:m3");
  CHECK(labels_of(box) == std::vector<std::string>{"3"});
  box.op = op("B:c2:m3:b5.qkv");
  CHECK(labels_of(box).front() == "3 · b5 qkv");
  CHECK(labels_of(box).back() == "3");
  box.op = op("ALLREDUCE.data_gradient:c2:i1");
  CHECK(labels_of(box).front() == "all-reduce 1");
}

TEST_CASE("a wait of many parts is one idle interval with its main cause and a list of its parts") {
  StepAnalysis step;
  std::int64_t at = 0;
  for (int i = 0; i < 10; ++i) {
    step.stretches.push_back(idle(0, at, at + 900, BubbleCause::first_gradient));
    step.stretches.push_back(idle(0, at + 900, at + 1000, BubbleCause::imbalance));
    at += 1000;
  }
  step.stretches.push_back(idle(1, 0, 500, BubbleCause::warm_up));
  const auto stretches = idle_stretches(step, 0, 100);
  REQUIRE(stretches.size() == 1);
  CHECK(stretches[0].length_ns() == 10'000);
  CHECK(stretches[0].main().cause == BubbleCause::first_gradient);
  REQUIRE(stretches[0].parts.size() == 2);
  CHECK(stretches[0].parts[0].length_ns == 9'000);
  CHECK(stretches[0].parts[1].length_ns == 1'000);
}

TEST_CASE("waiting and the rank's own exposed communication keep separate names, however many parts they have") {
  StepAnalysis step;
  step.stretches.push_back(idle(0, 0, 4'000, BubbleCause::peers));
  step.stretches.push_back(idle(0, 4'000, 8'000, BubbleCause::straggler));
  // A push and a pull with the server's update between them, neither as wide as a name.
  step.stretches.push_back(idle(0, 8'000, 12'000, BubbleCause::exposed_communication, TimeClass::data));
  step.stretches.push_back(idle(0, 12'000, 12'500, BubbleCause::peers));
  step.stretches.push_back(idle(0, 12'500, 16'500, BubbleCause::exposed_communication, TimeClass::data));
  const auto stretches = idle_stretches(step, 0, 100);
  REQUIRE(stretches.size() == 2);
  CHECK(stretches[0].end_ns == 8'000);
  CHECK(stretches[1].main().time == TimeClass::data);
}

TEST_CASE("exposed communication is a rank's own; waiting names the rank whose transfer or compute is awaited") {
  BubbleStretch stretch = idle(0, 0, 100, BubbleCause::exposed_communication, TimeClass::data);
  stretch.purpose = Purpose::server;
  stretch.waits_for_rank = 4;
  CHECK(cause_labels(stretch).front() == "exposed server traffic");
  stretch.time = TimeClass::bubble;
  CHECK(cause_labels(stretch).front() == "waiting for rank 4's transfer");
  stretch.cause = BubbleCause::peers;
  CHECK(cause_labels(stretch).front() == "waiting for rank 4");
}

TEST_CASE("the line above a step with servers states which ranks' time its bubble is a share of") {
  StepInsight insight;
  insight.run.bubble = 0.497;
  insight.run.workers = 4;
  insight.run.ranks.resize(5);
  CHECK(step_summary(29, 5, {}, &insight) == "step 29 · 4 workers, 1 server · bubble 49.7 % of the workers' step");
  insight.run.ranks.resize(4);
  CHECK(step_summary(29, 4, {}, &insight) == "step 29 · 4 ranks · bubble 49.7 % of the step");
}

TEST_CASE("two causes that are both wide enough for a name are separate intervals, and a gap separates any two") {
  StepAnalysis step;
  step.stretches.push_back(idle(0, 0, 10'000, BubbleCause::cool_down));
  step.stretches.push_back(idle(0, 10'000, 20'000, BubbleCause::exposed_communication, TimeClass::data));
  step.stretches.push_back(idle(0, 30'000, 40'000, BubbleCause::exposed_communication, TimeClass::data));
  CHECK(idle_stretches(step, 0, 100).size() == 3);   // 100 px each
  CHECK(idle_stretches(step, 0, 1000).size() == 2);  // 10 px each: the first two join
}
